"""Waterfalls through the API and the workers: asked for, made by running again, cancelled, given back, refused with a sentence."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone
from launcher.services import Service

import engine
from engine.spec.experiment.selection import Selection
from tests.support.patience import PATIENCE_S
from webapp.lab.models import Experiment, Run, RunState, Waterfalls
from webapp.lab.models.waterfalls import hash_of
from webapp.lib.redis_connection import connection
from webapp.messaging.queue import QUEUE
from workers import caretaker, execution
from workers import waterfalls as worker

from .conftest import long_document, new_experiment, new_run, small_document, wait_for
from .executing import executed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]

SLOWEST = {"slowest": 3}


@pytest.fixture
def run(experiment: Experiment) -> Run:
    """A run that succeeded."""
    run = executed(new_run(experiment))
    assert run.state == RunState.SUCCEEDED
    return run


def asked(run: Run, **selection: Any) -> Waterfalls:
    """A queued question, without anything in the queue."""
    chosen = Selection.model_validate(selection).model_dump(mode="json")
    return Waterfalls.objects.create(run=run, selection=chosen, selection_hash=hash_of(chosen))


def made(waterfalls: Waterfalls) -> Waterfalls:
    worker.make(str(waterfalls.pk))
    waterfalls.refresh_from_db()
    return waterfalls


def post(client: Client, path: str, body: dict[str, Any], status: int) -> dict[str, Any]:
    answer = client.post(path, body, content_type="application/json")
    assert answer.status_code == status, answer.content
    result: dict[str, Any] = answer.json()
    return result


def test_totals_are_those_of_the_summary(client: Client, run: Run) -> None:
    totals = client.get(f"/api/runs/{run.pk}/attribution").json()["operators"]
    twin = engine.run(small_document()).summary["operators"]
    assert totals == {id: operator["attribution"] for id, operator in twin.items()}
    assert totals["sink"]["service_ns"] > 0


def test_totals_of_a_run_without_summary_are_a_conflict(client: Client, experiment: Experiment) -> None:
    answer = client.get(f"/api/runs/{new_run(experiment).pk}/attribution")
    assert answer.status_code == 409
    assert "its frames contain the sums" in answer.json()["detail"]


def test_what_is_asked_for_is_made_by_a_worker(client: Client, run: Run) -> None:
    path = f"/api/runs/{run.pk}/waterfalls"
    question = post(client, path, SLOWEST, 201)
    assert (question["state"], question["progress"], question["records"], question["note"]) == ("queued", 0.0, None, None)
    assert connection().llen(QUEUE) == 1
    assert client.get(f"{path}/{question['id']}").json()["waterfalls"] is None
    worker.make(question["id"])
    answer = client.get(f"{path}/{question['id']}").json()
    assert (answer["state"], answer["progress"], answer["records"], answer["error"]) == ("succeeded", 1.0, 3, None)
    assert answer["waterfalls"] == [waterfall.as_dict() for waterfall in engine.run(small_document()).waterfalls(slowest=3)]
    assert [item["id"] for item in client.get(path).json()] == [question["id"]]


def test_the_same_question_has_one_answer_until_it_is_deleted(client: Client, run: Run) -> None:
    path = f"/api/runs/{run.pk}/waterfalls"
    first = post(client, path, SLOWEST, 201)
    assert post(client, path, {**SLOWEST, "sample": None}, 200)["id"] == first["id"]
    assert post(client, path, {"slowest": 4}, 201)["id"] != first["id"]
    assert client.delete(f"{path}/{first['id']}").status_code == 204
    assert client.get(f"{path}/{first['id']}").status_code == 404
    assert post(client, path, SLOWEST, 201)["id"] != first["id"]


def test_a_failed_question_can_be_asked_again(client: Client, run: Run) -> None:
    record = {"sink": "sink", "trigger": 1, "end_ns": 1}
    waterfalls = made(asked(run, records=[record]))
    assert (waterfalls.state, waterfalls.records) == (RunState.FAILED, None)
    assert "no record with trigger 1 was delivered" in waterfalls.error
    again = post(client, f"/api/runs/{run.pk}/waterfalls", {"records": [record]}, 201)
    assert again["id"] != str(waterfalls.pk)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, "nothing is selected"),
        ({"slowest": 1001}, "1000"),
        ({"slow": 3}, "slow"),
        ({"sample": {"rate": 0}}, "greater than 0"),
        ({"slowest": 3, "between": {"after_ns": 5, "to_ns": 5}}, "give a time above 5"),
        ({"records": [{"sink": "sink", "trigger": -1, "end_ns": 0}]}, "trigger"),
    ],
)
def test_a_wrong_question_is_refused_with_a_sentence(client: Client, run: Run, body: dict[str, Any], names: str) -> None:
    answer = post(client, f"/api/runs/{run.pk}/waterfalls", body, 422)
    assert names in json.dumps(answer)
    assert "Value error" not in json.dumps(answer)


def test_only_a_run_that_succeeded_can_be_asked(client: Client, experiment: Experiment) -> None:
    answer = post(client, f"/api/runs/{new_run(experiment).pk}/waterfalls", SLOWEST, 409)
    assert "queued" in answer["detail"]


def test_a_queued_question_is_cancelled_at_once(client: Client, run: Run) -> None:
    question = post(client, f"/api/runs/{run.pk}/waterfalls", SLOWEST, 201)
    assert post(client, f"/api/runs/{run.pk}/waterfalls/{question['id']}/cancel", {}, 202)["state"] == "cancelled"
    worker.make(question["id"])
    assert Waterfalls.objects.get(pk=question["id"]).state == RunState.CANCELLED


def test_questions_go_with_their_run(client: Client, run: Run) -> None:
    question = post(client, f"/api/runs/{run.pk}/waterfalls", SLOWEST, 201)
    assert client.delete(f"/api/runs/{run.pk}").status_code == 204
    assert client.get(f"/api/runs/{run.pk}/waterfalls/{question['id']}").status_code == 404
    assert Waterfalls.objects.get(pk=question["id"]).state == RunState.CANCELLED


def test_a_run_that_is_not_the_same_any_more_is_refused(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(digest="0" * 64)
    waterfalls = made(asked(run, slowest=1))
    assert waterfalls.state == RunState.FAILED
    assert "another digest" in waterfalls.error
    assert not waterfalls.file.exists()


def test_an_answer_that_is_gone_is_said_to_be_gone(client: Client, run: Run) -> None:
    waterfalls = made(asked(run, slowest=1))
    waterfalls.file.unlink()
    answer = client.get(f"/api/runs/{run.pk}/waterfalls/{waterfalls.pk}")
    assert (answer.status_code, "ask again" in answer.json()["detail"]) == (404, True)


class Background:
    """Makes waterfalls of a long run in a thread. The run itself is taken as made: only its digest would be asked for."""

    def __init__(self, experiment: Experiment) -> None:
        run = new_run(new_experiment(experiment.lab, long_document()))
        Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED, digest="0" * 64)
        self.waterfalls = asked(run, slowest=2)
        self.thread = threading.Thread(target=self._make)
        self.thread.start()
        wait_for(lambda: Waterfalls.objects.get(pk=self.waterfalls.pk).progress > 0, "some progress")

    def _make(self) -> None:
        try:
            worker.make(str(self.waterfalls.pk))
        finally:
            connections.close_all()

    def join(self) -> Waterfalls:
        self.thread.join(timeout=PATIENCE_S)
        self.waterfalls.refresh_from_db()
        return self.waterfalls


def test_a_question_is_cancelled_while_it_is_worked_on(client: Client, experiment: Experiment) -> None:
    background = Background(experiment)
    waterfalls = background.waterfalls
    post(client, f"/api/runs/{waterfalls.run_id}/waterfalls/{waterfalls.pk}/cancel", {}, 202)
    waterfalls = background.join()
    assert waterfalls.state == RunState.CANCELLED
    assert 0 < waterfalls.progress < 1


def test_a_worker_that_shuts_down_gives_the_question_back(experiment: Experiment) -> None:
    background = Background(experiment)
    execution.SHUTTING_DOWN.set()
    waterfalls = background.join()
    assert (waterfalls.state, waterfalls.losses, waterfalls.enqueued_at) == (RunState.QUEUED, 0, None)
    caretaker.sweep()
    assert connection().llen(QUEUE) == 1


def test_a_question_whose_worker_died_is_queued_again_and_given_up_in_the_end(run: Run) -> None:
    waterfalls = asked(run, slowest=1)
    for losses in (1, 2):
        assert Waterfalls.objects.claim(waterfalls.pk, "w")
        Waterfalls.objects.filter(pk=waterfalls.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        caretaker.sweep()
        waterfalls.refresh_from_db()
        assert (waterfalls.state, waterfalls.losses) == (RunState.QUEUED, losses)
    assert Waterfalls.objects.claim(waterfalls.pk, "w")
    Waterfalls.objects.filter(pk=waterfalls.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    caretaker.sweep()
    waterfalls.refresh_from_db()
    assert waterfalls.state == RunState.FAILED
    assert "3 times" in waterfalls.error


@pytest.mark.slow
def test_a_worker_process_answers(client: Client, run: Run, start_worker: Callable[[], Service]) -> None:
    start_worker()
    question = post(client, f"/api/runs/{run.pk}/waterfalls", SLOWEST, 201)
    path = f"/api/runs/{run.pk}/waterfalls/{question['id']}"
    wait_for(lambda: client.get(path).json()["state"] == "succeeded", "the answer", 60)
    assert len(client.get(path).json()["waterfalls"]) == 3

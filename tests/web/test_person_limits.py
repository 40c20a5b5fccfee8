"""Limits of each person, and whose turn it is. Catches: a person who takes all workers, a limit that is not kept or not shown, and a run
that waits for ever."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from webapp.lab import datasets, fair_turns, people, person_limits
from webapp.lab.models import Dataset, Experiment, Lab, Run, Study
from workers import app, studies

from .conftest import RedisProcess, new_experiment, new_run, small_document
from .study_examples import sweep

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("redis")]
JSON = "application/json"


def page_of(name: str, role: str = "member") -> Client:
    page = Client(HTTP_HOST="127.0.0.1")
    page.force_login(people.member(name, role).user)
    return page


def limit(client: Client, **limits: int | None) -> dict[str, Any]:
    usual = dict.fromkeys(("running", "waiting", "stored_bytes", "requests"))
    answer = client.put("/api/limits", {**usual, **limits}, content_type=JSON)
    assert answer.status_code == 200, answer.json()
    return dict(answer.json())


def waiting(experiment: Experiment, author: str, **changes: Any) -> Run:
    run = new_run(experiment)
    Run.objects.filter(pk=run.pk).update(author=author, enqueued_at=timezone.now(), **changes)
    run.refresh_from_db()
    return run


def taken(times: int, hint: Run) -> list[Run]:
    """The runs that workers take one after the other, each ended before the next."""
    found = []
    for _ in range(times):
        id = next(fair_turns.order(hint.pk), None)
        if id is None:
            break
        assert Run.objects.claim(id, "worker")
        Run.objects.filter(pk=id).update(state="succeeded", lease_holder="")
        found.append(Run.objects.get(pk=id))
    return found


# --- turns --------------------------------------------------------------------------------------------------------------------------------


def test_people_take_turns(experiment: Experiment) -> None:
    ada = [waiting(experiment, "ada") for _ in range(4)]
    ben = [waiting(experiment, "ben") for _ in range(2)]
    assert taken(6, ada[0]) == [ada[0], ben[0], ada[1], ben[1], ada[2], ada[3]]


def test_who_comes_late_is_next_but_one(experiment: Experiment) -> None:
    ada = [waiting(experiment, "ada") for _ in range(5)]
    assert taken(3, ada[0]) == ada[:3]
    ben = waiting(experiment, "ben")
    assert ben in taken(2, ada[3])


def test_who_has_fewer_in_progress_is_next(experiment: Experiment) -> None:
    for _ in range(2):
        Run.objects.claim(waiting(experiment, "ada").pk, "worker")
    Run.objects.claim(waiting(experiment, "ben").pk, "worker")
    ada, ben = waiting(experiment, "ada"), waiting(experiment, "ben")
    assert taken(2, ada) == [ben, ada]


def test_ones_own_run_goes_before_those_of_ones_study(experiment: Experiment) -> None:
    study = Study.objects.create(lab=experiment.lab, experiment=experiment, name="s", document=sweep([1.0], [1]))
    of_study = [waiting(experiment, "ada", study=study) for _ in range(3)]
    by_hand = waiting(experiment, "ada")
    assert taken(4, of_study[0]) == [by_hand, *of_study]


def test_labs_take_turns_too(experiment: Experiment) -> None:
    other = new_experiment(people.new_lab("Second"), small_document())
    first = [waiting(experiment, "ada") for _ in range(2)]
    second = [waiting(other, "ada") for _ in range(2)]
    assert [run.lab_id for run in taken(4, first[0])] == [first[0].lab_id, second[0].lab_id] * 2


def test_whoever_is_faster_leaves_the_next(experiment: Experiment) -> None:
    runs = [waiting(experiment, "ada") for _ in range(3)]
    others = fair_turns.order(runs[0].pk)
    assert [next(others), next(others), next(others)] == [str(run.pk) for run in runs]
    assert list(others) == []


@pytest.mark.parametrize("changes", [{"state": "succeeded"}, {"cancel_requested": True}, {"deleted_at": timezone.now()}])
def test_what_waits_no_more_is_not_chosen(experiment: Experiment, changes: dict[str, Any]) -> None:
    ended, other = waiting(experiment, "ada", **changes), waiting(experiment, "ben")
    assert list(fair_turns.order(ended.pk)) == [str(other.pk)]


def test_without_redis_the_oldest_of_each_is_taken(experiment: Experiment, redis: RedisProcess) -> None:
    runs = [waiting(experiment, name) for name in ("ada", "ben")]
    redis.stop()
    assert next(fair_turns.order(runs[1].pk)) == str(runs[0].pk)


def test_a_message_executes_the_run_whose_turn_it_is(experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two workers with two messages, both runs are executed, whichever the messages name."""
    runs = [waiting(experiment, name) for name in ("ada", "ben")]
    executed: list[str] = []

    def execute(id: str) -> bool:
        if not Run.objects.claim(id, "worker"):
            return False
        executed.append(id)
        return True

    monkeypatch.setattr(app.execution, "execute", execute)
    monkeypatch.setattr(studies, "after", lambda id: None)
    for _ in range(3):
        app.execute_run(str(runs[1].pk))
    assert executed == [str(run.pk) for run in runs]


# --- limits -------------------------------------------------------------------------------------------------------------------------------


def test_only_so_many_are_in_progress(client: Client, experiment: Experiment, monkeypatch: pytest.MonkeyPatch) -> None:
    limit(client, running=1)
    runs = [waiting(experiment, "ada") for _ in range(2)]
    first = next(fair_turns.order(runs[0].pk))
    assert Run.objects.claim(first, "worker")
    assert list(fair_turns.order(runs[1].pk)) == []
    ben = waiting(experiment, "ben")
    assert list(fair_turns.order(runs[1].pk)) == [str(ben.pk)]
    sent: list[Any] = []
    monkeypatch.setattr(fair_turns.queue, "send", lambda task, id, queue: sent.append(id))
    Run.objects.filter(pk=first).update(state="succeeded", lease_holder="")
    fair_turns.wake(first)
    assert sent == [runs[1].pk], "workers are told, since its message is used up"
    limit(client)
    fair_turns.wake(first)
    assert len(sent) == 1


def test_only_so_many_wait(client: Client, lab: Lab, experiment: Experiment) -> None:
    limit(client, waiting=2)
    path = f"/api/experiments/{experiment.pk}/runs"
    assert [client.post(path, {"seed": 1}, content_type=JSON).status_code for _ in range(2)] == [201, 201]
    for answer in (
        client.post(path, {"seed": 1}, content_type=JSON),
        client.post("/api/studies", {"document": sweep([500.0], [1])}, content_type=JSON),
        client.post(f"/api/runs/{Run.objects.first().pk}/fork", {"at_s": 1, "load": 2}, content_type=JSON),  # type: ignore[union-attr]
    ):
        assert answer.status_code == 409, answer.json()
        assert answer.json()["detail"].startswith("you have 2 runs waiting, and the lab's limit for a person is 2; wait until some")
    assert page_of("ben").post(path, {"seed": 1}, content_type=JSON).status_code == 201, "others are not concerned"


def test_only_so_much_is_stored(client: Client, lab: Lab, experiment: Experiment, tmp_path: Path) -> None:
    run = waiting(experiment, "ada", state="succeeded", stored_bytes=5000)
    waiting(experiment, "ben", state="succeeded", stored_bytes=10**9)
    file = tmp_path / "taps.csv"
    file.write_text("at,key\n0.0,1\n")
    dataset = datasets.add(lab, file, "taps")
    Dataset.objects.update(author="ada")
    size = dataset.path.stat().st_size
    assert limit(client, stored_bytes=5000 + size)["used"]["stored_bytes"] == 5000 + size
    answers = [client.post(f"/api/experiments/{experiment.pk}/runs", {"seed": 1}, content_type=JSON)]
    with file.open("rb") as upload:
        answers.append(client.post("/api/datasets", {"file": upload, "name": "more"}))
    for answer in answers:
        assert (answer.status_code, "the runs and data sets of ada take" in answer.json()["detail"]) == (409, True)
    client.delete(f"/api/runs/{run.pk}")
    with file.open("rb") as upload:
        assert client.post("/api/datasets", {"file": upload, "name": "more"}).status_code == 201
    assert Dataset.objects.get(name="more").author == "ada"


def test_only_so_many_requests_in_a_minute(client: Client, monkeypatch: pytest.MonkeyPatch, redis: RedisProcess) -> None:
    monkeypatch.setattr(person_limits.time, "time", lambda: 1_800_000_015.0)
    limit(client, requests=60)
    assert [client.get("/api/me").status_code for _ in range(60)] == [200] * 60
    refused = client.get("/api/me")
    assert (refused.status_code, refused["Retry-After"]) == (429, "45")
    assert refused.json()["detail"] == "you may send 60 requests in a minute; try again in 45 s"
    assert page_of("ben").get("/api/me").status_code == 200
    monkeypatch.setattr(person_limits.time, "time", lambda: 1_800_000_060.0)
    assert client.get("/api/me").status_code == 200
    assert client.get("/api/limits").json()["used"]["requests"] == 2
    redis.stop()
    assert [client.get("/api/me").status_code for _ in range(3)] == [200] * 3, "nobody is refused while nobody counts"


def test_everybody_sees_what_they_have(client: Client, experiment: Experiment) -> None:
    for state in ("queued", "running", "paused", "succeeded"):
        waiting(experiment, "ben", state=state, stored_bytes=10)
    told = page_of("ben", "viewer").get("/api/limits").json()
    assert told == {
        "limits": {"running": None, "waiting": None, "stored_bytes": None, "requests": None},
        "used": {"running": 2, "waiting": 1, "stored_bytes": 40, "requests": 0},
    }
    assert limit(client, running=3)["limits"]["running"] == 3
    assert page_of("ben").put("/api/limits", {}, content_type=JSON).status_code == 403


@pytest.mark.parametrize(
    "bad", [{"running": 0}, {"waiting": -1}, {"requests": 59}, {"stored_bytes": True}, {"running": 10**9}, {"queued": 1}]
)
def test_wrong_limits_are_refused(client: Client, lab: Lab, bad: dict[str, Any]) -> None:
    usual = dict.fromkeys(("running", "waiting", "stored_bytes", "requests"))
    answer = client.put("/api/limits", {**usual, **bad}, content_type=JSON)
    assert (answer.status_code, next(iter(bad)) in answer.json()["detail"]) == (422, True)


def test_a_study_stops_at_the_limit_of_its_author(client: Client, experiment: Experiment) -> None:
    study = client.post("/api/studies", {"document": sweep([500.0, 1000.0], [1])}, content_type=JSON).json()
    waiting(experiment, "ada", state="succeeded", stored_bytes=5000)
    limit(client, stored_bytes=5000)
    studies.advance(study["id"])
    stopped = Study.objects.get(pk=study["id"])
    assert (stopped.state, "limit for a person is 5 kB" in stopped.error) == ("failed", True)

"""Requests with an Idempotency-Key are carried out once. Catches: a thing made twice, an answer without its thing, a thing without its
answer, news of what is not stored yet, a stored secret, an answer for somebody else."""

from __future__ import annotations

import json
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.utils import timezone

from webapp.accounts.models import ApiToken, LogEntry
from webapp.api import idempotency
from webapp.api.errors import Problem409
from webapp.lab.models import Dataset, Experiment, KeptAnswer, Lab, Membership, Run
from webapp.lab.models.answers import KEPT
from webapp.lab.people import member
from webapp.lib.afterwards import collected, is_waiting, later
from webapp.maintenance.retention import tidy
from webapp.messaging import queue

from .conftest import new_experiment, small_document, wait_for

pytestmark = pytest.mark.django_db(transaction=True)
JSON = "application/json"
GOOD = b"time,user,amount\n2026-01-01T00:00:00Z,ann,1.5\n"


def ask(client: Client, path: str, body: Any, key: str = "k") -> Any:
    return client.post(path, json.dumps(body), content_type=JSON, headers={"Idempotency-Key": key})


def create(client: Client, key: str = "k", **changes: Any) -> Any:
    return ask(client, "/api/experiments", {"document": {**small_document(), **changes}}, key)


def upload(client: Client, key: str = "k", content: bytes = GOOD, name: str = "payments") -> Any:
    body = {"file": SimpleUploadedFile("payments.csv", content), "name": name}
    return client.post("/api/datasets", body, headers={"Idempotency-Key": key})


def test_what_comes_again_is_not_done_again(client: Client) -> None:
    first, second = create(client), create(client)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert (first.headers.get("Idempotency-Replayed"), second.headers["Idempotency-Replayed"]) == (None, "true")
    assert Experiment.objects.count() == 1
    assert LogEntry.objects.filter(action="experiments.create").count() == 1
    assert create(client, "other").json()["id"] != first.json()["id"]


def test_answers_without_a_body_come_again_as_well(client: Client) -> None:
    id = create(client).json()["id"]
    client.delete(f"/api/experiments/{id}")
    for _ in range(2):
        answer = ask(client, f"/api/experiments/{id}/restore", {}, "restore")
        assert (answer.status_code, answer.content) == (204, b"")


def test_a_key_belongs_to_one_request(client: Client) -> None:
    create(client)
    for answer in (create(client, description="other"), ask(client, "/api/studies", {}), upload(client)):
        assert answer.status_code == 422
        assert answer.json()["detail"] == "this Idempotency-Key was used for another request; give each request a key of its own"
    assert Experiment.objects.count() == 1


@pytest.mark.parametrize("key", ["", "a b", "ü", "x" * 256])
def test_a_key_that_is_none_is_refused(client: Client, key: str) -> None:
    answer = create(client, key)
    assert answer.status_code == 400
    assert answer.json()["detail"].startswith(f"the header Idempotency-Key has {len(key)} characters; it must have 1 to 255")
    assert Experiment.objects.count() == 0


def test_a_key_belongs_to_one_person(client: Client, lab: Lab) -> None:
    other = Client(HTTP_HOST="127.0.0.1")
    other.force_login(member("mia", "member").user)
    assert create(client).json()["id"] != create(other).json()["id"]
    assert Client(HTTP_HOST="127.0.0.1").post("/api/experiments", headers={"Idempotency-Key": "k"}).status_code == 401


def test_errors_are_not_kept(client: Client) -> None:
    assert ask(client, "/api/experiments", {"document": 7}).status_code == 422
    assert KeptAnswer.objects.count() == 0
    assert create(client).status_code == 201


def test_what_was_stored_before_an_error_is_not_kept(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    id = create(client).json()["id"]

    def fails(*_: Any) -> None:
        raise Problem409("no")

    with monkeypatch.context() as patched:
        patched.setattr("webapp.api.experiments.RunDetail.of_new", fails)
        assert ask(client, f"/api/experiments/{id}/runs", {}, "run").status_code == 409
    assert not Run.objects.exists()
    assert ask(client, f"/api/experiments/{id}/runs", {}, "run").status_code == 201


def test_what_makes_nothing_is_asked_anew(client: Client) -> None:
    for _ in range(2):
        answer = ask(client, "/api/validate", {"document": small_document()})
        assert (answer.status_code, answer.headers.get("Idempotency-Replayed")) == (200, None)
    assert KeptAnswer.objects.count() == 0


def test_thing_and_answer_are_stored_both_or_neither(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the process dies here")

    with monkeypatch.context() as context:
        context.setattr(idempotency, "keep", broken)
        with pytest.raises(RuntimeError):
            create(client)
    assert (Experiment.objects.count(), KeptAnswer.objects.count()) == (0, 0)
    assert create(client).status_code == 201


def test_others_hear_of_what_is_stored(client: Client, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that takes the run, or a page that is told of it, finds it."""
    seen: list[tuple[bool, bool]] = []
    experiment = new_experiment(lab, small_document())

    def send(task: str, id: Any, name: str) -> bool:
        seen.append((connection.in_atomic_block, Run.objects.filter(pk=id).exists()))
        return True

    monkeypatch.setattr(queue, "send", send)
    monkeypatch.setattr(queue, "is_reachable", lambda: True)
    for _ in range(2):
        assert ask(client, f"/api/experiments/{experiment.pk}/runs", {}, "run").status_code == 201
    assert seen == [(False, True)]
    assert Run.objects.get().enqueued_at is not None


def test_a_run_whose_queue_is_away_waits(client: Client, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = new_experiment(lab, small_document())
    monkeypatch.setattr(queue, "send", lambda *_: False)
    monkeypatch.setattr(queue, "is_reachable", lambda: False)
    assert "queue" in ask(client, f"/api/experiments/{experiment.pk}/runs", {}, "run").json()["note"]
    assert Run.objects.get().enqueued_at is None


def test_secrets_are_not_stored(client: Client) -> None:
    body = {"name": "laptop", "scope": "read"}
    text = ask(client, "/api/tokens", body).json()["token"]
    again = ask(client, "/api/tokens", body)
    assert again.status_code == 409
    assert "revoke what it made" in again.json()["detail"]
    assert ApiToken.objects.count() == 1
    assert text not in str(list(KeptAnswer.objects.values()))


@pytest.mark.parametrize("path", ["/api/tokens", "/api/invitations", "/api/people/7/link"])
def test_answers_with_secrets_are_known(path: str) -> None:
    assert idempotency.SECRET.fullmatch(path)


def test_uploads_come_once(client: Client) -> None:
    first, second = upload(client), upload(client)
    assert (first.status_code, second.status_code) == (201, 201)
    assert first.json() == second.json()
    assert Dataset.objects.count() == 1
    assert upload(client, content=GOOD + GOOD.splitlines()[1]).status_code == 422
    assert upload(client, name="other").status_code == 422


def test_an_upload_in_progress_is_not_begun_again(client: Client, owner: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("the process dies here")

    with monkeypatch.context() as context:
        context.setattr(idempotency, "keep", broken)
        context.setattr(KeptAnswer, "delete", lambda self: None)  # as when the process is killed
        with pytest.raises(RuntimeError):
            upload(client)
    answer = upload(client)
    assert (answer.status_code, answer.headers["Retry-After"]) == (409, "1")
    assert answer.json()["detail"] == "a request with this key is in progress; ask again for its answer"
    KeptAnswer.objects.update(created_at=timezone.now() - idempotency.ABANDONED)
    assert "there is a data set 'payments' already" in upload(client).json()["detail"]
    assert Dataset.objects.count() == 1


def test_an_upload_that_takes_long_stays_in_progress(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "RENEWED_S", 0.01)
    row = KeptAnswer.objects.create(user=member("ada", "owner").user, key="k", request="x")
    KeptAnswer.objects.update(created_at=timezone.now() - 2 * idempotency.ABANDONED)
    with idempotency.renewed(row):
        wait_for(lambda: not idempotency.is_abandoned(KeptAnswer.objects.get()), "a sign")
    KeptAnswer.objects.update(created_at=timezone.now() - 2 * idempotency.ABANDONED)
    assert idempotency.is_abandoned(KeptAnswer.objects.get()), "the request has ended, and no sign comes any more"


def test_the_same_request_twice_at_once_is_done_once(client: Client, owner: Membership) -> None:
    answers: list[Any] = []

    def visit() -> None:
        try:
            person = Client(HTTP_HOST="127.0.0.1")
            person.force_login(owner.user)
            start.wait()
            answers.append(create(person))
        finally:
            connection.close()

    start = threading.Barrier(4)
    threads = [threading.Thread(target=visit) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer.status_code for answer in answers] == [201] * 4
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert Experiment.objects.count() == 1


def test_answers_are_kept_for_three_days(client: Client, lab: Lab) -> None:
    create(client)
    KeptAnswer.objects.update(created_at=timezone.now() - KEPT + timedelta(minutes=1))
    tidy()
    assert KeptAnswer.objects.count() == 1
    KeptAnswer.objects.update(created_at=timezone.now() - KEPT - timedelta(minutes=1))
    tidy()
    assert KeptAnswer.objects.count() == 0


def test_work_waits_only_where_it_is_collected() -> None:
    done: list[str] = []
    later(lambda: done.append("at once"))
    assert (done, is_waiting()) == (["at once"], False)
    with collected() as work:
        later(lambda: done.append("afterwards"))
        assert (done, is_waiting()) == (["at once"], True)
    assert len(work) == 1
    assert not is_waiting()

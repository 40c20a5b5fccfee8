"""The history of experiments. Catches: a state that is lost, a history that grows without bound, and going back to what cannot run."""

from __future__ import annotations

import io
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.utils import timezone

from webapp.accounts.models import ApiToken
from webapp.lab import versions
from webapp.lab.models import Experiment, ExperimentVersion, Lab
from webapp.lab.people import member
from webapp.lab.versions import FOLDED_FOR, VERSIONS_MAX, Author, save
from webapp.maintenance.retention import UNDO_FOR, tidy

from .conftest import new_run, small_document
from .test_experiments import send

pytestmark = pytest.mark.django_db
ADA, BEN = Author("ada", editor="tab-1"), Author("ben", editor="tab-2")


def named(name: str) -> dict[str, Any]:
    return {**small_document(), "name": name}


def kept(experiment: Experiment) -> list[tuple[int, str, str]]:
    """Number, author and name of its versions, oldest first."""
    return [(one.number, one.author, one.document["name"]) for one in experiment.versions.order_by("number")]


def saved(experiment: Experiment, name: str, author: Author = ADA) -> None:
    experiment.refresh_from_db()
    assert save(experiment, experiment.version, named(name), "", author)


def later(experiment: Experiment, by: timedelta = FOLDED_FOR) -> None:
    """As if some time had passed since its saves."""
    for one in experiment.versions.all():
        experiment.versions.filter(pk=one.pk).update(began_at=one.began_at - by, saved_at=one.saved_at - by)


def test_saves_of_one_page_within_minutes_are_one_version(experiment: Experiment) -> None:
    first = experiment.document["name"]
    for name in ("a", "b", "c"):
        saved(experiment, name)
    assert kept(experiment) == [(1, "", first), (4, "ada", "c")], "what was there before is kept, too"
    assert experiment.versions.get(number=4).saves == 3
    later(experiment)
    saved(experiment, "d")
    saved(experiment, "e", Author("ada", editor="another tab"))
    saved(experiment, "f", BEN)
    saved(experiment, "g", Author("ben", token="program"))
    saved(experiment, "h", Author("ben", token="program"))
    assert kept(experiment)[2:] == [(5, "ada", "d"), (6, "ada", "e"), (7, "ben", "f"), (8, "ben", "g"), (9, "ben", "h")]
    experiment.refresh_from_db()
    assert (experiment.version, experiment.document) == (9, named("h")), "the newest version is the experiment"


def test_saving_the_same_again_is_no_version(experiment: Experiment) -> None:
    saved(experiment, "a")
    saved(experiment, "a", BEN)
    assert kept(experiment)[1:] == [(3, "ada", "a")]


def test_what_was_run_stays_a_version(experiment: Experiment) -> None:
    saved(experiment, "a")
    new_run(experiment)
    saved(experiment, "b")
    assert kept(experiment)[1:] == [(2, "ada", "a"), (3, "ada", "b")]


@pytest.mark.django_db(transaction=True)
def test_of_two_pages_that_save_at_once_one_wins_and_nothing_is_lost(experiment: Experiment, client: Client) -> None:
    answers: dict[str, int] = {}
    start = threading.Barrier(2)

    def put(name: str) -> None:
        start.wait()
        body = {"version": 1, "document": named(name), "editor": name}
        answers[name] = send(client, "put", f"/api/experiments/{experiment.pk}", body).status_code
        connections.close_all()

    threads = [threading.Thread(target=put, args=(name,)) for name in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers.values()) == [200, 409]
    winner, loser = sorted(answers, key=lambda name: answers[name])
    assert kept(experiment)[1:] == [(2, "ada", winner)]
    conflict = send(client, "put", f"/api/experiments/{experiment.pk}", {"version": 1, "document": named(loser), "editor": loser}).json()
    assert (conflict["saved"]["author"], conflict["saved"]["editor"], conflict["document"]["name"]) == ("ada", winner, winner)
    again = {"version": conflict["version"], "document": named(loser), "editor": loser}
    assert send(client, "put", f"/api/experiments/{experiment.pk}", again).status_code == 200
    assert [name for _, _, name in kept(experiment)[1:]] == [winner, loser], "who keeps their own overwrites nothing for ever"


def test_versions_are_listed_shown_and_restored(client: Client, lab: Lab) -> None:
    path = f"/api/experiments/{send(client, 'post', '/api/experiments', {'document': named('a'), 'editor': 'tab'}).json()['id']}"
    experiment = Experiment.objects.get()
    saved(experiment, "b", BEN)
    listed = client.get(f"{path}/versions").json()
    assert [(one["number"], one["author"], one["saves"], one["restored"]) for one in listed["items"]] == [
        (2, "ben", 1, None),
        (1, "ada", 1, None),
    ]
    assert listed["count"] == 2
    assert "document" not in listed["items"][0]
    shown = client.get(f"{path}/versions/2").json()
    assert (shown["document"]["name"], shown["before"]["name"], shown["problems"]) == ("b", "a", [])
    assert client.get(f"{path}/versions/1").json()["before"] is None

    stale = send(client, "post", f"{path}/versions/1/restore", {"version": 1})
    assert (stale.status_code, stale.json()["saved"]["author"]) == (409, "ben")
    restored = send(client, "post", f"{path}/versions/1/restore", {"version": 2, "editor": "tab"})
    assert (restored.json()["version"], restored.json()["document"]["name"]) == (3, "a")
    saved(experiment, "c", Author("ada", editor="tab"))
    assert kept(experiment) == [(1, "ada", "a"), (2, "ben", "b"), (3, "ada", "a"), (4, "ada", "c")], "nothing is joined with a restored one"
    assert experiment.versions.get(number=3).restored == 1

    for number in (7, 2**40):
        missing = client.get(f"{path}/versions/{number}")
        assert (missing.status_code, f"version {number}" in missing.json()["detail"]) == (404, True)
    assert send(client, "put", path, {"version": 4, "document": {}, "editor": "x" * 65}).status_code == 422


def test_programs_are_named_by_their_token(experiment: Experiment) -> None:
    token = ApiToken.issue(member("ada"), "nightly")[1]
    program = Client(HTTP_HOST="127.0.0.1", headers={"Authorization": f"Bearer {token}"})
    answer = send(program, "put", f"/api/experiments/{experiment.pk}", {"version": 1, "document": named("a")}).json()
    assert (answer["saved"]["author"], answer["saved"]["token"], answer["saved"]["number"]) == ("ada", "nightly", 2)


def test_a_version_whose_data_set_is_gone_says_so_and_can_be_restored(client: Client, experiment: Experiment) -> None:
    path = f"/api/experiments/{experiment.pk}"
    file = io.BytesIO(b"at,price\n" + b"".join(b"2026-01-01T00:00:%02d,%d\n" % (n, n) for n in range(50)))
    file.name = "prices.csv"
    dataset = client.post("/api/datasets", {"file": file}).json()
    document = small_document()
    source = next(iter(document["workload"]["sources"].values()))
    source["stream"] = {"kind": "file", "dataset": dataset["name"], "timestamp": "at"}
    assert send(client, "put", path, {"version": 1, "document": document}).status_code == 200
    assert send(client, "put", path, {"version": 2, "document": small_document(), "editor": "tab"}).status_code == 200
    client.delete(f"/api/datasets/{dataset['id']}")
    shown = client.get(f"{path}/versions/2").json()
    assert shown["document"] == document
    assert any(problem["severity"] == "error" and "prices" in problem["message"] for problem in shown["problems"])
    restored = send(client, "post", f"{path}/versions/2/restore", {"version": 3})
    assert restored.status_code == 200
    assert (restored.json()["document"], restored.json()["problems"]) == (document, shown["problems"])


def test_the_history_is_bounded(experiment: Experiment, lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(versions, "VERSIONS_MAX", 5)
    assert VERSIONS_MAX == 200
    for n in range(8):
        saved(experiment, f"v{n}", Author("ada", editor=str(n)))
    assert [name for _, _, name in kept(experiment)] == ["v3", "v4", "v5", "v6", "v7"]


@pytest.mark.usefixtures("working_here")
def test_versions_count_as_storage_and_a_full_lab_keeps_no_more(client: Client, experiment: Experiment, lab: Lab) -> None:
    for n in range(4):
        saved(experiment, f"v{n}", Author("ada", editor=str(n)))
    told = client.get("/api/storage").json()
    stored = sum(ExperimentVersion.objects.values_list("bytes", flat=True))
    assert told["versions_bytes"] == told["used_bytes"] == stored > 1000
    Lab.objects.update(storage_limit_bytes=stored)
    saved(experiment, "v4", BEN)
    assert [name for _, _, name in kept(experiment)] == ["v0", "v1", "v2", "v3", "v4"], "one went for one"
    saved(experiment, "v5", ADA)
    assert [name for _, _, name in kept(experiment)] == ["v1", "v2", "v3", "v4", "v5"]
    assert sum(ExperimentVersion.objects.values_list("bytes", flat=True)) <= stored + 10
    Experiment.objects.update(deleted_at=timezone.now())
    assert client.get("/api/storage").json()["versions_bytes"] == 0
    tidy()
    assert ExperimentVersion.objects.exists(), "a deleted experiment can be restored with its history for a week"
    Experiment.objects.update(deleted_at=timezone.now() - UNDO_FOR - timedelta(minutes=1))
    tidy()
    assert not ExperimentVersion.objects.exists()

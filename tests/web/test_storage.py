"""What the lab keeps on disk. Catches: a limit that nobody keeps, frames removed that somebody needs, and a reader who meets their absence
unprepared."""

from __future__ import annotations

import os
import time
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

import engine
from engine.spec import Experiment as Document
from webapp.lab.models import Dataset, Experiment, Lab, Removal, Run, RunState, Study
from webapp.lab.models.work import LOSSES_MAX
from webapp.lab.people import member
from webapp.lab.reuse import run_of_the_same
from webapp.lib.file_sizes import bytes_below, in_words
from webapp.lib.redis_connection import connection
from webapp.maintenance import retention
from webapp.maintenance.retention import tidy
from workers import caretaker, execution, studies

from .conftest import new_experiment, new_run, small_document
from .executing import executed, killed_while_saving
from .study_examples import sweep

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]
JSON = "application/json"
DAY = timedelta(days=1)


def made(experiment: Experiment, days_ago: float = 0.0) -> Run:
    run = executed(new_run(experiment))
    if days_ago:
        Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - days_ago * DAY)
    run.refresh_from_db()
    assert run.state == RunState.SUCCEEDED
    return run


def limit(client: Client, limit_bytes: int | None) -> dict[str, Any]:
    answer = client.put("/api/storage", {"limit_bytes": limit_bytes}, content_type=JSON)
    assert answer.status_code == 200, answer.json()
    return dict(answer.json())


def test_what_there_is_is_told_to_the_byte(client: Client, lab: Lab, experiment: Experiment) -> None:
    runs = [made(experiment), made(experiment)]
    assert runs[0].stored_bytes == bytes_below(runs[0].directory) > 1000
    Run.objects.filter(pk=runs[1].pk).update(stored_bytes=None)
    tidy()
    runs[1].refresh_from_db()
    assert runs[1].stored_bytes == bytes_below(runs[1].directory), "what was not measured is measured"
    uploaded = client.post("/api/datasets", {"file": upload()}).json()
    data_bytes = Dataset.objects.get(pk=uploaded["id"]).path.stat().st_size
    told = client.get("/api/storage").json()
    run_bytes = sum(run.stored_bytes or 0 for run in runs)
    assert (told["runs_bytes"], told["datasets_bytes"], told["used_bytes"]) == (run_bytes, data_bytes, run_bytes + data_bytes)
    assert told["experiments"] == [{"id": str(experiment.pk), "name": experiment.name, "bytes": run_bytes, "runs": 2}]
    assert told["datasets"] == [{"id": uploaded["id"], "name": "taps", "bytes": data_bytes, "runs": 0}]
    assert told["free_bytes"] > 0
    client.delete(f"/api/runs/{runs[0].pk}")
    told = client.get("/api/storage").json()
    assert (told["runs_bytes"], told["deleted_bytes"]) == (runs[1].stored_bytes, runs[0].stored_bytes)


def upload() -> Any:
    from django.core.files.uploadedfile import SimpleUploadedFile

    return SimpleUploadedFile("taps.csv", b"at,key\n2024-01-01T00:00:00Z,1\n")


def test_above_the_limit_nothing_begins_until_something_was_deleted(client: Client, lab: Lab, experiment: Experiment) -> None:
    run = made(experiment)
    study = client.post("/api/studies", {"document": sweep([500.0, 1000.0], [1])}, content_type=JSON).json()
    assert limit(client, run.stored_bytes)["limit_bytes"] == run.stored_bytes
    count = Run.objects.count()
    for path, body in {
        f"/api/experiments/{experiment.pk}/runs": {},
        f"/api/runs/{run.pk}/rerun": {},
        f"/api/runs/{run.pk}/fork": {"at_s": 1, "load": 2},
        "/api/studies": {"document": sweep([500.0], [1])},
    }.items():
        answer = client.post(path, body, content_type=JSON)
        assert (answer.status_code, "(the largest: runs of 'Small Q1'" in answer.json()["detail"]) == (
            409,
            True,
        ), path
    assert client.post("/api/datasets", {"file": upload()}).status_code == 409
    studies.advance(study["id"])
    stopped = Study.objects.get(pk=study["id"])
    assert (stopped.state, "page Lab, Storage" in stopped.error) == (RunState.FAILED, True)
    assert Run.objects.count() == count
    client.delete(f"/api/runs/{run.pk}")
    assert client.post(f"/api/experiments/{experiment.pk}/runs", {}, content_type=JSON).status_code == 201
    assert client.post(f"/api/studies/{study['id']}/retry").status_code == 202, "the study goes on from where it stood"


def test_only_owners_set_the_limit(client: Client, lab: Lab) -> None:
    page = Client(HTTP_HOST="127.0.0.1")
    page.force_login(member("mary", "member").user)
    assert page.put("/api/storage", {"limit_bytes": 1}, content_type=JSON).status_code == 403
    assert page.get("/api/storage").json()["limit_bytes"] is None
    for bad in ({"limit_bytes": -1}, {"limit_bytes": 2**70}, {"limit_bytes": True}, {}):
        assert client.put("/api/storage", bad, content_type=JSON).status_code == 422


def test_a_run_without_frames_says_so_and_is_had_again_to_the_bit(client: Client, lab: Lab, experiment: Experiment) -> None:
    run = made(experiment, days_ago=3)
    frames = client.get(f"/api/runs/{run.pk}/frames").json()["frames"]
    assert len(frames) == run.frames == 8
    assert client.post("/api/storage/rules", {"what": "frames", "days": 1}, content_type=JSON).status_code == 201
    caretaker.tidy()
    assert client.get(f"/api/runs/{run.pk}/frames").json()["frames"] == frames, "they are there for a week"
    Removal.objects.update(at=timezone.now() - retention.UNDO_FOR - DAY)
    caretaker.tidy()
    connection().flushall()  # the stream of a run is forgotten an hour after its end
    told = client.get(f"/api/runs/{run.pk}").json()
    assert told["frames_removed_at"] is not None
    assert told["summary"] == run.summary
    assert client.get(f"/api/runs/{run.pk}/frames").json() == {"frames": [], "next": None}
    for format in ("csv", "parquet", "json"):
        answer = client.get(f"/api/runs/{run.pk}/export?format={format}")
        assert (answer.status_code, "run it again" in answer.json()["detail"]) == (409, True)
    assert client.get(f"/api/runs/{run.pk}/export?format=yaml").status_code == 200
    assert run_of_the_same(lab, Document.model_validate(run.document)) is None, "who needs frames does not get this run"
    again = client.post(f"/api/runs/{run.pk}/rerun", {}, content_type=JSON).json()["id"]
    execution.execute(again)
    assert client.get(f"/api/runs/{again}/frames").json()["frames"] == frames
    assert Run.objects.get(pk=again).digest == run.digest


def test_what_was_deleted_goes_after_a_week(client: Client, lab: Lab, experiment: Experiment) -> None:
    run = made(experiment)
    dataset = Dataset.objects.get(pk=client.post("/api/datasets", {"file": upload()}).json()["id"])
    client.delete(f"/api/runs/{run.pk}")
    client.delete(f"/api/datasets/{dataset.pk}")
    caretaker.tidy()
    dataset.refresh_from_db()
    assert dataset.path.exists()
    assert bytes_below(run.directory) > 0
    long_ago = timezone.now() - retention.UNDO_FOR - DAY
    Run.objects.update(deleted_at=long_ago)
    Dataset.objects.update(deleted_at=long_ago)
    caretaker.tidy()
    assert not dataset.path.exists()
    assert not Dataset.objects.exists()
    assert bytes_below(run.directory) == 0
    assert Run.objects.get().summary == run.summary


def test_whoever_dies_before_the_files_are_gone_leaves_them_to_the_next(lab: Lab) -> None:
    run = made(new_experiment(lab, small_document()))
    Run.objects.filter(pk=run.pk).update(frames_removed_at=timezone.now(), stored_bytes=None)
    tidy()
    run.refresh_from_db()
    assert (run.stored_bytes, bytes_below(run.directory)) == (0, 0)


def test_what_killed_workers_left_of_a_run_that_has_ended_is_removed(experiment: Experiment) -> None:
    run, saving = made(experiment), engine.Simulation(experiment.document)
    frames_bytes = bytes_below(run.directory)
    killed_while_saving(saving, run.snapshot)
    (run.directory / "snapshot0ld1name.tmp").write_bytes(b"half of it")
    assert len(list(run.directory.glob("snapshot*"))) == 2
    Run.objects.filter(pk=run.pk).update(stored_bytes=frames_bytes + 4096 + 10)  # as it was measured by an earlier version
    caretaker.tidy()
    run.refresh_from_db()
    assert not list(run.directory.glob("snapshot*"))
    assert run.stored_bytes == bytes_below(run.directory) == frames_bytes


def test_unfinished_files_of_a_run_under_way_are_its_workers(experiment: Experiment) -> None:
    run = new_run(experiment)
    assert Run.objects.claim(run.pk, "w")
    run.directory.mkdir(parents=True)
    killed_while_saving(engine.Simulation(experiment.document), run.snapshot)
    caretaker.tidy()
    assert len(list(run.directory.glob("snapshot*"))) == 1


def test_a_run_that_is_given_up_leaves_no_snapshot(experiment: Experiment) -> None:
    """Its workers died three times at the same point, the last one while it saved."""
    run, saving = new_run(experiment), engine.Simulation(experiment.document)
    run.directory.mkdir(parents=True)
    saving.save(run.snapshot)
    killed_while_saving(saving, run.snapshot)
    assert Run.objects.claim(run.pk, "w")
    Run.objects.filter(pk=run.pk).update(losses=LOSSES_MAX - 1, lease_until=timezone.now() - DAY)
    caretaker.sweep()
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert not list(run.directory.glob("snapshot*"))


@pytest.mark.parametrize(("count", "text"), [(0, "0 B"), (999, "999 B"), (1200, "1.2 kB"), (123_456_789, "123 MB"), (5 * 10**12, "5 TB")])
def test_bytes_in_words(count: int, text: str) -> None:
    assert in_words(count) == text


def test_what_interrupted_uploads_have_left_goes_after_a_day(lab: Lab) -> None:
    """Not what is being written, and no data set that was deleted and may come back."""
    beside = Path(settings.DATASETS_DIR) / str(lab.pk)
    beside.mkdir(exist_ok=True)
    deleted, unfinished = beside / f".{uuid.uuid4()}.parquet", beside / f".{uuid.uuid4().hex}.parquet"
    upload, folder = Path(settings.UPLOADS_DIR) / "x.upload", Path(settings.UPLOADS_DIR) / uuid.uuid4().hex
    folder.mkdir()
    (folder / "rides.csv").touch()
    for path in (deleted, unfinished, upload):
        path.touch()
    caretaker.tidy()
    assert all(path.exists() for path in (deleted, unfinished, upload, folder))
    old_s = time.time() - 25 * 3600
    for path in (deleted, unfinished, upload, folder):
        os.utime(path, (old_s, old_s))
    caretaker.tidy()
    assert [path.exists() for path in (deleted, unfinished, upload, folder)] == [True, False, False, False]


def test_sessions_that_have_run_out_are_removed(lab: Lab) -> None:
    for key, left in (("old", timedelta(seconds=-1)), ("new", timedelta(days=1))):
        Session.objects.create(session_key=key, session_data="", expire_date=timezone.now() + left)
    caretaker.tidy()
    assert [session.session_key for session in Session.objects.all()] == ["new"]

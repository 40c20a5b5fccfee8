"""Executing runs, in this process: results, files, cancelling, failures, resuming."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow.parquet as parquet
import pytest
from django.db import IntegrityError, OperationalError

import engine
from tests.support.corner_cases import a_cycle_that_stands_still
from webapp.lab.models import Experiment, Lab, Run, RunState
from webapp.lib.file_sizes import bytes_below
from webapp.lib.outages import DATABASE
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import Entry, live_key
from workers import execution, outages, run_monitor

from .conftest import RedisProcess, long_document, small_document, wait_for
from .executing import Background, executed, frames_of, inside_a_frame, killed_while_saving, queued

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("working_here")]


def frame_numbers(run: Run) -> list[int]:
    return [frame["n"] for frame in frames_of(run)]


def test_a_run_gives_what_the_engine_gives(lab: Lab) -> None:
    run = executed(queued(lab, small_document()))
    twin = engine.run(small_document())
    assert (run.state, run.error) == (RunState.SUCCEEDED, "")
    assert run.digest == twin.digest
    assert {**run.summary, "wall_s": 0} == {**twin.summary, "wall_s": 0}
    assert (run.frames, run.progress, run.eta_s, run.engine_version) == (8, 1.0, None, engine.ENGINE_VERSION)
    assert run.metrics.get(metric="latency_ms.p99").value == run.summary["latency_ms"]["p99"]
    assert frame_numbers(run) == list(range(8))
    assert run.sparkline == [float(f"{frame['latency_ms']['p99']:.3g}") for frame in frames_of(run)]
    assert {path.parent.name for path in run.directory.rglob("*.parquet")} == {"telemetry", "latency", "live"}
    assert not run.snapshot.exists()


def test_a_run_says_that_its_query_is_being_compiled(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what is left is estimated from the time after that alone."""
    clock = SimpleNamespace(now_s=100.0)
    monkeypatch.setattr(run_monitor, "time", SimpleNamespace(monotonic=lambda: clock.now_s))
    run = queued(lab, small_document())
    assert Run.objects.claim(run.pk, "here", compiling=False)
    monitor = run_monitor.RunMonitor(run, "here", threading.Event())

    def reported(compiling: bool | None, now_s: float, t_ns: int) -> tuple[bool, float | None]:
        clock.now_s, monitor.t_ns = now_s, t_ns
        if compiling is not None:
            monitor.compiles(compiling)
        monitor._report()
        run.refresh_from_db()
        return run.compiling, run.eta_s

    assert reported(True, 101.0, 0) == (True, None)
    monitor.pace = 1.0
    assert reported(None, 105.0, 0) == (True, None), "not by its pace either"
    monitor.pace = None
    assert reported(False, 111.0, 0) == (False, None)
    left_s = (run.horizon_ns - 10**9) / 1e9
    assert reported(None, 112.0, 10**9) == (False, pytest.approx(left_s * 2.0)), "a second before and one after ten of compiling"


def test_a_deadlock_fails_the_run_and_says_which_channels_stand(lab: Lab) -> None:
    run = executed(queued(lab, {"name": "Circle"} | a_cycle_that_stands_still()))
    assert (run.state, run.digest, run.frames) == (RunState.FAILED, "", 3)
    assert "again[0] -> step[0]" in run.error
    assert run.summary["deadlock"] == run.error


def test_a_host_out_of_memory_fails_the_run_and_says_which_and_when(lab: Lab) -> None:
    document = small_document(per_s=20_000)
    for host in document["cluster"]["hosts"]:
        host["memory"] = {"kind": "budget", "budget_mb": 0.01, "per_record_bytes": 1000}
        host["speed"] = 0.1
    run = executed(queued(lab, document))
    assert (run.state, run.digest) == (RunState.FAILED, "")
    assert run.error.startswith("out of memory: ")
    assert "limit of 10,000" in run.error
    assert run.summary["exhaustion"] == run.error


def test_a_worker_that_has_lost_its_run_stores_nothing_of_its_end(lab: Lab) -> None:
    run = queued(lab, small_document())
    assert Run.objects.claim(run.pk, "another")
    execution.finish(run, "who had it before", {"state": RunState.SUCCEEDED, "summary": {"records_in": 1}})
    run.refresh_from_db()
    assert (run.state, run.summary, run.finished_at) == (RunState.RUNNING, None, None)
    assert not run.metrics.exists()


def test_live_frames_are_those_of_the_engine(lab: Lab) -> None:
    run = executed(queued(lab, small_document()))
    frames: list[Any] = []
    for _, fields in connection().xrange(live_key(run.pk)):
        import json

        frames += json.loads(Entry.read(fields).frames_json)
    assert frames == engine.run(small_document()).frames


def test_at_most_ten_messages_a_second_are_sent(lab: Lab) -> None:
    began_s = time.monotonic()
    run = executed(queued(lab, small_document(horizon_s=60.0, per_s=40_000, frame_ms=50)))
    took_s = time.monotonic() - began_s
    assert run.frames == 1200
    assert connection().xlen(live_key(run.pk)) <= 10 * took_s + 2


def test_a_second_delivery_changes_nothing(lab: Lab) -> None:
    run = executed(queued(lab, small_document()))
    before = {field.attname: getattr(run, field.attname) for field in Run._meta.fields}
    again = executed(run)
    assert {field.attname: getattr(again, field.attname) for field in Run._meta.fields} == before


def test_without_redis_a_run_succeeds_all_the_same(lab: Lab, redis: RedisProcess) -> None:
    redis.stop()
    run = executed(queued(lab, small_document()))
    assert run.state == RunState.SUCCEEDED
    assert frame_numbers(run) == list(range(8))


def test_an_unknown_run_is_ignored(lab: Lab) -> None:
    """Nobody hears of it, nothing is stored, and a run that waits goes on waiting."""
    waiting = queued(lab, small_document())
    unknown = "00000000-0000-0000-0000-000000000007"
    execution.execute(unknown)
    waiting.refresh_from_db()
    assert (Run.objects.count(), waiting.state, waiting.lease_holder) == (1, RunState.QUEUED, "")
    assert connection().dbsize() == 0
    assert not waiting.directory.with_name(unknown).exists()


def test_a_cancelled_run_stops_and_keeps_what_was_measured(lab: Lab) -> None:
    background = Background(queued(lab, long_document()))
    background.reached(5)
    assert Run.objects.request_cancel(background.run.pk)
    run = background.join()
    assert (run.state, run.digest) == (RunState.CANCELLED, "")
    assert run.summary["records_in"] > 0
    assert frame_numbers(run) == list(range(run.frames))
    assert 0 < run.progress < 1


def test_a_frame_that_takes_long_can_be_cancelled_too(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """One frame covers the whole run: the engine is interrupted inside it."""
    document = long_document()
    document["measurement"]["frame_ms"] = 450_000
    inside = inside_a_frame(monkeypatch)
    background = Background(queued(lab, document))
    wait_for(inside.is_set, "the engine to be inside the frame")
    assert Run.objects.request_cancel(background.run.pk)
    run = background.join()
    assert (run.state, run.frames) == (RunState.CANCELLED, 0)


@pytest.mark.slow
def test_shutting_down_gives_the_run_back_and_the_next_attempt_ends_it_with_the_same_digest(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "SNAPSHOT_EVERY_S", 0.1)
    document = small_document(horizon_s=60.0, per_s=40_000)
    background = Background(queued(lab, document))
    background.reached(3)
    execution.SHUTTING_DOWN.set()
    run = background.join()
    assert (run.state, run.losses, run.enqueued_at) == (RunState.QUEUED, 0, None)
    frames_before = len(frame_numbers(run))
    assert 0 < frames_before < 240
    execution.SHUTTING_DOWN.clear()
    run = executed(run)
    assert run.state == RunState.SUCCEEDED
    assert run.digest == engine.run(document).digest
    assert frame_numbers(run) == list(range(240))


def test_a_snapshot_that_cannot_be_read_only_costs_time(lab: Lab) -> None:
    run = queued(lab, small_document())
    run.directory.mkdir(parents=True)
    run.snapshot.write_bytes(b"damaged")
    run = executed(run)
    assert (run.state, run.digest) == (RunState.SUCCEEDED, engine.run(small_document()).digest)


def test_files_younger_than_the_snapshot_are_written_again(lab: Lab) -> None:
    """Killed after the parts were closed and before the snapshot: what follows must hold no frame twice."""
    run = queued(lab, small_document())
    simulation = engine.Simulation(small_document())
    run.directory.mkdir(parents=True)
    for _ in range(3):
        simulation.advance()
    simulation.telemetry.write(run.directory)
    simulation.save(run.snapshot)
    for _ in range(3):
        simulation.advance()
    simulation.telemetry.write(run.directory)
    run = executed(run)
    assert frame_numbers(run) == list(range(8))
    assert len(run.sparkline) == 8
    rows = parquet.read_table(run.directory / "telemetry").select(["frame", "scope", "name", "index"]).to_pylist()
    assert len(rows) == len({tuple(row.values()) for row in rows})


def test_what_a_killed_save_left_goes_with_the_next_attempt_and_was_never_storage(lab: Lab) -> None:
    run, saving = queued(lab, small_document()), engine.Simulation(small_document())
    run.directory.mkdir(parents=True)
    for _ in range(3):
        saving.advance()
    saving.telemetry.write(run.directory)
    before_bytes = bytes_below(run.directory)
    killed_while_saving(saving, run.snapshot)
    (remnant,) = run.directory.glob("snapshot*")
    assert remnant.stat().st_size > 0
    assert bytes_below(run.directory) == before_bytes
    run = executed(run)
    assert (run.state, run.digest) == (RunState.SUCCEEDED, engine.run(small_document()).digest)
    assert not list(run.directory.glob("snapshot*"))
    assert run.stored_bytes == sum(path.stat().st_size for path in run.directory.rglob("*") if path.is_file())


@pytest.mark.slow
def test_a_worker_that_lost_its_lease_writes_nothing_more(lab: Lab) -> None:
    background = Background(queued(lab, long_document()))
    background.reached(3)
    Run.objects.filter(pk=background.run.pk).update(lease_holder="another", t_ns=1, frames=1)
    run = background.join()
    assert (run.state, run.lease_holder, run.t_ns, run.frames) == (RunState.RUNNING, "another", 1, 1)


class DatabaseGone:
    """A server that is killed during a statement and is back at once, so often as `times`."""

    def __init__(self, of: Any, times: int = 1) -> None:
        self.of, self.left, self.met = of, times, 0

    def __call__(self, *args: Any, **named: Any) -> Any:
        if self.left:
            self.left, self.met = self.left - 1, self.met + 1
            raise OperationalError("server closed the connection unexpectedly")
        return self.of(*args, **named)


@pytest.fixture
def outage_is_forgotten() -> Iterator[None]:
    yield
    DATABASE.since_s = None


@pytest.mark.usefixtures("outage_is_forgotten", "outages_take_no_time")
def test_a_database_that_goes_while_a_snapshot_is_due_costs_the_run_nothing(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on, and takes the next one."""
    run = queued(lab, small_document())
    gone = DatabaseGone(Run.objects.renew, times=3)
    monkeypatch.setattr(execution, "SNAPSHOT_EVERY_S", 0.0)
    monkeypatch.setattr(type(Run.objects), "renew", lambda self, *args: gone(*args))
    attempt, stored = execution.Attempt.__init__, list[int]()

    def eager(self: Any, *args: Any) -> None:
        attempt(self, *args)
        self.snapshot_pause_s = 0.0

    saved = engine.Simulation.save

    def save(self: Any, path: Path) -> None:
        stored.append(self.now_ns)
        saved(self, path)

    monkeypatch.setattr(execution.Attempt, "__init__", eager)
    monkeypatch.setattr(engine.Simulation, "save", save)
    run = executed(run)
    assert (run.state, run.error, run.digest) == (RunState.SUCCEEDED, "", engine.run(small_document()).digest)
    assert gone.met == 3
    assert stored, "those after it"
    assert frame_numbers(run) == list(range(8))


@pytest.mark.usefixtures("outage_is_forgotten", "outages_take_no_time")
def test_a_run_whose_start_meets_no_database_begins_again(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    """At once when that is back: nobody has died, so it is not looked for when its lease expires, and no loss is counted."""
    run = queued(lab, small_document())
    gone = DatabaseGone(execution.datasets_of, times=2)
    monkeypatch.setattr(execution, "datasets_of", gone)
    monkeypatch.setattr(outages, "AGAIN_S", 0.001)
    outages.waiting_for_the_database(lambda id: execution.execute(id) and None)(str(run.pk))
    run.refresh_from_db()
    assert (run.state, run.error, run.losses, gone.met) == (RunState.SUCCEEDED, "", 0, 2)


@pytest.mark.usefixtures("outage_is_forgotten")
def test_an_error_of_a_statement_still_fails_the_run(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*args: Any) -> None:
        raise IntegrityError("twice") from sqlite3.IntegrityError("twice")

    monkeypatch.setattr(execution, "datasets_of", wrong)
    run = executed(queued(lab, small_document()))
    assert run.state == RunState.FAILED
    assert "twice" in run.error


def test_a_deleted_data_set_fails_the_run_with_a_sentence(lab: Lab) -> None:
    document = small_document()
    run = queued(lab, document)
    document["workload"]["sources"]["bids"] = {
        "stream": {"kind": "file", "dataset": "gone", "timestamp": "time"},
        "rate": {"kind": "recorded"},
    }
    Run.objects.filter(pk=run.pk).update(document=document)
    run = executed(run)
    assert run.state == RunState.FAILED
    assert "gone" in run.error


def test_an_error_of_the_engine_fails_the_run_with_a_sentence(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Any) -> None:
        raise RuntimeError("a wheel came off")

    monkeypatch.setattr(engine.Simulation, "advance", broken)
    run = executed(queued(lab, small_document()))
    assert run.state == RunState.FAILED
    assert "a wheel came off" in run.error
    assert "Traceback" not in run.error


# --- a full disk --------------------------------------------------------------------------------------------------------------------------


def is_root_with_tmpfs(directory: Path) -> bool:
    return os.geteuid() == 0 and os.system(f"mount -t tmpfs -o size=256k millrace-test {directory} 2>/dev/null") == 0


@pytest.fixture
def tiny_disk(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """A file system of 256 kB that holds the runs."""
    directory = tmp_path / "tiny"
    directory.mkdir()
    if not is_root_with_tmpfs(directory):
        pytest.skip("mounting a small file system needs root; the next test writes the same error without one")
    settings.RUNS_DIR = directory
    yield directory
    os.system(f"umount {directory}")


def test_a_full_disk_fails_the_run_and_keeps_what_was_written(lab: Lab, tiny_disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(execution, "SNAPSHOT_EVERY_S", 0.05)
    run = executed(queued(lab, small_document(horizon_s=60.0, per_s=20_000)))
    assert run.state == RunState.FAILED
    assert "disk is full" in run.error
    assert str(tiny_disk) in run.error
    free = re.search(r"; ([\d,]+) bytes were free there", run.error)
    assert free
    assert int(free[1].replace(",", "")) < 64 * 1024, "measured when it failed, not after unfinished files were removed"
    numbers = frame_numbers(run)
    assert numbers == list(range(len(numbers)))
    assert len(numbers) > 0
    assert not list(run.directory.rglob("*.tmp"))


def test_the_same_error_from_the_operating_system_is_recognised(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("engine.telemetry.files.pq.write_table", full)
    run = executed(queued(lab, small_document()))
    assert run.state == RunState.FAILED
    assert "disk is full" in run.error


def test_an_experiment_is_not_changed_by_its_runs(lab: Lab) -> None:
    run = queued(lab, small_document())
    before = Experiment.objects.get(pk=run.experiment_id).document
    executed(run)
    assert Experiment.objects.get(pk=run.experiment_id).document == before == run.document

"""Paced and paused runs in real worker processes: killed, given back, passed by others. None may lose a frame or change a result."""

from __future__ import annotations

import os
import signal

import pytest
from django.test import Client

from tests.support.patience import PATIENCE_S
from webapp.lab.models import Run, RunState
from webapp.messaging import frame_files as files

from .conftest import RedisProcess, small_document, wait_for
from .executing import Start, assert_as_if_nothing_had_happened, current, ended, parked, paused, submitted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def paced(pace: float | None, seed: int = 1) -> Run:
    """A queued run of 400 frames."""
    run = submitted(small_document(horizon_s=100.0, seed=seed))
    Run.objects.filter(pk=run.pk).update(pace=pace)
    return run


def stored_frames(run: Run) -> int:
    return len(files.frames_after(run.directory, -1, 100_000))


def test_a_worker_obeys(client: Client, start_worker: Start) -> None:
    start_worker()
    run = paced(8.0)
    wait_for(lambda: current(run).frames > 3, "some frames", 60)

    def ask(action: str) -> None:
        assert client.post(f"/api/runs/{run.pk}/{action}", {}, content_type="application/json").status_code == 202

    ask("pause")
    frames = paused(run).frames
    ask("step")
    paused(run, frames + 1)
    ended(paced(None, seed=2))
    parked(run)  # its worker took the other run
    ask("step")
    paused(run, frames + 2)
    ask("resume")
    wait_for(lambda: current(run).frames > frames + 2, "the next frame")
    Run.objects.filter(pk=run.pk).update(pace=None)
    assert_as_if_nothing_had_happened(ended(run))


@pytest.mark.deep
def test_a_worker_killed_while_its_run_is_paused_loses_nothing(start_worker: Start, redis: RedisProcess) -> None:
    """The row, the files and the stream are as far as before when the next worker has the run, even with an empty Redis."""
    first = start_worker()
    run = paced(10.0)
    wait_for(lambda: current(run).frames > 5, "some frames", 60)
    assert Run.objects.pause(run.pk)
    frames = paused(run).frames
    assert run.lease_holder, "it still has its worker"
    assert first.process
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    redis.stop()
    redis.start()
    start_worker()
    wait_for(lambda: stored_frames(run) == frames, "the frames that viewers have seen", 60)
    assert paused(run).frames == frames
    assert Run.objects.resume(run.pk)
    Run.objects.filter(pk=run.pk).update(pace=None)
    assert_as_if_nothing_had_happened(ended(run))


@pytest.mark.deep
def test_a_paused_run_lets_others_pass(start_worker: Start) -> None:
    """With one worker: it is given back, stays paused over the worker's end and the next one's start, and goes on then."""
    worker = start_worker()
    standing = paced(10.0)
    wait_for(lambda: current(standing).frames > 2, "some frames", 60)
    assert Run.objects.pause(standing.pk)
    frames = paused(standing).frames
    passing = paced(None, seed=2)
    assert_as_if_nothing_had_happened(ended(passing))
    assert (current(standing).state, standing.lease_holder, standing.frames) == (RunState.PAUSED, "", frames)
    worker.ask_to_stop()
    assert worker.process
    worker.process.wait(timeout=PATIENCE_S)
    start_worker()
    assert_as_if_nothing_had_happened(ended(paced(None, seed=3)))
    assert (current(standing).state, standing.frames) == (RunState.PAUSED, frames)
    Run.objects.resume(standing.pk)
    Run.objects.filter(pk=standing.pk).update(pace=None)
    assert_as_if_nothing_had_happened(ended(standing))


def test_a_slow_run_is_stored_as_it_goes_and_survives_its_worker(start_worker: Start) -> None:
    first = start_worker()
    run = paced(1.0)
    wait_for(lambda: stored_frames(run) >= 8 and run.snapshot.exists(), "frames in the files", 60)
    stored = stored_frames(run)
    assert stored <= current(run).frames + 3
    assert run.state == RunState.RUNNING, "it was stored before its end"
    assert first.process
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    start_worker()
    wait_for(lambda: current(run).state == RunState.RUNNING and run.frames > stored, "another worker to go on", 60)
    Run.objects.filter(pk=run.pk).update(pace=None)
    assert_as_if_nothing_had_happened(ended(run))

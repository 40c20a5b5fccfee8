"""Real Celery worker processes: killed, stopped, cut off from Redis. Each run must end, with the digest that it would have had."""

from __future__ import annotations

import os
import signal
from typing import Any

import pytest

from tests.support.patience import PATIENCE_S
from webapp.lab.models import Run, RunState
from webapp.lab.people import member
from webapp.lab.waiting_work import enqueue
from webapp.messaging.heartbeats import workers_alive

from .conftest import RedisProcess, new_experiment, new_run, small_document, wait_for
from .executing import Start, assert_as_if_nothing_had_happened, current, ended, submitted

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


def document() -> dict[str, Any]:
    """Takes some seconds (many records, and many frames to write), so that there is a middle in which to kill."""
    return small_document(horizon_s=150.0, per_s=40_000, frame_ms=100)


def in_the_middle(run: Run) -> None:
    """Until there is a snapshot, and something after it."""
    wait_for(lambda: run.snapshot.exists(), "a snapshot", 60)
    frames = current(run).frames
    wait_for(lambda: current(run).frames > frames + 2, "frames after the snapshot")
    assert current(run).state == RunState.RUNNING


def test_a_worker_killed_in_the_middle_changes_no_result(start_worker: Start) -> None:
    first = start_worker()
    run = submitted(document())
    in_the_middle(run)
    assert first.process
    os.kill(first.process.pid, signal.SIGKILL)
    first.process.wait()
    start_worker()
    wait_for(lambda: current(run).state == RunState.RUNNING and current(run).losses == 1, "another worker to take it", 60)
    assert_as_if_nothing_had_happened(ended(run))


def test_a_worker_that_is_told_to_stop_gives_its_run_back(start_worker: Start) -> None:
    first = start_worker()
    run = submitted(document())
    in_the_middle(run)
    first.ask_to_stop()
    assert first.process
    first.process.wait(timeout=PATIENCE_S)
    assert (current(run).state, run.losses) == (RunState.QUEUED, 0)
    frames_before = run.frames
    start_worker()
    wait_for(lambda: current(run).state == RunState.RUNNING, "the next worker", 60)
    assert_as_if_nothing_had_happened(ended(run))
    assert frames_before < run.frames


def test_cancelling_reaches_another_process(start_worker: Start) -> None:
    start_worker()
    run = submitted(document())
    wait_for(lambda: current(run).frames > 3, "some frames", 60)
    assert Run.objects.request_cancel(run.pk)
    assert ended(run).state == RunState.CANCELLED
    assert 0 < run.progress < 1


def test_redis_may_go_and_come_back_without_its_data(start_worker: Start, redis: RedisProcess) -> None:
    """One run is at work and goes on, one waits in the queue and is found again."""
    start_worker()
    working, waiting = submitted(document()), submitted(small_document(seed=2))
    wait_for(lambda: current(working).frames > 3, "some frames", 60)
    redis.stop()
    frames = current(working).frames
    wait_for(lambda: current(working).frames > frames, "frames without Redis")
    assert working.state == RunState.RUNNING
    late = new_run(new_experiment(member("ada").lab, small_document(seed=3)))
    assert not enqueue(late.pk)
    redis.start()
    for run in (working, waiting, late):
        assert_as_if_nothing_had_happened(ended(run))
    wait_for(workers_alive, "the worker's sign of life")


@pytest.mark.deep
def test_two_workers_share_the_work(start_worker: Start) -> None:
    start_worker()
    start_worker()
    runs = [submitted(small_document(horizon_s=60.0, per_s=20_000, seed=seed)) for seed in range(6)]
    for run in runs:
        assert ended(run).state == RunState.SUCCEEDED
    assert len({run.digest for run in runs}) == 6

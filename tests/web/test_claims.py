"""Who holds a run: claims, leases, and what becomes of runs whose worker is gone."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from webapp.lab.models import Experiment, Run, RunState
from webapp.lab.models.work import LOSSES_MAX
from webapp.lab.waiting_work import enqueue
from webapp.lib.redis_connection import connection
from webapp.messaging.queue import QUEUE
from workers import caretaker, identity

from .conftest import ROOT, RedisProcess, new_experiment, new_run, small_document

pytestmark = pytest.mark.django_db


def nobody_is_dead(holder: str) -> bool:
    return False


def claimed(experiment: Experiment, holder: str = "w", expired: bool = False) -> Run:
    run = new_run(experiment)
    assert Run.objects.claim(run.pk, holder)
    if expired:
        Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    run.refresh_from_db()
    return run


@pytest.mark.django_db(transaction=True)
def test_of_eight_workers_one_gets_the_run() -> None:
    from webapp.lab.people import member

    run = new_run(new_experiment(member("ada").lab, small_document()))
    start, results = threading.Barrier(8), []

    def claim(name: str) -> None:
        start.wait()
        results.append((Run.objects.claim(run.pk, name), name))
        connections.close_all()

    threads = [threading.Thread(target=claim, args=(f"w{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [name for won, name in results if won]
    run.refresh_from_db()
    assert (run.state, run.lease_holder) == (RunState.RUNNING, winner)


def test_a_run_is_claimed_once(experiment: Experiment) -> None:
    run = claimed(experiment, "first")
    assert run.started_at
    assert not Run.objects.claim(run.pk, "second")
    assert Run.objects.renew(run.pk, "first")
    assert not Run.objects.renew(run.pk, "second")
    assert not Run.objects.release(run.pk, "second")


@pytest.mark.parametrize("change", [{"state": RunState.CANCELLED}, {"state": RunState.SUCCEEDED}, {"deleted_at": timezone.now()}])
def test_what_is_over_is_not_claimed(experiment: Experiment, change: dict[str, Any]) -> None:
    run = new_run(experiment)
    Run.objects.filter(pk=run.pk).update(**change)
    assert not Run.objects.claim(run.pk, "w")


def test_a_lease_that_runs_out_gives_the_run_back(experiment: Experiment) -> None:
    lost, kept = claimed(experiment, expired=True), claimed(experiment)
    assert [run.pk for run in Run.objects.take_back_lost(nobody_is_dead)] == [lost.pk]
    lost.refresh_from_db()
    kept.refresh_from_db()
    assert (lost.state, lost.losses, lost.lease_holder, lost.enqueued_at) == (RunState.QUEUED, 1, "", None)
    assert kept.state == RunState.RUNNING
    assert not Run.objects.renew(lost.pk, "w"), "the worker that comes back late has lost it"
    assert Run.objects.claim(lost.pk, "another")


def renamed(holder: str, **words: str) -> str:
    """The holder's name with other words in it."""
    names = ("host", "place", "process", "started", "attempt")
    return ":".join((dict(zip(names, holder.split(":"), strict=True)) | words).values())


def holder_in(child: subprocess.Popen[Any]) -> str:
    """The name of an attempt in another process, as it would make it itself."""
    return renamed(identity.new_holder(), process=str(child.pid), started=identity.started(child.pid))


@pytest.fixture
def child() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until its standard input ends."""
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        yield process


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes cannot be told apart here: there is no /proc")


@needs_proc
def test_a_dead_process_of_this_place_is_known_at_once(experiment: Experiment, child: subprocess.Popen[bytes]) -> None:
    holder = holder_in(child)
    assert len(holder) <= Run._meta.get_field("lease_holder").max_length
    run = claimed(experiment, holder)
    assert Run.objects.take_back_lost(identity.is_dead) == []
    child.kill()
    child.wait()
    assert [lost.pk for lost in Run.objects.take_back_lost(identity.is_dead)] == [run.pk]


@needs_proc
def test_another_process_with_the_number_of_a_dead_one_is_not_taken_for_it(child: subprocess.Popen[bytes]) -> None:
    holder = holder_in(child)
    assert not identity.is_dead(holder)
    assert identity.is_dead(renamed(holder, started="1"))
    assert not identity.is_dead(renamed(holder, started="")), "it cannot be known"
    assert not identity.is_dead(renamed(identity.new_holder(), process="1", started=identity.started(1))), "a process of somebody else"


def test_elsewhere_only_the_lease_tells_who_is_gone(experiment: Experiment, child: subprocess.Popen[bytes]) -> None:
    """A process number means nothing in another container, after a restart of the machine, or in a name of an earlier version."""
    child.kill()
    child.wait()
    elsewhere = renamed(holder_in(child), place="0123456789abcdef")
    earlier = f"{identity.HOST[:50]}:{child.pid}:0123456789ab"
    unknown = renamed(holder_in(child), place="")
    runs = [claimed(experiment, holder) for holder in (elsewhere, earlier, unknown)]
    assert Run.objects.take_back_lost(identity.is_dead) == []
    Run.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert {run.pk for run in Run.objects.take_back_lost(identity.is_dead)} == {run.pk for run in runs}


JUDGE = "import sys; from workers import identity; print(identity.is_dead(sys.argv[1]), len(identity.new_holder()) <= 100)"
OTHER_PLACES = {
    "a container": ["--pid", "--fork", "--mount-proc", "--"],
    "a process namespace with the /proc of another": ["--pid", "--fork", "--"],
    "a machine without /proc": ["--mount", "--fork", "--", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"],
}


@pytest.mark.parametrize("place", OTHER_PLACES)
def test_the_living_are_not_seen_as_dead_from_another_place(place: str) -> None:
    """Judged by a process with the same host name, which does not find the number of this one."""
    inside = ["unshare", *OTHER_PLACES[place]]
    if not shutil.which("unshare") or subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
        pytest.skip("namespaces cannot be made here: that needs Linux, unshare and the right to")
    done = subprocess.run([*inside, sys.executable, "-c", JUDGE, identity.new_holder()], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.split() == ["False", "True"], done.stdout + done.stderr


def test_a_run_that_keeps_killing_workers_fails_with_a_reason(experiment: Experiment) -> None:
    run = new_run(experiment)
    for loss in range(1, LOSSES_MAX + 1):
        assert Run.objects.claim(run.pk, f"w{loss}")
        Run.objects.filter(pk=run.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
        Run.objects.take_back_lost(nobody_is_dead)
    run.refresh_from_db()
    assert run.state == RunState.FAILED
    assert "memory" in run.error
    assert run.finished_at


def test_a_cancelled_run_whose_worker_is_gone_ends_as_cancelled(experiment: Experiment) -> None:
    run = claimed(experiment, expired=True)
    assert Run.objects.request_cancel(run.pk)
    Run.objects.take_back_lost(nobody_is_dead)
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_a_run_that_was_cancelled_is_not_given_back_to_the_queue(experiment: Experiment) -> None:
    run = claimed(experiment, "w")
    Run.objects.request_cancel(run.pk)
    assert not Run.objects.release(run.pk, "w")


def test_an_ended_run_cannot_be_cancelled(experiment: Experiment) -> None:
    run = new_run(experiment)
    Run.objects.filter(pk=run.pk).update(state=RunState.SUCCEEDED)
    assert not Run.objects.request_cancel(run.pk)


def test_a_queued_run_that_the_queue_lost_is_queued_again(experiment: Experiment, redis: RedisProcess) -> None:
    run = new_run(experiment)
    assert enqueue(run.pk)
    assert connection().llen(QUEUE) == 1
    redis.stop()
    redis.start()  # without its data
    caretaker.sweep()
    assert connection().llen(QUEUE) == 0, "just handed over: it may be on its way"
    Run.objects.filter(pk=run.pk).update(enqueued_at=timezone.now() - timedelta(minutes=1))
    caretaker.sweep()
    assert connection().llen(QUEUE) == 1


def test_enqueueing_twice_sends_one_message(experiment: Experiment, redis: RedisProcess) -> None:
    run = new_run(experiment)
    assert enqueue(run.pk)
    assert enqueue(run.pk)
    assert connection().llen(QUEUE) == 1

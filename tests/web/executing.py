"""Runs that are executed in this process, in a thread of it, or by real workers."""

from __future__ import annotations

import json
import os
import resource
import signal
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from django.db import connections
from launcher.services import Service

import engine
from tests.support.patience import PATIENCE_S
from webapp.lab.models import Lab, Run, RunState
from webapp.lab.people import member
from webapp.lab.waiting_work import enqueue
from webapp.messaging import frame_history as history
from workers import execution

from .conftest import new_experiment, new_run, wait_for


def queued(lab: Lab, document: dict[str, Any]) -> Run:
    return new_run(new_experiment(lab, document))


def executed(run: Run) -> Run:
    execution.execute(str(run.pk))
    run.refresh_from_db()
    return run


def killed_while_saving(simulation: engine.Simulation, path: Path) -> None:
    """Save in a child process that the kernel kills in the middle of the file: with SIGXFSZ, when the file has 4096 bytes."""
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
            signal.signal(signal.SIGXFSZ, signal.SIG_DFL)  # Python ignores it
            simulation.save(path)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status)
    assert os.WTERMSIG(status) == signal.SIGXFSZ


class Background:
    """Executes a run in a thread."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.thread = threading.Thread(target=self._execute)
        self.thread.start()

    def _execute(self) -> None:
        try:
            execution.execute(str(self.run.pk))
        finally:
            connections.close_all()

    def reached(self, frames: int) -> None:
        wait_for(lambda: Run.objects.values_list("frames", flat=True).get(pk=self.run.pk) >= frames, f"{frames} frames")

    def join(self) -> Run:
        self.thread.join(timeout=PATIENCE_S)
        self.run.refresh_from_db()
        return self.run


def paused(run: Run, frames: int | None = None) -> Run:
    """The run once it stands still (at a frame)."""

    def stands() -> bool:
        run.refresh_from_db()
        return run.state == RunState.PAUSED and frames in (None, run.frames)

    wait_for(stands, f"run to pause at {frames}")
    return run


def parked(run: Run) -> Run:
    """The run once it stands still and has given its worker back."""
    wait_for(lambda: not paused(run).lease_holder, "the worker to be free")
    return run


Start = Callable[[], Service]


@cache
def undisturbed(document_json: str) -> engine.Run:
    """What the same document gives in this process."""
    return engine.run(json.loads(document_json))


def submitted(content: dict[str, Any]) -> Run:
    run = new_run(new_experiment(member("ada").lab, content))
    assert enqueue(run.pk)
    return run


def current(run: Run) -> Run:
    run.refresh_from_db()
    return run


def ended(run: Run) -> Run:
    wait_for(lambda: not current(run).active, "the end of the run", 120)
    return run


def frames_of(run: Run) -> list[Any]:
    """All that were stored or are on their way to the files."""
    return [json.loads(text) for text in history.frames_after(run.pk, run.directory, -1, 100_000)]


def calls_of(monkeypatch: pytest.MonkeyPatch, owner: type, name: str) -> list[Any]:
    """Whose method was called, once for each call from here on."""
    called: list[Any] = []
    method = getattr(owner, name)

    def noted(self: Any, *arguments: Any) -> Any:
        called.append(self)
        return method(self, *arguments)

    monkeypatch.setattr(owner, name, noted)
    return called


def inside_a_frame(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set as soon as a run is in the middle of its first frame and asks whether it may go on."""
    inside, check = threading.Event(), execution.Attempt._check

    def noted(self: execution.Attempt, simulation: engine.Simulation) -> None:
        if 0 < simulation.now_ns < simulation.frame_end_ns and simulation.frame_number == 0:
            inside.set()
        check(self, simulation)

    monkeypatch.setattr(execution.Attempt, "_check", noted)
    return inside


def misses_redis(worker: Service) -> bool:
    """The worker has noticed that Redis is away: it says so in its log."""
    return "Redis cannot be reached" in worker.log.read_text(errors="replace")


def assert_as_if_nothing_had_happened(run: Run) -> None:
    assert (run.state, run.error) == (RunState.SUCCEEDED, "")
    twin = undisturbed(json.dumps(run.document))
    assert run.digest == twin.digest
    assert {**run.summary, "wall_s": 0} == {**twin.summary, "wall_s": 0}
    assert frames_of(run) == twin.frames


class SparkHere:
    """A session of Spark with two cores, whose tasks run in this process."""

    defaultParallelism = 2

    @property
    def sparkContext(self) -> SparkHere:
        return self

    def parallelize(self, items: list[Any], slices: int) -> SparkHere:
        self.items = items
        return self

    def map(self, task: Callable[[Any], Any]) -> SparkHere:
        self.items = [task(item) for item in self.items]
        return self

    def collect(self) -> list[Any]:
        return self.items

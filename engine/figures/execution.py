"""Execution of the runs of a figure's studies."""

from __future__ import annotations

import json
import multiprocessing
import signal
import zlib
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import engine
from engine.spec.base.problems import InvalidExperiment
from engine.spec.rules.validation import Context, load
from engine.spec.study.study import Study
from engine.studies import Answer, Measured, Trial, plan
from engine.studies.plan import TrialId
from engine.workloads.datasets import lookup

RECORDS_MAX = 100_000
Columns = dict[str, list[Any]]


@dataclass(frozen=True)
class Made:
    """The parts of a run that figures use. records: columns of delivered records, by sink. failure: why there is nothing else."""

    summary: dict[str, Any] = field(default_factory=dict)
    packed_frames: bytes = b""
    records: dict[str, Columns] = field(default_factory=dict)
    failure: str = ""

    @property
    def frames(self) -> list[dict[str, Any]]:
        frames: list[dict[str, Any]] = json.loads(zlib.decompress(self.packed_frames)) if self.packed_frames else []
        return frames

    def measured(self, study: Study) -> Measured:
        return Measured({}, failure=self.failure) if self.failure else Measured.of(study, self.summary, lambda: self.frames)


@dataclass(frozen=True)
class Carried:
    """A completed study. runs: by `Trial.key`, all runs its answer is based on."""

    answer: Answer
    runs: dict[str, Made]


DIED = Made(failure="the process of the run died, probably out of memory")

Executor = Callable[[Study, Collection[str]], Carried]
"""Runs a study; also keeps the records of the named sinks."""


def packed(frames: Sequence[str]) -> bytes:
    """Compress frames (JSON) as `Made` stores them."""
    return zlib.compress(f"[{','.join(frames)}]".encode(), 1)


def make(document: dict[str, Any], sinks: Sequence[str], directories: Sequence[Path], on_frame: Callable[[Any], Any] | None = None) -> Made:
    """Execute one run. directories: where to look for data sets. on_frame: called with each live frame; an exception from it ends the
    run."""
    context = Context(datasets=lookup(list(directories)))
    try:
        run = engine.run(load(document, context), keep_outputs=bool(sinks), datasets=context.datasets, on_frame=on_frame)
    except InvalidExperiment as invalid:
        return Made(failure=str(invalid))
    records = {sink: run.outputs(sink).slice(0, RECORDS_MAX).to_pydict() for sink in sinks if sink in run.simulation.sinks}
    return Made(run.summary, packed([json.dumps(frame) for frame in run.frames]), records)


class Here:
    """Executes runs in this process, one after the other. Runs are reused across studies.

    directories: where to look for data sets. told: called with each trial whose run is complete, and the run. known: returns an existing
    run, or None.
    on_frame: called with each live frame; an exception from it ends everything.
    """

    def __init__(
        self,
        directories: Sequence[Path] = (),
        told: Callable[[Trial, Made], Any] = lambda trial, made: None,
        known: Callable[[Trial], Made | None] = lambda trial: None,
        on_frame: Callable[[Any], Any] | None = None,
    ):
        self.directories, self.told, self.known, self.on_frame = tuple(directories), told, known, on_frame
        self.made: dict[str, Made] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to release."""

    def __call__(self, study: Study, sinks: Collection[str] = ()) -> Carried:
        results: dict[TrialId, Measured] = {}
        runs: dict[str, Made] = {}
        while (now := plan(study, results)).answer is None:
            for trial, made in self._all(now.wanted, sorted(sinks)):
                results[trial.id], runs[trial.key] = made.measured(study), made
        return Carried(now.answer, runs)

    def _all(self, trials: Sequence[Trial], sinks: Sequence[str]) -> list[tuple[Trial, Made]]:
        """Return at least one of the trials, with its run."""
        trial = trials[0]
        if not self._has(trial, sinks):
            self.made[trial.key] = make(trial.document, sinks, self.directories, self.on_frame)
            self.told(trial, self.made[trial.key])
        return [(trial, self.made[trial.key])]

    def _has(self, trial: Trial, sinks: Sequence[str]) -> bool:
        made = self.made.get(trial.key)
        if made is None and not sinks and (made := self.known(trial)) is not None:
            self.made[trial.key] = made
        return made is not None and (bool(made.failure) or set(sinks) <= set(made.records))


def _die_quietly() -> None:
    """Ctrl-C reaches all processes of a terminal; leave its handling to the caller."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Processes(Here):
    """Executes runs in parallel in separate processes."""

    def __init__(self, processes: int, *options: Any, **more: Any):
        super().__init__(*options, **more)
        # a forked process would share the caller's connections
        self._pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"), initializer=_die_quietly)
        self._under_way: dict[Future[Made], Trial] = {}

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _all(self, trials: Sequence[Trial], sinks: Sequence[str]) -> list[tuple[Trial, Made]]:
        ready = [trial for trial in trials if self._has(trial, sinks)]
        if ready:
            return [(trial, self.made[trial.key]) for trial in ready]
        sent = {trial.key for trial in self._under_way.values()}
        for trial in trials:
            if trial.key not in sent:
                try:
                    self._under_way[self._pool.submit(make, trial.document, sinks, self.directories)] = trial
                except BrokenProcessPool:
                    self.made[trial.key] = DIED
                    return [(trial, DIED)]
        done, _ = wait(self._under_way, return_when=FIRST_COMPLETED)
        for future in done:
            trial = self._under_way.pop(future)
            try:
                self.made[trial.key] = future.result()
            except BrokenProcessPool:
                self.made[trial.key] = DIED
            self.told(trial, self.made[trial.key])
        return [(trial, self.made[trial.key]) for trial in trials if self._has(trial, sinks)]

"""Corpora, models and measurements that evaluations rest on: found where they are, or made and kept. Needs torch.

Everything has a name that follows from what it is, so whatever is stopped goes on where it was, and evaluations share what they can.
"""

from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, wait
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.corpus import corpora
from engine.corpus.corpora import Corpus, CorpusError
from engine.corpus.experiments import Document
from engine.corpus.fingerprint import fingerprint
from engine.corpus.labels import Labels, measure
from engine.corpus.making import make
from engine.corpus.rows import Row
from engine.costmodels.architecture import Architecture
from engine.costmodels.inference import Trained
from engine.costmodels.storage import load
from engine.costmodels.training import Settings
from engine.spec.base.version import ENGINE_VERSION
from engine.spec.figure.evaluations import Models

from .lessons import Lesson
from .teaching import tasks, teach

LOOK_S = 0.5
CHUNK = 20
"""Runs of one message to a process."""

Told = Callable[[str], None]
"""Told what is going on, often. What it raises ends everything; what was done is kept."""

Observe = Callable[[Document], Any]
"""Runs an experiment. What it returns is kept as JSON."""

Members = dict[str, list[Trained]]
"""By metric."""


class Stock:
    """directory: of all data (corpora/, evaluations/). processes: that work at the same time."""

    def __init__(self, directory: Path, processes: int, told: Told = lambda _: None):
        self.directory, self.processes, self.told = directory, processes, told
        self._rows: dict[Path, list[Row]] = {}

    @property
    def kept(self) -> Path:
        return self.directory / "evaluations"

    # --- corpora ----------------------------------------------------------------------------------------------------------------------

    def corpus(self, draw: str, seed: int, traces: int) -> Path:
        """One with any name, if there is one; else made. Raises CorpusError."""
        wanted = Corpus.of(draw, seed, traces)
        place = self._like(wanted) or self._place(f"{draw.replace('_', '-')}-{seed}-{traces}-{wanted.measured_by[:8]}")
        done = traces - sum(len(wanted.indexes(part)) for part in wanted.missing(place)) if place.exists() else 0
        about = f"{draw.replace('_', ' ')}: {{:,}} of {traces:,} traces"
        self.told(about.format(done))
        for _, labels in make(place, wanted, self.processes):
            done += len(labels)
            self.told(about.format(done))
        return place

    def _like(self, wanted: Corpus) -> Path | None:
        place = self._place("")
        for one in sorted(place.iterdir()) if place.is_dir() else ():
            try:
                if corpora.opened(one) == wanted:
                    return one
            except CorpusError:
                continue
        return None

    def _place(self, name: str) -> Path:
        return self.directory / "corpora" / name

    def rows(self, place: Path) -> list[Row]:
        if place not in self._rows:
            self._rows[place] = list(corpora.rows(place))
        return self._rows[place]

    # --- models -----------------------------------------------------------------------------------------------------------------------

    def models(self, lesson: Lesson, metrics: Sequence[str], models: Models, rate: float = Settings.rate) -> Members:
        """Raises TrainingError, CorpusError."""
        assert models.hidden
        assert models.members
        assert models.epochs
        assert models.batch
        architecture = Architecture(models.hidden, models.hosts, models.passing, models.rounds)
        settings = Settings(architecture, rate, models.batch, models.epochs, logarithmic=models.logarithmic)
        place = self.place_of_models(lesson, models, rate)
        of = tasks(metrics, models.members)
        for progress in teach(lesson, place, of, settings, self.processes):
            at = "trained" if progress.epoch is None else f"epoch {progress.epoch.number}"
            self.told(f"model {progress.task.name}: {at}")
        return {metric: [load(place / task.name).model for task in of if task.metric == metric] for metric in metrics}

    def place_of_models(self, lesson: Lesson, models: Models, rate: float = Settings.rate) -> Path:
        # an ensemble may grow: its members are models of their own
        return self.kept / "models" / lesson.identity(models.model_dump(exclude={"members"}), rate)

    # --- runs -------------------------------------------------------------------------------------------------------------------------

    def measured(self, documents: Sequence[Document], about: str) -> list[Labels]:
        """Labels of experiments, each of a run. about: what they are, in words."""
        return [Labels(**labels) for labels in self.ran(_labels, documents, about, CHUNK)]

    def ran(self, observe: Observe, documents: Sequence[Document], about: str, chunk: int = 1) -> list[Any]:
        """What is observed of a run of each experiment. observe: a function at the top of a module, whose name is part of what is kept.
        chunk: runs of one message to a process."""
        file = self.kept / "measured" / f"{_hash([fingerprint(), ENGINE_VERSION, observe.__qualname__, *documents])}.json"
        if file.exists():
            kept: list[Any] = json.loads(file.read_text())
            return kept
        chunks = [documents[n : n + chunk] for n in range(0, len(documents), chunk)]
        found: dict[int, list[Any]] = {}
        pool = ProcessPoolExecutor(min(self.processes, len(chunks) or 1), mp_context=multiprocessing.get_context("spawn"))
        try:
            under_way: dict[Future[list[Any]], int] = {pool.submit(_observed, observe, each): n for n, each in enumerate(chunks)}
            while under_way:
                for future in wait(under_way, timeout=LOOK_S).done & set(under_way):
                    found[under_way.pop(future)] = future.result()
                self.told(f"{about}: {sum(map(len, found.values())):,} of {len(documents):,} runs")
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        values = [value for n in range(len(chunks)) for value in found[n]]
        keep(file, values)
        return values


def _labels(document: Document) -> dict[str, Any]:
    return asdict(measure(document))


def _observed(observe: Observe, documents: Sequence[Document]) -> list[Any]:
    return [observe(document) for document in documents]


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:24]


def keep(file: Path, value: Any) -> None:
    """As JSON; the file appears whole, or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        temporary.write_text(json.dumps(value))
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)

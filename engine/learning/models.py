"""All models of a corpus, with a report of what they are worth; how far training is can be read at any time. Needs torch."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.costmodels.architecture import Architecture
from engine.costmodels.metrics import METRICS
from engine.costmodels.storage import PROGRESS, REPORT, load
from engine.costmodels.training import Settings
from engine.spec.figure.evaluations import Models

from .lessons import Lesson
from .report import report
from .teaching import FIRST_SEED, Task, tasks, teach


def learn(
    corpus: Path,
    place: Path,
    models: Models,
    processes: int,
    told: Callable[[str], Any],
    metrics: Sequence[str] = tuple(METRICS),
    half: bool = False,
    elsewhere: Callable[[Lesson, Path, Sequence[Task], Settings, bool], None] | None = None,
) -> list[dict[str, Any]]:
    """Train what is not there yet, and write the report. place: directory of the models. told: what is going on, and what it raises ends
    it. elsewhere: trains them in place of processes of this machine. Raises CorpusError, TrainingError, BrokenModel."""
    assert models.hidden
    assert models.members
    assert models.epochs
    architecture = Architecture(models.hidden, models.hosts, models.passing, models.rounds)
    how = Settings(architecture, batch=models.batch or Settings.batch, epochs=models.epochs, logarithmic=models.logarithmic)
    lesson, of = Lesson((corpus,)), tasks(metrics, models.members)
    told("reads the corpus")
    epochs: dict[str, list[dict[str, Any]]] = {}
    done = 0
    if elsewhere is not None:
        elsewhere(lesson, place, of, how, half)
    for progress in teach(lesson, place, of, how, processes, half):
        if progress.epoch is None:
            done += 1
            epochs.pop(progress.task.name, None)
        else:
            epochs.setdefault(progress.task.name, []).append(asdict(progress.epoch))
        _show(place, epochs)
        told(f"{done} of {len(of)} models trained; {_at(progress.task)}: epoch {len(epochs.get(progress.task.name, ()))}")
    (place / PROGRESS).unlink(missing_ok=True)
    parts, found = lesson.parts(), []
    for metric in metrics:
        told(f"tries {METRICS[metric].title.lower()} on the test")
        found.append(report(METRICS[metric], [load(place / task.name).model for task in of if task.metric == metric], parts))
    (place / REPORT).write_text(json.dumps(found, indent=1))
    return found


def _at(task: Task) -> str:
    return f"{METRICS[task.metric].title.lower()}, member {task.seed - FIRST_SEED + 1}"


def _show(place: Path, epochs: dict[str, list[dict[str, Any]]]) -> None:
    place.mkdir(parents=True, exist_ok=True)
    temporary = place / f".{PROGRESS}"
    temporary.write_text(json.dumps(epochs))
    temporary.replace(place / PROGRESS)

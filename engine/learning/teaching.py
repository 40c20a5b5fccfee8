"""Training the models of a corpus: for each cost some members, which differ in their seed alone. What is done already is kept."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty
from typing import Any, NamedTuple

import numpy as np
import torch

from engine.core.random import RandomStream
from engine.corpus import corpora
from engine.costmodels.examples import Examples
from engine.costmodels.metrics import METRICS
from engine.costmodels.storage import BrokenModel, load, save
from engine.costmodels.together import Group
from engine.costmodels.training import Epoch, Model, Settings, TrainingError, resumed, train

from .examples import examples
from .lessons import SPLIT_SEED, Lesson, Parts

FIRST_SEED = 42
"""Of the first member; the others count on."""

LOOK_S = 0.5


class Task(NamedTuple):
    """One model. seed: of its initial weights and of the order of its examples."""

    metric: str
    seed: int

    @property
    def name(self) -> str:
        return f"{self.metric}-{self.seed}"


@dataclass(frozen=True)
class Progress:
    """What has just been learned: an epoch, or None if the model is done."""

    task: Task
    epoch: Epoch | None


def tasks(metrics: Sequence[str], members: int) -> list[Task]:
    return [Task(metric, FIRST_SEED + n) for n in range(members) for metric in metrics]


def teach(lesson: Lesson, models: Path, of: Sequence[Task], settings: Settings, processes: int, half: bool = False) -> Iterator[Progress]:
    """Train the models that are not there yet, in several processes, and yield their progress. Leaving the loop stops the rest. half:
    weights are stored in 16 bits.

    Raises CorpusError, TrainingError.
    """
    for corpus in lesson.corpora:
        corpora.whole(corpus)  # said here; a process that finds it is lost
    facts = lesson.facts()
    todo = [task for task in of if not is_there(models / task.name, facts)]
    if not todo:
        return
    context = multiprocessing.get_context("spawn")
    told: Any = context.Queue()
    pool = ProcessPoolExecutor(min(processes, len(todo)), mp_context=context, initializer=_begin, initargs=(lesson, told))
    try:
        under_way: dict[Future[None], Task] = {pool.submit(_one, task, settings, models / task.name, facts, half): task for task in todo}
        while under_way:
            try:
                yield Progress(*told.get(timeout=LOOK_S))
                continue
            except Empty:
                pass
            for future in [future for future in under_way if future.done()]:
                future.result()
                yield Progress(under_way.pop(future), None)
    except BrokenProcessPool:
        raise TrainingError("a process was lost; the models that were done are kept, so train again, in fewer processes") from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        for process in multiprocessing.active_children():
            process.terminate()


def is_there(directory: Path, facts: dict[str, Any]) -> bool:
    """Whether a model that learned from this is stored there."""
    try:
        return load(directory).facts == facts
    except BrokenModel:
        return False


class _Here:
    """What a process keeps between its models."""

    lesson: Lesson
    parts: Parts
    told: Any


def _begin(lesson: Lesson, told: Any) -> None:
    torch.set_num_threads(1)  # the processes share the cores
    _Here.lesson, _Here.parts, _Here.told = lesson, lesson.parts(), told


def taught(
    lesson: Lesson, parts: Parts, task: Task, settings: Settings, told: Callable[[Epoch], None], group: Group | None = None
) -> Model:
    """One model. parts: those of the lesson. told: each epoch. group: processes that train it together."""
    metric = METRICS[task.metric]
    training, validation = (examples(metric, rows, SPLIT_SEED) for rows in parts[:2])
    if lesson.shuffled:  # also those that choose the epoch: the best of many by true labels would know something of them
        training, validation = _shuffled(training, task.seed), _shuffled(validation, task.seed)
    initial = None if lesson.initial is None else resumed(load(lesson.initial / task.name).model)
    return train(metric, training, validation, settings, task.seed, told, initial, group)


def _one(task: Task, settings: Settings, directory: Path, facts: dict[str, Any], half: bool) -> None:
    model = taught(_Here.lesson, _Here.parts, task, settings, lambda epoch: _Here.told.put((task, epoch)))
    save(directory, model.trained(), facts, [asdict(epoch) for epoch in model.epochs], half)


def _shuffled(of: Examples, seed: int) -> Examples:
    order = np.argsort(RandomStream(seed, "shuffled").words(np.arange(len(of))), kind="stable")
    return Examples(of.graphs, [of.targets[n] for n in order])

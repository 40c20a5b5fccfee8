"""Corpora measured and models trained as Spark tasks: the same files as by processes of one machine, whatever the cluster.

Tasks return bytes, and the driver writes the files, so no executor needs the data directory. What is done is kept.
"""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from engine.corpus.corpora import Corpus, CorpusError, content_of, file_of, start, write
from engine.corpus.fingerprint import fingerprint
from engine.corpus.making import LOSSES_MAX
from engine.costmodels.storage import DESCRIPTION, WEIGHTS, save

from .session import SESSION

log = logging.getLogger(__name__)

Told = Callable[[str], Any]
"""Told what is going on. What it raises ends it."""

Given, Found = TypeVar("Given"), TypeVar("Found")


def make_corpus(directory: Path, corpus: Corpus, told: Told, together: int | None = None) -> None:
    """Make the parts that are missing. together: parts of one job; default: two for each core. Raises CorpusError, SparkUnavailable."""
    missing = start(directory, corpus)
    while missing:
        wave = missing[: together or 2 * _cores()]
        try:
            found = _done(partial(_measured, corpus), wave)
        except Refused as refused:
            raise CorpusError(str(refused)) from None
        for part, content in zip(wave, found, strict=True):
            write(file_of(directory, part), content)
        missing = missing[len(wave) :]
        done = corpus.traces - sum(len(corpus.indexes(part)) for part in missing)
        told(f"{done:,} of {corpus.traces:,} traces")


def _measured(corpus: Corpus, part: int) -> bytes:
    """On an executor."""
    if fingerprint(corpus.draw) != corpus.measured_by:
        raise CorpusError("an executor has another version of the engine; install the same one on all of them")
    return content_of([corpus.row(index) for index in corpus.indexes(part)])


def train(lesson: Any, place: Path, of: Sequence[Any], settings: Any, half: bool, told: Told, together: int = 1) -> None:
    """Train the models that are not there yet, each as a job, and store each when it is done. lesson, of, settings, half: as in
    `engine.learning.teaching.teach`. place: directory of the models. together: processes that train each model, one model after the other.

    Raises CorpusError, TrainingError, SparkUnavailable.
    """
    from engine.costmodels.training import TrainingError
    from engine.learning.teaching import is_there  # needs torch

    facts = lesson.facts()
    todo = [task for task in of if not is_there(place / task.name, facts)]
    told(f"{len(of) - len(todo)} of {len(of)} models")
    if not todo:
        return
    context = SESSION.get().sparkContext
    if together > _cores():
        raise TrainingError(f"{together} processes are to train each model, but Spark has {_cores()} cores; use fewer, or more executors")
    parts = lesson.parts()
    work = partial(_trained, _Here(parts) if together > 1 else context.broadcast(parts), lesson, settings, facts, half)
    pool = ThreadPoolExecutor(1 if together > 1 else _cores())
    try:
        under_way = {
            pool.submit(_shared, work, task, together) if together > 1 else pool.submit(_done, work, [task]): task for task in todo
        }
        for done, future in enumerate(as_completed(under_way), len(of) - len(todo) + 1):
            _store(place / under_way[future].name, future.result()[0])
            told(f"{done} of {len(of)} models")
    except Refused as refused:
        raise TrainingError(str(refused)) from None
    finally:
        pool.shutdown(wait=False, cancel_futures=True)
        context.cancelAllJobs()


def _shared(work: Callable[[Given], Found], task: Given, together: int) -> list[Found]:
    """The model of a task, trained by several processes. Raises Refused."""
    from pyspark.ml.torch.distributor import TorchDistributor

    distributor = TorchDistributor(num_processes=together, local_mode=False, use_gpu=False)
    try:
        found = distributor.run(_answered, work, task)
    except Exception as error:
        raise Refused(f"the processes did not train {task.name} together: {_first_line(error)}") from error
    return _accepted([found])


def _store(directory: Path, files: Mapping[str, bytes]) -> None:
    """The description goes first and comes last: without it there is no model."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / DESCRIPTION).unlink(missing_ok=True)
    for name in (WEIGHTS, DESCRIPTION):
        write(directory / name, files[name])


def _trained(parts: Any, lesson: Any, settings: Any, facts: dict[str, Any], half: bool, task: Any) -> dict[str, bytes]:
    """On an executor."""
    import torch

    from engine.costmodels.together import Together
    from engine.learning.teaching import taught

    torch.set_num_threads(1)
    group = Together() if "TORCHELASTIC_RUN_ID" in os.environ else None
    model = taught(lesson, parts.value, task, settings, lambda epoch: None, group)
    if group is not None:
        group.end()
    with TemporaryDirectory() as directory:
        save(Path(directory), model.trained(), json.loads(json.dumps(facts)), [asdict(epoch) for epoch in model.epochs], half)
        return {name: (Path(directory) / name).read_bytes() for name in (WEIGHTS, DESCRIPTION)}


class Refused(ValueError):
    """Work that cannot be done, whoever tries it; the message says why."""


@dataclass(frozen=True)
class _Here:
    """What processes that train together get in place of a broadcast value, which no executor can hand on."""

    value: Any


@dataclass(frozen=True)
class _No:
    """What an executor answers in place of a result: exceptions reach the driver without their type."""

    why: str


def _answered(work: Callable[[Given], Found], item: Given) -> Found | _No:
    """On an executor."""
    try:
        return work(item)
    except ModuleNotFoundError as error:
        return _No(f"{error.name} is not installed on an executor; install requirements-models.txt on all of them")
    except ValueError as error:  # CorpusError, TrainingError, BrokenModel
        return _No(str(error))


def _done(work: Callable[[Given], Found], items: Sequence[Given]) -> list[Found]:
    """One job, with a task for each item; a job that fails, such as by a lost executor, is tried again. Raises Refused."""
    context = SESSION.get().sparkContext
    for losses in range(LOSSES_MAX + 1):
        try:
            found = context.parallelize(list(items), len(items)).map(partial(_answered, work)).collect()
            break
        except Exception as error:
            if losses == LOSSES_MAX:
                raise Refused(f"{losses + 1} jobs failed, the last one with: {_first_line(error)}") from error
            log.warning("a job failed (%s) and is tried again", _first_line(error))
    return _accepted(found)


def _accepted(found: list[Found | _No]) -> list[Found]:
    kept = []
    for one in found:
        if isinstance(one, _No):
            raise Refused(one.why)
        kept.append(one)
    return kept


def _cores() -> int:
    return int(SESSION.get().sparkContext.defaultParallelism)


def _first_line(error: Exception) -> str:
    """Of what failed on the executor, if Spark quotes it."""
    lines = str(error).splitlines()
    said = next((line for line in lines if PYTHON_ERROR.match(line)), None)
    return (said or (lines or [type(error).__name__])[0])[:300]


PYTHON_ERROR = re.compile(r"(?!org\.apache)[\w.]*(Error|Exception)(: |$)")
"""The line in which a traceback says what was raised."""

"""Corpora measured and models trained as Spark tasks: the same files as by processes of one machine, whatever the cluster.

Tasks return bytes, and the driver writes the files, so no executor needs the data directory. What is done is kept.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from engine.corpus.corpora import Corpus, CorpusError, content_of, file_of, start, write
from engine.corpus.fingerprint import fingerprint
from engine.corpus.making import LOSSES_MAX

from .session import SESSION

log = logging.getLogger(__name__)

Told = Callable[[str], Any]
"""Told what is going on. What it raises ends it."""

Given, Found = TypeVar("Given"), TypeVar("Found")


def make_corpus(directory: Path, corpus: Corpus, told: Told, together: int | None = None) -> None:
    """Make the parts that are missing. together: parts of one job; default: two for each core. Raises CorpusError, SparkUnavailable."""
    missing = start(directory, corpus)
    losses = 0
    while missing:
        wave = missing[: together or 2 * _cores()]
        try:
            found = _each(partial(_measured, corpus), wave)
        except CorpusError:
            raise
        except Exception as error:
            losses += 1
            if losses > LOSSES_MAX:
                raise CorpusError(f"{losses} jobs failed, the last one with: {_first_line(error)}") from error
            log.warning("a job failed (%s); its parts are made again", _first_line(error))
            continue
        for part, content in zip(wave, found, strict=True):
            write(file_of(directory, part), content)
        missing = missing[len(wave) :]
        done = corpus.traces - sum(len(corpus.indexes(part)) for part in missing)
        told(f"{done:,} of {corpus.traces:,} traces")


def _measured(corpus: Corpus, part: int) -> bytes:
    """On an executor."""
    if fingerprint() != corpus.measured_by:
        raise CorpusError("an executor has another version of the engine; install the same one on all of them")
    return content_of([corpus.row(index) for index in corpus.indexes(part)])


def train(lesson: Any, place: Path, of: Sequence[Any], settings: Any, told: Told) -> None:
    """Train the models that are not there yet, each as a task. lesson, of, settings: as in `engine.learning.teaching.teach`. place:
    directory of the models. Raises CorpusError, TrainingError, SparkUnavailable."""
    from engine.learning.teaching import is_there  # needs torch

    facts = lesson.facts()
    todo = [task for task in of if not is_there(place / task.name, facts)]
    told(f"{len(of) - len(todo)} of {len(of)} models")
    parts = SESSION.get().sparkContext.broadcast(lesson.parts()) if todo else None
    for first in range(0, len(todo), _cores()):
        wave = todo[first : first + _cores()]
        found = _each(partial(_trained, parts, lesson, settings, facts), wave)
        for task, files in zip(wave, found, strict=True):
            for name, content in files.items():  # the description comes last: without it there is no model
                (place / task.name).mkdir(parents=True, exist_ok=True)
                write(place / task.name / name, content)
        told(f"{len(of) - len(todo) + first + len(wave)} of {len(of)} models")


def _trained(parts: Any, lesson: Any, settings: Any, facts: dict[str, Any], task: Any) -> dict[str, bytes]:
    """On an executor."""
    import torch

    from engine.costmodels.storage import DESCRIPTION, WEIGHTS, save
    from engine.learning.teaching import taught

    torch.set_num_threads(1)
    model = taught(lesson, parts.value, task, settings, lambda epoch: None)
    with TemporaryDirectory() as directory:
        save(Path(directory), model.trained(), json.loads(json.dumps(facts)), [asdict(epoch) for epoch in model.epochs])
        return {name: (Path(directory) / name).read_bytes() for name in (WEIGHTS, DESCRIPTION)}


def _each(work: Callable[[Given], Found], items: Sequence[Given]) -> list[Found]:
    """A task for each."""
    context = SESSION.get().sparkContext
    found: list[Found] = context.parallelize(list(items), len(items)).map(work).collect()
    return found


def _cores() -> int:
    return int(SESSION.get().sparkContext.defaultParallelism)


def _first_line(error: Exception) -> str:
    """Of what failed on the executor, if Spark quotes it."""
    lines = str(error).splitlines()
    said = next((line.strip() for line in lines if "Error" in line and "org.apache.spark" not in line), None)
    return (said or (lines or [type(error).__name__])[0])[:300]

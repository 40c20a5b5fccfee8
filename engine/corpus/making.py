"""Making a corpus in several processes. A process that is lost costs the part that it was at, which another one makes again."""

from __future__ import annotations

import logging
import multiprocessing
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from .corpora import Corpus, CorpusError, make_part, start, write_card
from .labels import Labels

log = logging.getLogger(__name__)

LOSSES_MAX = 5
"""Pools that may be lost, before something must be wrong with the machine, such as too little memory."""


def make(directory: Path, corpus: Corpus, processes: int) -> Iterator[tuple[int, list[Labels]]]:
    """Make the parts that are missing, and yield each with its labels as it is done. Leaving the loop stops the rest.

    Raises CorpusError.
    """
    missing = start(directory, corpus)
    losses = 0
    while missing:
        with _pool(processes) as pool:
            under_way: dict[Future[list[Labels]], int] = {}
            waiting = iter(list(missing))
            try:
                while True:
                    while len(under_way) < processes and (part := next(waiting, None)) is not None:
                        under_way[pool.submit(_part, directory, corpus, part)] = part
                    if not under_way:
                        break
                    for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                        labels = future.result()
                        part = under_way.pop(future)
                        missing.remove(part)
                        yield part, labels
            except BrokenProcessPool:
                losses += 1
                if losses > LOSSES_MAX:
                    raise CorpusError(f"{losses} processes were lost; use fewer processes, or give the machine more memory") from None
                log.warning("a process was lost; its part is made again")
            finally:
                for future in under_way:
                    future.cancel()


def make_named(directory: Path, seed: int, traces: int, processes: int, told: Callable[[str], Any]) -> dict[str, Any]:
    """Queries and hosts for training. Returns its card: balance and digest. told: what is going on, and what it raises ends it. Raises
    CorpusError."""
    corpus = Corpus.of("training", seed, traces)
    done = traces - sum(len(corpus.indexes(part)) for part in start(directory, corpus))
    told(f"{done:,} of {traces:,} traces")
    for _, labels in make(directory, corpus, processes):
        done += len(labels)
        told(f"{done:,} of {traces:,} traces")
    return write_card(directory)


def _pool(processes: int) -> ProcessPoolExecutor:
    # a forked process would share the caller's connections
    return ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"), initializer=_ignore_interrupts)


def _ignore_interrupts() -> None:
    """Ctrl-C is for the process that started them."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _part(directory: Path, corpus: Corpus, part: int) -> list[Labels]:
    return [row.labels for row in make_part(directory, corpus, part)]

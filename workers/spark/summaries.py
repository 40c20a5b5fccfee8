"""Summaries of many runs: those that are kept are taken, the others made by Spark's executors, a batch at a time.

An executor takes runs by their folders and reads the files itself; what it gives back is a row for each. Each batch is kept as soon as it
is there, so whoever dies in between, or is stopped, has lost a batch at most.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.spec.experiment.spans import Span
from engine.telemetry.summaries import NoFiles, Of, summarise

from .store import Store

BATCH_RUNS = 64
"""For each core, so that a batch takes a second or so."""


@dataclass(frozen=True)
class Wanted:
    """A run that is to be summarised. stamp: changes with what its files say."""

    id: str
    stamp: str
    of: Of


@dataclass(frozen=True)
class Summarised:
    """rows: of the wanted runs, in their order. read: of how many the files were read; the others were known, or
    have no files."""

    rows: list[dict[str, Any]]
    read: int


def summaries(
    session: Callable[[], Any], runs: Sequence[Wanted], span: Span, store: Store, progress: Callable[[float], None] = lambda share: None
) -> Summarised:
    """session: gives the Spark session; asked only if a run is new. progress: is told the share of new runs that are done; what it raises
    ends the work. Raises SparkUnavailable, OSError."""
    known = store.read({run.id: run.stamp for run in runs})
    new = [run for run in runs if run.id not in known]
    done = 0
    while done < len(new):
        context = session().sparkContext
        cores = max(1, int(context.defaultParallelism))
        batch = new[done : done + BATCH_RUNS * cores]
        rows = context.parallelize([(run.id, run.stamp, run.of, span) for run in batch], min(len(batch), cores)).map(row_of).collect()
        store.add(row for row in rows if not row["failure"])  # files that are gone may come back
        known |= {row["run"]: row for row in rows}
        done += len(batch)
        progress(done / len(new))
    return Summarised([known[run.id] for run in runs], sum(not known[run.id]["failure"] for run in new))


def row_of(wanted: tuple[str, str, Of, Span]) -> dict[str, Any]:
    """On an executor: the summary of a run, or why there is none."""
    id, stamp, of, span = wanted
    try:
        return {"run": id, "stamp": stamp, "failure": "", **summarise(of, span)}
    except NoFiles as missing:
        return {"run": id, "stamp": stamp, "failure": str(missing), "buckets": [], "whole": [], "cut": [], "inside": []}

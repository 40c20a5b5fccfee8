"""Summaries of many runs: stored ones are reused, Spark's executors compute the others, batch by batch.

An executor reads the files of runs itself and returns one row per run. Each batch is stored at once, so a worker that dies or is stopped
loses at most one batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.spec.experiment.spans import Span
from engine.telemetry.recorded import NoFiles
from engine.telemetry.summaries import Of, summarise

from .store import Store

BATCH_RUNS = 64
"""Batch size per core, chosen so that a batch takes about one second."""


@dataclass(frozen=True)
class Wanted:
    """A run to summarise. stamp: changes with the contents of its files."""

    id: str
    stamp: str
    of: Of


@dataclass(frozen=True)
class Summarised:
    """rows: of the requested runs, in order. read: number of runs whose files were read; the others were stored, or have no files."""

    rows: list[dict[str, Any]]
    read: int


def summaries(
    session: Callable[[], Any], runs: Sequence[Wanted], span: Span, store: Store, progress: Callable[[float], None] = lambda share: None
) -> Summarised:
    """Return the summaries of runs. session: returns the Spark session; called only for new runs. progress: called with the fraction of new
    runs done; an exception from it ends the work. Raises SparkUnavailable, OSError."""
    known = store.read({run.id: run.stamp for run in runs})
    new = [run for run in runs if run.id not in known]
    done = 0
    while done < len(new):
        context = session().sparkContext
        cores = max(1, int(context.defaultParallelism))
        batch = new[done : done + BATCH_RUNS * cores]
        rows = context.parallelize([(run.id, run.stamp, run.of, span) for run in batch], min(len(batch), cores)).map(row_of).collect()
        store.add(row for row in rows if not row["failure"])  # missing files may come back
        known |= {row["run"]: row for row in rows}
        done += len(batch)
        progress(done / len(new))
    return Summarised([known[run.id] for run in runs], sum(not known[run.id]["failure"] for run in new))


def row_of(wanted: tuple[str, str, Of, Span]) -> dict[str, Any]:
    """On an executor: return the summary of a run, or why there is none."""
    id, stamp, of, span = wanted
    try:
        return {"run": id, "stamp": stamp, "failure": "", **summarise(of, span)}
    except NoFiles as missing:
        return {"run": id, "stamp": stamp, "failure": str(missing), "buckets": [], "whole": [], "cut": [], "inside": []}

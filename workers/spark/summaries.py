"""Summaries of many runs: stored ones are reused, Spark's executors compute the others, batch by batch.

An executor reads the files of runs itself and returns one row per run. Each batch is stored at once, so a worker that dies or is stopped
loses at most one batch.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.spec.experiment.spans import Span
from engine.telemetry.recorded import NoFiles
from engine.telemetry.summaries import Of, summarise
from webapp.reports.summary_store import Store

BATCH_RUNS_MIN, BATCH_RUNS_MAX = 4, 64
"""Batch size per core: the first, and the largest. On an idle machine the largest takes about one second."""
BATCH_S = 1.0
"""Batches grow while they take less than half of it and shrink when they take more than twice as long: progress and cancellation go by
batches, also on a busy machine."""


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
    session: Callable[[], Any],
    runs: Sequence[Wanted],
    span: Span,
    store: Store,
    progress: Callable[[int, int], None] = lambda done, new: None,
) -> Summarised:
    """Return the summaries of runs. session: returns the Spark session; called only for new runs. progress: called at first and after each
    batch with the number of new runs done, and of all new runs; an exception from it ends the work. Raises SparkUnavailable, OSError."""
    known = store.read({run.id: run.stamp for run in runs})
    new = [run for run in runs if run.id not in known]
    done, per_core = 0, BATCH_RUNS_MIN
    progress(0, len(new))
    while done < len(new):
        context = session().sparkContext
        cores = max(1, int(context.defaultParallelism))
        batch = new[done : done + per_core * cores]
        began_s = time.monotonic()
        rows = context.parallelize([(run.id, run.stamp, run.of, span) for run in batch], min(len(batch), cores)).map(row_of).collect()
        store.add(row for row in rows if not row["failure"])  # missing files may come back
        known |= {row["run"]: row for row in rows}
        done += len(batch)
        per_core = next_size(per_core, time.monotonic() - began_s)
        progress(done, len(new))
    return Summarised([known[run.id] for run in runs], sum(not known[run.id]["failure"] for run in new))


def next_size(per_core: int, took_s: float) -> int:
    """Return the size of the next batch per core, from that of the last one and the time it took."""
    if took_s < BATCH_S / 2:
        return min(2 * per_core, BATCH_RUNS_MAX)
    return max(per_core // 2, 1) if took_s > 2 * BATCH_S else per_core


def row_of(wanted: tuple[str, str, Of, Span]) -> dict[str, Any]:
    """On an executor: return the summary of a run, or why there is none."""
    id, stamp, of, span = wanted
    try:
        return {"run": id, "stamp": stamp, "failure": "", **summarise(of, span)}
    except NoFiles as missing:
        return {"run": id, "stamp": stamp, "failure": str(missing), "buckets": [], "whole": [], "cut": [], "inside": []}

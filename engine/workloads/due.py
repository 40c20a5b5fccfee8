"""Expected number of records of a source, without randomness: for budgets and charts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from engine.spec.base.problems import Refusal, refusals_below
from engine.spec.experiment.delays.file import FileDelay
from engine.spec.experiment.rates.file import FileRate
from engine.spec.experiment.rates.recorded import RecordedRate
from engine.spec.experiment.streams import FileStream
from engine.spec.experiment.workload import SourceWorkload
from engine.spec.rules.flow import Datasets

from .arrivals.even import Even
from .arrivals.fixed_times import Recorded
from .curves import RECORD
from .datasets import DatasetInfo
from .rates import curve_of
from .traces import delay_trace, file_times, known


def due(source: SourceWorkload, horizon_ns: int, scale: int, datasets: Datasets) -> Callable[[int], int] | None:
    """Function from a time up to the horizon to the number of simulated records due before it, on average for random arrivals.

    Returns None if the data set is not available. Raises Refusal (path below the source's entry) if the rate has too many steps, or if the
    file of its rates or delays is invalid.
    """
    with refusals_below("disorder"):
        if isinstance(source.disorder, FileDelay) and isinstance(known(source.disorder.dataset, datasets), DatasetInfo):
            delay_trace(source.disorder, datasets)
    rows: int | None = None
    if isinstance(source.stream, FileStream):
        try:
            dataset = datasets(source.stream.dataset)
        except Refusal:
            return None  # reported where the stream's fields are checked
        if dataset is None:
            return None
        rows = dataset.rows
        if isinstance(source.rate, RecordedRate):
            return lambda time_ns: dataset.rows
    with refusals_below("rate"):
        if isinstance(source.rate, FileRate) and not isinstance(known(source.rate.dataset, datasets), DatasetInfo):
            return None
        even = Even(curve_of(source.rate, horizon_ns, datasets), scale)
    return even.count_before if rows is None else lambda time_ns: min(even.count_before(time_ns), rows)


def preview(
    source: SourceWorkload, horizon_ns: int, points: int, datasets: Datasets, zero_ns: int | None = None
) -> list[tuple[float, float]]:
    """(time in s, records per s) in the middle of each of `points` equal parts of the horizon, without randomness; for charts.

    zero_ns: event time 0 of the document (`event_zero_ns`); default: the source's first record.
    Raises Refusal (path below the source's entry) if the rate has too many steps or a file is invalid.
    """
    edges = sorted({horizon_ns * part // points for part in range(points + 1)})
    if isinstance(source.rate, RecordedRate) and isinstance(source.stream, FileStream):
        with refusals_below("stream"):
            recorded = Recorded(file_times(source.stream, datasets, zero_ns), source.rate.speed, horizon_ns)
        due = [recorded.count_before(edge) * RECORD for edge in edges]
    else:
        with refusals_below("rate"):
            curve = curve_of(source.rate, horizon_ns, datasets)
        rows = known(source.stream.dataset, datasets).rows if isinstance(source.stream, FileStream) else None
        due = [curve.area(edge) if rows is None else min(curve.area(edge), rows * RECORD) for edge in edges]
    return [
        ((start + end) / 2e9, (after - before) * 1_000_000_000 // (end - start) / RECORD)
        for (start, end), (before, after) in zip(pairwise(edges), pairwise(due), strict=True)
    ]

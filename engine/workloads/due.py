"""How many records a source is due to have, without chance: for budgets and charts."""

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
    """How many simulated records a source is due to have before a time up to the horizon (on average, where they come at random).

    None when its data set is not at hand. Raises Refusal (path below the source's entry) when the rate is too long, or the file of its
    rates or delays not what it should be.
    """
    with refusals_below("disorder"):
        if isinstance(source.disorder, FileDelay) and isinstance(known(source.disorder.dataset, datasets), DatasetInfo):
            delay_trace(source.disorder, datasets)
    rows: int | None = None
    if isinstance(source.stream, FileStream):
        try:
            dataset = datasets(source.stream.dataset)
        except Refusal:
            return None  # said where the stream's fields are looked at
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
    """(time in s, records per s) in the middle of each of `points` equal parts of the horizon, without chance; for charts.

    zero_ns: what 0 of event time is in the document (`event_zero_ns`); by default the source's first record.
    Raises Refusal (path below the source's entry) when the rate is too long or a file not what it should be.
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

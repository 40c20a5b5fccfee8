"""When records are made: an exact time for each, from the curve of the rate and from how records follow one another at that rate.

Records have numbers 0, 1, 2, ...; every kind answers for any of them at any moment, so that a run can be cut anywhere.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.spec.base.problems import Refusal, refusals_below
from engine.spec.base.units import milliseconds_ns, scaled
from engine.spec.experiment.arrivals import BurstArrivals, EvenArrivals, GammaArrivals, PoissonArrivals
from engine.spec.experiment.delays.file import FileDelay
from engine.spec.experiment.rates.file import FileRate
from engine.spec.experiment.rates.recorded import RecordedRate
from engine.spec.experiment.streams import FileStream
from engine.spec.experiment.workload import SourceWorkload, Workload
from engine.spec.rules.flow import Datasets

from .curves import RECORD, Curve
from .datasets import DatasetInfo
from .rates import curve_of
from .traces import delay_trace, file_times, known


class Arrivals(Protocol):
    """Times of a source operator's records, all partitions together."""

    def count_before(self, time_ns: int) -> int:
        """How many records have a time < time_ns."""
        ...

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        """Times of the records first .. last - 1, non-decreasing. Shape (last - first,)."""
        ...


class Even:
    """Record n comes when the area under the curve has reached n records: at a constant rate, floor(n x 1e9 / rate) ns.

    scale: how many real records one of these stands for; the curve counts real ones.
    """

    def __init__(self, curve: Curve, scale: int = 1):
        self._curve, self._unit = curve, scale * RECORD

    def count_before(self, time_ns: int) -> int:
        return self._curve.count_before(time_ns, self._unit)

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        return self._curve.times_ns(np.arange(first, max(first, last), dtype=np.int64), self._unit)


class Gamma:
    """At random, with independent gaps of a gamma distribution of whole shape; shape 1 is the Poisson process.

    The records are every `shape`-th point of a Poisson process on the area under the curve (`shape` times as steep). That area is cut into
    cells of 64 points on average. How many points a cell has is drawn from the Poisson distribution, by the cell's number, and each point
    lies anywhere in its cell with equal probability, by the point's number; which together is a Poisson process. The counts are added up
    beforehand, so any stretch can be made alone, and no logarithm is needed.
    """

    CELL = 64  # points
    PLACES = 10**9  # of a point, on average: a gap is a whole number of these

    def __init__(self, curve: Curve, shape: int, seed: int, operator_id: str, horizon_ns: int, scale: int = 1):
        self._curve = Curve(curve.starts_ns, [rate * shape for rate in curve.rates], curve.period_ns)
        self._shape, self._unit = shape, scale * RECORD // self.PLACES
        self._points = RandomStream(seed, operator_id, "arrivals")
        cells = self._curve.count_before(horizon_ns, self.CELL * scale * RECORD)
        words = RandomStream(seed, operator_id, "arrivals in a cell").words(np.arange(cells, dtype=np.int64))
        counts = np.searchsorted(poisson_table(self.CELL), words, side="right")
        self._ends: NDArray[np.int64] = np.cumsum(counts, dtype=np.int64)  # by cell: points up to its end

    def count_before(self, time_ns: int) -> int:
        place = self._curve.count_before(time_ns, self._unit)  # the first that does not come before time_ns
        cell = place // (self.CELL * self.PLACES)
        points = self._points_before(min(cell, len(self._ends)))
        if cell < len(self._ends):
            points += int(np.searchsorted(self._places(cell, cell + 1), place))
        return points // self._shape

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        if last <= first:
            return np.empty(0, np.int64)
        first_point, last_point = (first + 1) * self._shape - 1, last * self._shape - 1  # record n is point (n + 1) x shape - 1
        from_cell = int(np.searchsorted(self._ends, first_point, side="right"))
        to_cell = int(np.searchsorted(self._ends, last_point, side="right")) + 1
        skipped = self._points_before(from_cell)
        places = self._places(from_cell, to_cell)[first_point - skipped : last_point - skipped + 1 : self._shape]
        return self._curve.times_ns(places, self._unit)

    def _points_before(self, cell: int) -> int:
        return int(self._ends[cell - 1]) if cell else 0

    def _places(self, from_cell: int, to_cell: int) -> NDArray[np.int64]:
        """Where all points of some cells lie, in ascending order."""
        start, ends = self._points_before(from_cell), self._ends[from_cell:to_cell]
        cells = np.repeat(np.arange(from_cell, to_cell, dtype=np.int64), np.diff(ends, prepend=start))
        places = self._points.below(np.arange(start, int(ends[-1]), dtype=np.int64), self.CELL * self.PLACES)
        places += cells * (self.CELL * self.PLACES)
        places.sort()
        return places


@functools.cache
def poisson_table(mean: int) -> NDArray[np.uint64]:
    """Thresholds: a uniform 64-bit word that is at or above n of them is n events of a Poisson distribution. In integers throughout."""
    one = 1 << 256
    term, total, order = one, 0, 0
    while term:  # e^mean
        total += term
        order += 1
        term = term * mean // order
    share = one * one // total  # e^-mean
    thresholds, below, number = [], 0, 0
    while (threshold := (below + share) >> 192) < (1 << 64) - 1:
        below += share
        thresholds.append(threshold)
        number += 1
        share = share * mean // number
    return np.array(thresholds, np.uint64)


class Bursts:
    """Even records that come together: those due in an interval come at its end."""

    def __init__(self, curve: Curve, every_ns: int, scale: int = 1):
        self._due, self._every_ns = Even(curve, scale), every_ns

    def count_before(self, time_ns: int) -> int:
        return self._due.count_before((time_ns - 1) // self._every_ns * self._every_ns)

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        times = self._due.times_ns(first, last)
        times //= self._every_ns
        times += 1
        times *= self._every_ns
        return times


class Recorded:
    """A file's own times, replayed at a speed.

    places_ns: when each record comes on the clock of event time, non-decreasing, from 0; only those before the horizon are kept.
    speed: seconds of the file in a second of virtual time; rounded to a millionth.
    """

    def __init__(self, places_ns: NDArray[np.int64], speed: float, horizon_ns: int):
        speed_micro = scaled(speed, 1_000_000)
        reached_ns = min(-(-horizon_ns * speed_micro // 1_000_000), 1 << 62)
        kept = places_ns[: int(np.searchsorted(places_ns, reached_ns, side="left"))]
        # floor(place x 1e6 / speed_micro) in two steps of a thousand, so that nothing exceeds 64 bits
        whole, rest = np.divmod(kept, speed_micro)
        for _ in range(2):
            more, rest = np.divmod(rest * 1000, speed_micro)
            whole = whole * 1000 + more
        self._times_ns = whole

    def count_before(self, time_ns: int) -> int:
        return int(np.searchsorted(self._times_ns, time_ns, side="left"))

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        return self._times_ns[first:last]


class Periodic:
    """Several at every whole period, from the first one on."""

    def __init__(self, period_ns: int, each: int):
        self._period_ns, self._each = period_ns, each

    def count_before(self, time_ns: int) -> int:
        return max((time_ns - 1) // self._period_ns, 0) * self._each

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        return (np.arange(first, max(first, last), dtype=np.int64) // self._each + 1) * self._period_ns


def arrivals_of(workload: Workload, operator_id: str, datasets: Datasets) -> Arrivals:
    """The arrivals of a source whose rate is not the file's own. Raises Refusal (path below the source's entry)."""
    source, seed, horizon_ns, scale = workload.sources[operator_id], workload.seed, workload.horizon_ns, workload.scale
    with refusals_below("rate"):
        curve = curve_of(source.rate, horizon_ns, datasets)
    match source.arrivals:
        case EvenArrivals():
            return Even(curve, scale)
        case PoissonArrivals():
            return Gamma(curve, 1, seed, operator_id, horizon_ns, scale)
        case GammaArrivals(shape=shape):
            return Gamma(curve, shape, seed, operator_id, horizon_ns, scale)
        case BurstArrivals(every_ms=every_ms):
            return Bursts(curve, milliseconds_ns(every_ms), scale)


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

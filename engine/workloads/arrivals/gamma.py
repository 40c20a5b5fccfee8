"""The arrivals `gamma`."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.spec.experiment.arrivals.gamma import GammaArrivals

from ..curves import RECORD, Curve
from .base import Arrivals, SourceLoad


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


def arrivals(law: GammaArrivals, load: SourceLoad) -> Arrivals:
    return Gamma(load.curve, law.shape, load.seed, load.operator_id, load.horizon_ns, load.scale)

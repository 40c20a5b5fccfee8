"""The arrivals `bursts`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.spec.experiment.arrivals.bursts import BurstArrivals

from ..curves import Curve
from .base import Arrivals, SourceLoad
from .even import Even


class Bursts:
    """Even arrivals in bursts: the records due in an interval arrive together, at its end."""

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


def arrivals(law: BurstArrivals, load: SourceLoad) -> Arrivals:
    return Bursts(load.curve, law.every_ns, load.scale)

"""The arrivals `even`: an exact time for each record, from the rate curve."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.spec.experiment.arrivals.even import EvenArrivals

from ..curves import RECORD, Curve
from .base import Arrivals, SourceLoad


class Even:
    """Record n arrives when the area under the curve reaches n records: at a constant rate, after floor(n x 1e9 / rate) ns.

    scale: real records per simulated record; the curve counts real records.
    """

    def __init__(self, curve: Curve, scale: int = 1):
        self._curve, self._unit = curve, scale * RECORD

    def count_before(self, time_ns: int) -> int:
        return self._curve.count_before(time_ns, self._unit)

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        return self._curve.times_ns(np.arange(first, max(first, last), dtype=np.int64), self._unit)


def arrivals(law: EvenArrivals, load: SourceLoad) -> Arrivals:
    return Even(load.curve, load.scale)

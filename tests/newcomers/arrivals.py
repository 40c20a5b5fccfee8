"""A law of arrivals from outside the package, all of it in one file: parameters and times."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.units import Integer, quantity
from engine.spec.experiment.arrivals.base import ArrivalLaw
from engine.workloads.arrivals import Arrivals, SourceLoad
from engine.workloads.arrivals.even import Even


class Batches:
    def __init__(self, due: Arrivals, size: int):
        self._due, self._size = due, size

    def count_before(self, time_ns: int) -> int:
        return self._due.count_before(time_ns) // self._size * self._size

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        from_batch, to_batch = first // self._size, -(-last // self._size)
        times = self._due.times_ns(from_batch * self._size, to_batch * self._size)[self._size - 1 :: self._size]
        return np.repeat(times, self._size)[first - from_batch * self._size : last - from_batch * self._size]


class BatchArrivals(ArrivalLaw):
    """Records wait for one another: so many come together as soon as the last of them is due."""

    title: ClassVar[str] = "Batches"
    source: ClassVar[str] = "Newcomer et al., section 14"
    kind: Literal["batches"] = "batches"
    size: Integer = quantity(5, unit="records", ge=1, le=1000, title="Size", description="Records that come together.")

    def arrivals(self, load: SourceLoad) -> Any:
        return Batches(Even(load.curve, load.scale), self.size)

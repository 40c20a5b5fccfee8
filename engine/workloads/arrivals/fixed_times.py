"""Arrivals without a rate: the times of a file, and watermarks of devices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.units import scaled


class Recorded:
    """A file's own times, replayed at a speed.

    places_ns: arrival of each record on the event-time clock, non-decreasing, from 0; only those before the horizon are kept.
    speed: seconds of the file per second of virtual time, rounded to a millionth.
    """

    def __init__(self, places_ns: NDArray[np.int64], speed: float, horizon_ns: int):
        speed_micro = scaled(speed, 1_000_000)
        reached_ns = min(-(-horizon_ns * speed_micro // 1_000_000), 1 << 62)
        kept = places_ns[: int(np.searchsorted(places_ns, reached_ns, side="left"))]
        # floor(place x 1e6 / speed_micro) in two steps of a thousand, to stay within 64 bits
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
    """A fixed number at each multiple of the period, starting with the first."""

    def __init__(self, period_ns: int, each: int):
        self._period_ns, self._each = period_ns, each

    def count_before(self, time_ns: int) -> int:
        return max((time_ns - 1) // self._period_ns, 0) * self._each

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        return (np.arange(first, max(first, last), dtype=np.int64) // self._each + 1) * self._period_ns

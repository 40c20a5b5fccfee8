"""Arrival of records in the log: when they are generated, or after a delay, in order of arrival.

The records that arrive between two times depend only on these times, however the log is divided. A delivery only caches the last requested
time and the records in transit at that time, because requests usually continue from there.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .arrivals import Arrivals
from .delays import Delays

BLOCK = 1 << 14  # records generated at a time


class Delivered(NamedTuple):
    """Records in order of arrival, ties by number: number, time of generation, time of arrival. Shape (n,) each."""

    numbers: NDArray[np.int64]
    made_ns: NDArray[np.int64]
    arrival_ns: NDArray[np.int64]

    def where(self, chosen: NDArray[np.bool_] | NDArray[np.int64]) -> Delivered:
        return Delivered(self.numbers[chosen], self.made_ns[chosen], self.arrival_ns[chosen])


class Delivery(Protocol):
    """The contents of a source operator's logs, over all partitions."""

    def count_before(self, time_ns: int) -> int:
        """Return the number of records that have arrived at times < time_ns."""
        ...

    def between(self, from_ns: int, to_ns: int) -> Delivered:
        """Return the records that arrive at times from_ns <= t < to_ns."""
        ...

    def end_ns(self, horizon_ns: int) -> int:
        """Return when the last record arrives, if that is before the horizon; otherwise the horizon."""
        ...


class AtOnce:
    """Records arrive when they are generated. count: maximum number of records, None if they never end."""

    def __init__(self, arrivals: Arrivals, count: int | None = None):
        self._arrivals, self._count = arrivals, count

    def count_before(self, time_ns: int) -> int:
        due = self._arrivals.count_before(time_ns)
        return due if self._count is None else min(due, self._count)

    def between(self, from_ns: int, to_ns: int) -> Delivered:
        first = self.count_before(from_ns)
        last = max(first, self.count_before(to_ns))
        times_ns = self._arrivals.times_ns(first, last)
        return Delivered(np.arange(first, last, dtype=np.int64), times_ns, times_ns)

    def end_ns(self, horizon_ns: int) -> int:
        if self._count and self.count_before(horizon_ns) == self._count:
            return int(self._arrivals.times_ns(self._count - 1, self._count)[0])
        return horizon_ns


class Late:
    """Records arrive after a delay, so they overtake each other.

    A record is released once all records generated before its arrival are known, so delays need no cap. Records in transit at the horizon
    never arrive.
    """

    def __init__(self, arrivals: Arrivals, delays: Delays):
        self._arrivals = arrivals
        self._handed_out, self._counted = _Way(arrivals, delays), _Way(arrivals, delays)  # each continues from its last request

    def count_before(self, time_ns: int) -> int:
        self._counted.seek(time_ns)
        return self._arrivals.count_before(time_ns) - self._counted.on_it

    def between(self, from_ns: int, to_ns: int) -> Delivered:
        self._handed_out.seek(from_ns)
        return self._handed_out.advance(max(from_ns, to_ns))

    def end_ns(self, horizon_ns: int) -> int:
        return horizon_ns


class _Way:
    """The records in transit at a time: generated but not arrived before it."""

    def __init__(self, arrivals: Arrivals, delays: Delays):
        self._arrivals, self._delays = arrivals, delays
        self._now_ns = 0
        self._waiting = self._made(0, 0)  # by number

    @property
    def on_it(self) -> int:
        return len(self._waiting.numbers)

    def seek(self, to_ns: int) -> None:
        """Move to a time, forwards or backwards."""
        enough_ns = to_ns - self._delays.longest_ns - 1  # records generated before this have arrived before to_ns
        if not enough_ns <= self._now_ns <= to_ns:
            self._now_ns, self._waiting = max(enough_ns, 0), self._made(0, 0)
        self._waiting = self._known(to_ns, to_ns)
        self._now_ns = to_ns

    def advance(self, to_ns: int) -> Delivered:
        """Move forwards to a time, and return the records that arrive before it."""
        known = self._known(to_ns, self._now_ns)
        arrived = known.arrival_ns < to_ns
        self._now_ns, self._waiting = to_ns, known.where(~arrived)
        due = known.where(arrived)
        return due.where(np.argsort(due.arrival_ns, kind="stable"))

    def _known(self, to_ns: int, since_ns: int) -> Delivered:
        """Return the records that are in transit or generated before to_ns, and arrive at since_ns or later; by number."""
        first, last = self._arrivals.count_before(self._now_ns), self._arrivals.count_before(to_ns)
        parts = [self._waiting, *(self._made(start, min(start + BLOCK, last)) for start in range(first, last, BLOCK))]
        parts = [part.where(part.arrival_ns >= since_ns) for part in parts]
        return Delivered(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _made(self, first: int, last: int) -> Delivered:
        numbers = np.arange(first, last, dtype=np.int64)
        made_ns = self._arrivals.times_ns(first, last)
        return Delivered(numbers, made_ns, made_ns + self._delays.of(numbers, made_ns))

"""What a stream gives a feed: its schema, its event times and its words, each as a pure function of the record numbers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.spec.records import RecordSchema
from engine.spec.workload import AnyDisorder, UniformDisorder


class Records(Protocol):
    """The records 0, 1, 2, ... of one source operator, all partitions together, in the order of their append times."""

    @property
    def schema(self) -> RecordSchema:
        """The fields; the columns of `words` are in this order."""
        ...

    @property
    def count(self) -> int | None:
        """How many records there are; None if they never end."""
        ...

    def event_ns(self, first: int, append_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Event times (>= 0) of the records from `first` on, given their append times. Shape (n,)."""
        ...

    def words(self, first: int, event_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The records from `first` on, given their event times: floats by their bits, bools 0/1, strings by code. Shape (n, columns)."""
        ...


class Delays:
    """How far the event time of each record lies behind its place in the stream: zero, or U(0 .. max)."""

    def __init__(self, disorder: AnyDisorder, seed: int, operator_id: str):
        self._max_ns = disorder.max_ns if isinstance(disorder, UniformDisorder) else 0
        self._random = RandomStream(seed, operator_id, "disorder")

    def of(self, numbers: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Delays in ns, max included, by record number; None if all are zero. Shape (n,)."""
        return self._random.below(numbers, self._max_ns + 1) if self._max_ns else None

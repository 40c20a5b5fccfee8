"""What a stream gives a feed: its schema, its event times and its words, each as a pure function of the record numbers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.records import RecordSchema


class Records(Protocol):
    """The records 0, 1, 2, ... of one source operator, all partitions together, in the order in which they are made."""

    @property
    def schema(self) -> RecordSchema:
        """All fields."""
        ...

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that are made, in the order of the columns of `words`."""
        ...

    def event_ns(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Event times (>= 0), given when the records are made. Shape (n,)."""
        ...

    def words(self, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """The records, given their event times: floats by their bits, bools 0/1, strings by code. Shape (n, columns)."""
        ...

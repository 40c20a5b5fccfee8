"""The interface of streams to feeds: schema, event times and words, each as a pure function of the record numbers."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.records import RecordSchema


class Records(Protocol):
    """The records 0, 1, 2, ... of one source operator, over all partitions, in the order of their generation."""

    @property
    def schema(self) -> RecordSchema:
        """All fields."""
        ...

    @property
    def fields(self) -> tuple[str, ...]:
        """The generated fields, in the order of the columns of `words`."""
        ...

    def event_ns(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return event times (>= 0), given the times of generation. Shape (n,)."""
        ...

    def words(self, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the records, given their event times: floats by their bits, bools as 0/1, strings by code. Shape (n, columns).

        Vectors are 0 here: the feed puts their numbers in their place.
        """
        ...

    def vectors(self, field: str, numbers: NDArray[np.int64], event_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the vectors in a field. Shape (n, dimensions)."""
        ...

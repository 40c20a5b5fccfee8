"""Delay laws as pure functions of the numbers of records and of when these are made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.spec.base.units import milliseconds_ns
from engine.spec.experiment.delays.base import DELAY_MAX_MS

LONGEST_NS = milliseconds_ns(DELAY_MAX_MS)


class Delays(Protocol):
    """Delays in ns as a pure function of the record's number and the time at which it is made."""

    longest_ns: int  # maximum

    def of(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return delays from 0 to longest_ns. made_ns: virtual time. Shape (n,) each."""
        ...


class Constant:
    def __init__(self, delay_ns: int):
        self.longest_ns = delay_ns

    def of(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.full(len(numbers), self.longest_ns, np.int64)


class Uniform:
    def __init__(self, shortest_ns: int, longest_ns: int, random: RandomStream):
        self._shortest_ns, self.longest_ns, self._random = shortest_ns, longest_ns, random

    def of(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return self._shortest_ns + self._random.below(numbers, self.longest_ns - self._shortest_ns + 1)


class Drawn:
    """Random draws times a length, rounded down to ns and capped.

    draw: non-negative factors of the length, by record number. most: their upper bound. cap_ms: 0 for no cap.
    """

    def __init__(self, draw: Callable[[NDArray[np.int64]], NDArray[np.float64]], most: float, length_ns: float, cap_ms: float = 0.0):
        self._draw, self._length_ns = draw, length_ns
        self.longest_ns = min(milliseconds_ns(cap_ms) or LONGEST_NS, LONGEST_NS, int(length_ns * most) + 1)

    def of(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.minimum(self._draw(numbers) * self._length_ns, float(self.longest_ns)).astype(np.int64)


class Traced:
    """Delays from the rows of a file.

    random: draw each from all rows; None: use them row by row, restarting after the last one.
    """

    def __init__(self, rows_ns: NDArray[np.int64], random: RandomStream | None):
        self._rows_ns, self._random = rows_ns, random
        self.longest_ns = int(rows_ns.max())

    def of(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        rows = len(self._rows_ns)
        return self._rows_ns[numbers % rows if self._random is None else self._random.below(numbers, rows)]


class Switched:
    """One law for records made before a time, another one from then on; None for no delays."""

    def __init__(self, before: Delays | None, at_ns: int, after: Delays | None):
        self._laws, self._at_ns = (before, after), at_ns
        self.longest_ns = max(0 if law is None else law.longest_ns for law in self._laws)

    def of(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        early, late = (np.zeros(len(numbers), np.int64) if law is None else law.of(numbers, made_ns) for law in self._laws)
        return np.where(made_ns < self._at_ns, early, late)

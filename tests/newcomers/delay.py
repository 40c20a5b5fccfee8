"""A law of delays from outside the package, in one file: every n-th record is late."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.units import Integer, Number, milliseconds_ns, quantity
from engine.spec.experiment.delays.base import Delay, milliseconds


class Every:
    def __init__(self, every: int, delay_ns: int):
        self._every, self.longest_ns = every, delay_ns

    def of(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.where(numbers % self._every == self._every - 1, self.longest_ns, 0)


class EveryDelay(Delay):
    """Every so many records, one is late."""

    title: ClassVar[str] = "Every n-th"
    source: ClassVar[str] = "Newcomer et al., section 9"
    kind: Literal["every"] = "every"
    every: Integer = quantity(10, unit="records", ge=1, le=10**9, title="Every", description="One of so many records is late.")
    delay_ms: Number = milliseconds(100.0, title="Delay", description="Of the record that is late.")

    def delays(self, random: Any, datasets: Any) -> Every:
        return Every(self.every, milliseconds_ns(self.delay_ms))

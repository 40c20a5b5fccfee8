"""The delays of the law `fetch`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.spec.base.units import milliseconds_ns
from engine.spec.experiment.delays.fetch import FetchDelay
from engine.spec.rules.flow import Datasets

from .laws import Delays


class Fetched:
    """Requests reach the broker at a phase and every round trip from then on; what is there by then is back half a round trip later."""

    def __init__(self, round_trip_ns: int, phase_ns: int):
        self._round_trip_ns, self._phase_ns = round_trip_ns, phase_ns
        self.longest_ns = round_trip_ns + round_trip_ns // 2

    def of(self, numbers: NDArray[np.int64], made_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        waits = (self._phase_ns - made_ns) % self._round_trip_ns
        return waits + self._round_trip_ns // 2


def delays(law: FetchDelay, random: RandomStream, datasets: Datasets) -> Delays:
    round_trip_ns = max(1, milliseconds_ns(law.round_trip_ms))
    return Fetched(round_trip_ns, int(random.below(np.zeros(1, np.int64), round_trip_ns)[0]))

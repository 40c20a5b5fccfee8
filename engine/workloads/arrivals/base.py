"""What all arrivals have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..curves import Curve


class Arrivals(Protocol):
    """Times of a source operator's records, all partitions together."""

    def count_before(self, time_ns: int) -> int:
        """How many records have a time < time_ns."""
        ...

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        """Times of the records first .. last - 1, non-decreasing. Shape (last - first,)."""
        ...


@dataclass(frozen=True)
class SourceLoad:
    """What the arrivals of a source are made from, whatever their law.

    curve: the rate of real records, right until horizon_ns. scale: how many real records one of these stands for. seed, operator_id: name
    the random numbers of the source (`RandomStream(seed, operator_id, "arrivals")`).
    """

    curve: Curve
    scale: int
    horizon_ns: int
    seed: int
    operator_id: str

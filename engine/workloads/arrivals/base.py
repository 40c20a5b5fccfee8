"""Interface of all arrivals, and the load that they are built from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..curves import Curve


class Arrivals(Protocol):
    """Times of a source operator's records, all partitions together."""

    def count_before(self, time_ns: int) -> int:
        """Number of records with a time < time_ns."""
        ...

    def times_ns(self, first: int, last: int) -> NDArray[np.int64]:
        """Times of the records first .. last - 1, non-decreasing. Shape (last - first,)."""
        ...


@dataclass(frozen=True)
class SourceLoad:
    """The load from which the arrivals of a source are built, whatever their kind.

    curve: the rate of real records, valid until horizon_ns. scale: real records per simulated record. seed, operator_id: identify the
    random numbers of the source (`RandomStream(seed, operator_id, "arrivals")`).
    """

    curve: Curve
    scale: int
    horizon_ns: int
    seed: int
    operator_id: str

"""Parameters of the arrivals `poisson`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import ArrivalLaw


class PoissonArrivals(ArrivalLaw):
    """Independent arrivals, with exponential gaps at a constant rate, as queueing formulas (M/M/1, M/D/1) assume."""

    title: ClassVar[str] = "Poisson"
    position: ClassVar[int] = 1
    kind: Literal["poisson"] = "poisson"

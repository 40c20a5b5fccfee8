"""Parameters of the arrivals `even`."""

from __future__ import annotations

from typing import ClassVar, Literal

from .base import ArrivalLaw


class EvenArrivals(ArrivalLaw):
    """Evenly spaced: record n arrives when exactly n records are due."""

    title: ClassVar[str] = "Even"
    position: ClassVar[int] = 0
    moves_records: ClassVar[bool] = False
    kind: Literal["even"] = "even"

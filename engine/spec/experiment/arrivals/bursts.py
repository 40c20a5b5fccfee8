"""Parameters of the arrivals `bursts`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number, milliseconds_ns, quantity
from .base import ArrivalLaw


class BurstArrivals(ArrivalLaw):
    """All records of an interval arrive together, at its end."""

    title: ClassVar[str] = "Bursts"
    source: ClassVar[str] = "Siachamis 2024, 2.5 (100 bursts/s) and 3.6 (10 a second)"
    position: ClassVar[int] = 3
    kind: Literal["bursts"] = "bursts"
    every_ms: Number = quantity(10.0, unit="ms", ge=0.001, le=1e9, title="Every", description="Time from burst to burst.")

    @property
    def every_ns(self) -> int:
        return milliseconds_ns(self.every_ms)

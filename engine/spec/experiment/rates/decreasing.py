"""Parameters of the rate `decreasing`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number
from .base import per_second
from .wander import Wander


class DecreasingRate(Wander):
    """A rate that starts near the top and falls, with occasional rises. Each step adds between -top / 21 and top / 28."""

    title: ClassVar[str] = "Decreasing"
    icon: ClassVar[str] = "trending-down"
    position: ClassVar[int] = 6
    kind: Literal["decreasing"] = "decreasing"
    top_per_s: Number = per_second(10_000.0, ge=1, title="Top", description="Rate near which the pattern starts.")

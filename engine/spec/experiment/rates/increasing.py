"""Parameters of the rate `increasing`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number
from .base import per_second
from .wander import Wander


class IncreasingRate(Wander):
    """A rate that starts near zero and grows, with occasional drops. Each step adds between -top / 30 and top / 22."""

    title: ClassVar[str] = "Increasing"
    icon: ClassVar[str] = "trending-up"
    position: ClassVar[int] = 5
    kind: Literal["increasing"] = "increasing"
    top_per_s: Number = per_second(10_000.0, ge=1, title="Top", description="Rate reached after about 140 steps.")

"""Parameters of the delay distribution `exponential`."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Number
from .base import AION, CappedDelay, milliseconds


class ExponentialDelay(CappedDelay):
    """Mostly short delays, rarely very long ones. The standard deviation equals the mean."""

    title: ClassVar[str] = "Exponential"
    source: ClassVar[str] = AION
    position: ClassVar[int] = 3
    kind: Literal["exponential"] = "exponential"
    mean_ms: Number = milliseconds(240.0, title="Mean", description="Mean delay, before the cap.")

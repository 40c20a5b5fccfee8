"""Parameters of the delay distribution `gamma`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number
from .base import AION, CappedDelay, milliseconds


class GammaDelay(CappedDelay):
    """Delays around a mean; a larger shape gives less spread. The coefficient of variation is 1 / sqrt(shape)."""

    title: ClassVar[str] = "Gamma"
    source: ClassVar[str] = AION
    position: ClassVar[int] = 4
    kind: Literal["gamma"] = "gamma"
    mean_ms: Number = milliseconds(240.0, title="Mean", description="Mean delay, before the cap.")
    shape: Number = Field(default=60.0, ge=1, le=1e4, title="Shape", description="1: exponential. Larger values are more regular.")

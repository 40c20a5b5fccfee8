"""Parameters of the delay distribution `lognormal`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number
from .base import CappedDelay, milliseconds


class LognormalDelay(CappedDelay):
    """Log-normal delays: half are shorter than the median, some are many times longer."""

    title: ClassVar[str] = "Log-normal"
    position: ClassVar[int] = 5
    kind: Literal["lognormal"] = "lognormal"
    median_ms: Number = milliseconds(100.0, title="Median", description="Median delay, before the cap.")
    sigma: Number = Field(default=1.0, ge=0, le=4, title="Sigma", description="Standard deviation of the logarithm.")

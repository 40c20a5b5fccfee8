"""Parameters of the noise `lognormal`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number
from .base import Noise


class LognormalNoise(Noise):
    """The logarithm is normal: most services are near the usual cost, some many times longer."""

    title: ClassVar[str] = "Log-normal"
    position: ClassVar[int] = 2
    kind: Literal["lognormal"] = "lognormal"
    cv: Number = Field(default=0.3, ge=0, le=3, title="Variation", description="Standard deviation as a share of the mean.")

"""Parameters of the noise `uniform`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Number
from .base import Noise


class UniformNoise(Noise):
    """Every cost between two bounds around the mean is equally likely."""

    title: ClassVar[str] = "Uniform"
    position: ClassVar[int] = 3
    kind: Literal["uniform"] = "uniform"
    cv: Number = Field(default=0.3, ge=0, le=0.577, title="Variation", description="Standard deviation as a share of the mean.")

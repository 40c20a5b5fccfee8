"""Parameters of the arrivals `gamma`."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.units import Integer
from .base import ArrivalLaw


class GammaArrivals(ArrivalLaw):
    """Gamma-distributed gaps: random, but more regular than Poisson (shape 1). The coefficient of variation is 1 / sqrt(shape)."""

    title: ClassVar[str] = "Gamma gaps"
    source: ClassVar[str] = "Farhat 2020, 4.5 (gaps of shape 2)"
    position: ClassVar[int] = 2
    kind: Literal["gamma"] = "gamma"
    shape: Integer = Field(default=2, ge=1, le=100, title="Shape", description="1 is Poisson; larger is more regular.")

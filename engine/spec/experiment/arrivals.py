"""How records follow one another at a rate."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.units import Integer, Number, quantity
from ..base.variant import Variant


class EvenArrivals(Variant):
    """At equal distances: record n comes when exactly n records are due."""

    title: ClassVar[str] = "Even"
    kind: Literal["even"] = "even"


class PoissonArrivals(Variant):
    """Independent of one another, with exponential gaps at a constant rate: what the formulas of queueing theory (M/M/1, M/D/1) assume."""

    title: ClassVar[str] = "Poisson"
    kind: Literal["poisson"] = "poisson"


class GammaArrivals(Variant):
    """Gaps with a gamma distribution: random, but more regular than Poisson's (shape 1); the relative deviation is 1 / sqrt(shape)."""

    title: ClassVar[str] = "Gamma gaps"
    source: ClassVar[str] = "Farhat 2020, 4.5 (gaps of shape 2)"
    kind: Literal["gamma"] = "gamma"
    shape: Integer = Field(default=2, ge=1, le=100, title="Shape", description="1 is Poisson; larger is more regular.")


class BurstArrivals(Variant):
    """All records of an interval come together, at its end."""

    title: ClassVar[str] = "Bursts"
    source: ClassVar[str] = "Siachamis 2024, 2.5 (100 bursts/s) and 3.6 (10 a second)"
    kind: Literal["bursts"] = "bursts"
    every_ms: Number = quantity(10.0, unit="ms", ge=0.001, le=1e9, title="Every", description="Time from burst to burst.")


AnyArrivals = Annotated[EvenArrivals | PoissonArrivals | GammaArrivals | BurstArrivals, Field(discriminator="kind")]

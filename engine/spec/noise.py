"""How the cost of one service differs from that of the next: chance, and the warm-up of an instance. `engine.noise` lowers these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from .operator import Model
from .units import Integer, Number, scaled
from .variant import Variant


class Noise(Variant):
    """The law of a factor with mean 1, drawn for each service."""


class NoNoise(Noise):
    """Equal work costs the same."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"


class ExponentialNoise(Noise):
    """Mostly short, rarely very long services: the standard deviation is the mean."""

    title: ClassVar[str] = "Exponential"
    kind: Literal["exponential"] = "exponential"


class LognormalNoise(Noise):
    """The logarithm is normal: many services near the usual, some many times longer."""

    title: ClassVar[str] = "Log-normal"
    kind: Literal["lognormal"] = "lognormal"
    cv: Number = Field(default=0.3, ge=0, le=3, title="Variation", description="Standard deviation as a share of the mean.")


class UniformNoise(Noise):
    """Any cost between two bounds around the mean with the same probability."""

    title: ClassVar[str] = "Uniform"
    kind: Literal["uniform"] = "uniform"
    cv: Number = Field(default=0.3, ge=0, le=0.577, title="Variation", description="Standard deviation as a share of the mean.")


AnyNoise = Annotated[NoNoise | ExponentialNoise | LognormalNoise | UniformNoise, Field(discriminator="kind")]


class WarmUp(Model):
    """An instance is slow at first, as long as its code is not compiled: the cost falls linearly to its usual value."""

    factor: Number = Field(default=5.0, ge=1, le=100, title="Factor", description="How many times the usual cost the first record costs.")
    records: Integer = Field(
        default=10_000,
        ge=1,
        le=1_000_000_000,
        title="Records",
        description="After how many of its records an instance is warm.",
    )

    @property
    def extra(self) -> int:
        """What the factor adds to 1, in units of 2^-16."""
        return scaled(self.factor, 1 << 16) - (1 << 16)

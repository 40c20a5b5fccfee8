"""How costs of services differ: chance, drift, and the warm-up of an instance. `engine.lowering.cost_noise` lowers these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.units import Integer, Number, quantity, scaled, seconds_ns
from ..base.variant import Variant


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


class Drift(Variant):
    """The law of a factor that all services of an operator share at a time."""


class NoDrift(Drift):
    """At any time equal work costs the same."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"


class AutoregressiveDrift(Drift):
    """The logarithm of the factor wanders around 0 and forgets where it was: an autoregressive process of first order, one for all
    instances of the operator. What caches, clocks or neighbours do to it for a while. The median factor is 1.
    """

    title: ClassVar[str] = "Autoregressive, AR(1)"
    kind: Literal["ar1"] = "ar1"
    sigma: Number = Field(default=0.06, ge=0, le=0.25, title="Sigma", description="Standard deviation of the factor's logarithm.")
    time_constant_s: Number = quantity(
        30.0, unit="s", ge=0.001, le=1e6, title="Time constant", description="After this long e^-1 of a deviation is left on average."
    )
    step_s: Number = quantity(1.0, unit="s", ge=0.001, le=1e6, title="Step", description="How long a factor holds.")

    @property
    def time_constant_ns(self) -> int:
        return seconds_ns(self.time_constant_s)

    @property
    def step_ns(self) -> int:
        return seconds_ns(self.step_s)


AnyDrift = Annotated[NoDrift | AutoregressiveDrift, Field(discriminator="kind")]


class WarmUp(Variant):
    """How much slower an instance is at first, as long as its code is not compiled."""

    @property
    def extra(self) -> int:
        """What the factor at the start adds to 1, in units of 2^-16."""
        return 0

    def records_of(self, weight: int) -> int:
        """After how many of its records an instance is warm, where each stands for `weight` real ones; 0: it does not depend on them."""
        return 0

    @property
    def span_ns(self) -> int:
        """After what time it is warm; 0: it does not depend on it."""
        return 0


class NoWarmUp(WarmUp):
    """From its first record on an instance is as fast as ever."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"


class WarmUpByRecords(WarmUp):
    """The cost falls linearly to its usual value with the records that an instance has served: code is compiled where it is used."""

    title: ClassVar[str] = "By records"
    kind: Literal["records"] = "records"
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
        return scaled(self.factor, 1 << 16) - (1 << 16)

    def records_of(self, weight: int) -> int:
        return -(-self.records // weight)


class WarmUpByTime(WarmUp):
    """The cost falls linearly to its usual value with the time since the start of the run, or since the host has restarted."""

    title: ClassVar[str] = "By time"
    source: ClassVar[str] = "Costream, 8.1 (calibrated, not measured)"
    kind: Literal["time"] = "time"
    factor: Number = Field(default=2.0, ge=1, le=100, title="Factor", description="How many times the usual cost services cost at first.")
    over_s: Number = quantity(5.0, unit="s", ge=0.000000001, le=1000, title="Over", description="After what time an instance is warm.")

    @property
    def extra(self) -> int:
        return scaled(self.factor, 1 << 16) - (1 << 16)

    @property
    def span_ns(self) -> int:
        return seconds_ns(self.over_s)


AnyWarmUp = Annotated[NoWarmUp | WarmUpByRecords | WarmUpByTime, Field(discriminator="kind")]

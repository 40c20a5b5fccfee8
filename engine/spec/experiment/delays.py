"""How long records are on their way from the device that makes them to the log. `engine.workloads.delays` draws from these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.problems import Refusal
from ..base.units import Integer, Number, quantity
from ..base.variant import Variant
from .uploads import DatasetName, column

KLINK = "Farhat 2020, 3.5"
AION = "Farhat 2020, 4.5"

DELAY_MAX_MS = 1e11


def milliseconds(default: float = ..., *, title: str, description: str) -> float:  # type: ignore[assignment]
    """A field for a delay."""
    delay: float = quantity(default, unit="ms", ge=0, le=DELAY_MAX_MS, title=title, description=description)
    return delay


class Delay(Variant):
    """The law of a source's delays. A record is made at its event time and arrives at the log a delay later; each draws its own."""


class NoDelay(Delay):
    """Records arrive as they are made: event time equals append time."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"


class ConstantDelay(Delay):
    """All records are on their way for the same time, so they stay in order."""

    title: ClassVar[str] = "Constant"
    source: ClassVar[str] = AION
    kind: Literal["constant"] = "constant"
    delay_ms: Number = milliseconds(150.0, title="Delay", description="Of every record.")


class UniformDelay(Delay):
    """Any delay between two bounds with the same probability, both included."""

    title: ClassVar[str] = "Uniform"
    source: ClassVar[str] = KLINK
    kind: Literal["uniform"] = "uniform"
    min_ms: Number = milliseconds(0.0, title="Least", description="Lower end.")
    max_ms: Number = milliseconds(title="Most", description="Upper end.")

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.max_ms < self.min_ms:
            message = f"max_ms is {self.max_ms:g}, below min_ms ({self.min_ms:g}); it must be at least that"
            raise Refusal(message, at=("max_ms",), code="not_ascending", value=self.max_ms)
        return self


class CappedDelay(Delay):
    """A law without an upper end, which a cap may give it: longer delays are cut to the cap."""

    cap_ms: Number = milliseconds(0.0, title="Cap", description="Longest delay; 0 for none.")


class ExponentialDelay(CappedDelay):
    """Mostly short, rarely very long: standard deviation and mean are equal."""

    title: ClassVar[str] = "Exponential"
    source: ClassVar[str] = AION
    kind: Literal["exponential"] = "exponential"
    mean_ms: Number = milliseconds(240.0, title="Mean", description="Mean delay, before the cap.")


class GammaDelay(CappedDelay):
    """Around the mean, the more closely the larger the shape: the relative deviation is 1 / sqrt(shape)."""

    title: ClassVar[str] = "Gamma"
    source: ClassVar[str] = AION
    kind: Literal["gamma"] = "gamma"
    mean_ms: Number = milliseconds(240.0, title="Mean", description="Mean delay, before the cap.")
    shape: Number = Field(default=60.0, ge=1, le=1e4, title="Shape", description="1 is exponential; larger is more regular.")


class LognormalDelay(CappedDelay):
    """Delays whose logarithm is normal: half are shorter than the median, some are many times longer."""

    title: ClassVar[str] = "Log-normal"
    kind: Literal["lognormal"] = "lognormal"
    median_ms: Number = milliseconds(100.0, title="Median", description="Half of the delays are shorter.")
    sigma: Number = Field(default=1.0, ge=0, le=4, title="Sigma", description="Standard deviation of the logarithm.")


class ZipfDelay(Delay):
    """A whole number of steps, k steps with a probability proportional to k^-exponent."""

    title: ClassVar[str] = "Zipf"
    source: ClassVar[str] = KLINK
    kind: Literal["zipf"] = "zipf"
    exponent: Number = Field(default=0.99, ge=0, le=5, title="Exponent", description="0 makes all delays equally probable.")
    ranks: Integer = Field(default=1000, ge=1, le=1_000_000, title="Ranks", description="Most steps that a delay can have.")
    step_ms: Number = milliseconds(1.0, title="Step", description="Length of a step.")


class FileDelay(Delay):
    """Delays from a column of an uploaded data set, row by row and then from the start again, or drawn from it."""

    title: ClassVar[str] = "From a file"
    kind: Literal["file"] = "file"
    dataset: DatasetName
    column: str = column(title="Column", description="Delays in milliseconds.")
    order: Literal["rows", "drawn"] = Field(
        default="rows", title="Order", description="In the order of the rows, or each drawn from all of them."
    )


AnyDelay = Annotated[
    NoDelay | ConstantDelay | UniformDelay | ExponentialDelay | GammaDelay | LognormalDelay | ZipfDelay | FileDelay,
    Field(discriminator="kind"),
]

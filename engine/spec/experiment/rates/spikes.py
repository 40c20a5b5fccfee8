"""Parameters of the rate `spikes`."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.problems import Refusal
from ...base.units import Integer, Number
from .base import SEED, Pattern, per_second, seconds


class SpikesRate(Pattern):
    """A base rate with one spike per period: at the period's start, or at a random position drawn for each period.

    A peak below the base gives dips.
    """

    title: ClassVar[str] = "Spikes"
    icon: ClassVar[str] = "zap"
    position: ClassVar[int] = 4
    kind: Literal["spikes"] = "spikes"
    base_per_s: Number = per_second(1000.0, title="Base", description="Rate outside the spikes.")
    peak_per_s: Number = per_second(5000.0, title="Peak", description="Rate during a spike.")
    every_s: Number = seconds(10.0, ge=0.001, title="Every", description="Length of a period with one spike.")
    duration_s: Number = seconds(1.0, ge=1e-6, title="Duration", description="Duration of a spike.")
    placing: Literal["regular", "random"] = Field(
        default="regular", title="Placing", description="Start of the spike in its period: at the period's start, or uniformly random."
    )
    seed: Integer = SEED

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.duration_s > self.every_s:
            message = f"duration_s is {self.duration_s:g}, longer than every_s ({self.every_s:g}); it must be at most {self.every_s:g}"
            raise Refusal(message, at=("duration_s",), code="spike_too_long", value=self.duration_s)
        return self

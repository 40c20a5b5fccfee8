"""Parameters of the rate `cosine`."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from ...base.problems import Refusal
from ...base.units import Integer, Number
from .base import AUTOSCALERS, SEED, Pattern, per_second, seconds


class CosineRate(Pattern):
    """mean + amplitude x cos(2 pi (t - phase) / period): a smooth daily cycle with its first peak at the phase.

    With a step, the rate is held for that long at its value at the step's start, rounded down to whole records per second. Each step can
    have noise, uniform from -noise to noise, drawn by the algorithm of `java.util.Random` as in the autoscalers' load. Never below zero.
    """

    title: ClassVar[str] = "Cosine"
    icon: ClassVar[str] = "activity"
    source: ClassVar[str] = AUTOSCALERS
    position: ClassVar[int] = 3
    kind: Literal["cosine"] = "cosine"
    mean_per_s: Number = per_second(1000.0, title="Mean", description="Mean rate over a period.")
    amplitude_per_s: Number = per_second(500.0, title="Amplitude", description="Largest deviation from the mean.")
    period_s: Number = seconds(60.0, ge=0.001, title="Period", description="Time from peak to peak.")
    phase_s: Number = seconds(0.0, ge=-1e8, title="Phase", description="Time of the first peak.")
    step_s: Number = seconds(0.0, title="Step", description="How long each rate is held. 0: a smooth curve.")
    noise_per_s: Number = per_second(0.0, title="Noise", description="Largest random deviation of a step from the curve.")
    seed: Integer = SEED

    @model_validator(mode="after")
    def _never_negative(self) -> Self:
        if self.amplitude_per_s > self.mean_per_s:
            message = (
                f"amplitude_per_s is {self.amplitude_per_s:g}, above mean_per_s ({self.mean_per_s:g}), so the rate would be negative; "
                f"it must be at most {self.mean_per_s:g}"
            )
            raise Refusal(message, at=("amplitude_per_s",), code="negative_rate", value=self.amplitude_per_s)
        if self.noise_per_s and not self.step_s:
            message = f"noise_per_s is {self.noise_per_s:g}, but step_s is 0; noise is drawn per step, so set step_s, for example to 60"
            raise Refusal(message, at=("noise_per_s",), code="noise_without_step", value=self.noise_per_s)
        return self

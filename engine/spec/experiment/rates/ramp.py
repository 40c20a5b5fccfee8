"""Parameters of the rate `ramp`."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from ...base.problems import Refusal
from ...base.units import Number
from .base import Pattern, per_second, seconds


class RampRate(Pattern):
    """A rate that changes linearly from one value to another, and is constant before and after."""

    title: ClassVar[str] = "Ramp"
    icon: ClassVar[str] = "trending-up"
    position: ClassVar[int] = 2
    kind: Literal["ramp"] = "ramp"
    from_per_s: Number = per_second(0.0, title="From", description="Rate until the ramp starts.")
    to_per_s: Number = per_second(1000.0, title="To", description="Rate after the ramp's end.")
    start_s: Number = seconds(0.0, title="Start", description="Start of the ramp.")
    end_s: Number = seconds(30.0, title="End", description="End of the ramp.")

    @model_validator(mode="after")
    def _takes_time(self) -> Self:
        if self.end_s <= self.start_s:
            message = f"end_s is {self.end_s:g}, not after start_s ({self.start_s:g}); make it larger, or choose steps for a jump"
            raise Refusal(message, at=("end_s",), code="not_ascending", value=self.end_s)
        return self

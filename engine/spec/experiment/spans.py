"""The part of a run that is summarised, and the criterion for recovery after a fault."""

from __future__ import annotations

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Number, quantity

SECONDS_MAX = 1e8


class Span(Model):
    """A span of virtual time of each run, and the settings for summarising it."""

    from_s: Number | None = quantity(
        None, unit="s", ge=0, le=SECONDS_MAX, title="From", description="Start, in virtual time. Default: the end of the run's warm-up."
    )
    to_s: Number | None = quantity(
        None, unit="s", gt=0, le=SECONDS_MAX, title="To", description="End, in virtual time. Default: the end of the run."
    )
    latency: str = Field(
        default="", max_length=200, title="Latency", description="Name of an additional latency. Default: the primary one."
    )
    factor: Number = Field(
        default=1.5,
        gt=1,
        le=1000,
        title="Recovered within",
        description="Multiple of the p99 latency and driver queue before a fault that counts as recovered.",
    )
    before_s: Number = quantity(
        10, unit="s", gt=0, le=SECONDS_MAX, title="Before", description="Length of the window before a fault that serves as the baseline."
    )
    steady_s: Number = quantity(1, unit="s", ge=0, le=SECONDS_MAX, title="Steady for", description="Time it must stay recovered.")

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Span:
        if self.from_s is not None and self.to_s is not None and self.to_s <= self.from_s:
            message = f"to_s is {self.to_s:g}, but the span begins at from_s {self.from_s:g}; it must be later"
            raise Refusal(message, at=("to_s",), code="out_of_range", value=self.to_s)
        return self

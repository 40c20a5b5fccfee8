"""Over which part of a run something is told, and when a run counts as recovered."""

from __future__ import annotations

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Number, quantity

SECONDS_MAX = 1e8


class Span(Model):
    """A span of virtual time of each run, and what is looked at in it."""

    from_s: Number | None = quantity(
        None, unit="s", ge=0, le=SECONDS_MAX, title="From", description="Virtual time; not given: the end of the run's warm-up."
    )
    to_s: Number | None = quantity(None, unit="s", gt=0, le=SECONDS_MAX, title="To", description="Virtual time; not given: the run's end.")
    latency: str = Field(
        default="", max_length=200, title="Latency", description="Name of one that is measured beside the first; empty: the first."
    )
    factor: Number = Field(
        default=1.5, gt=1, le=1000, title="Recovered within", description="Times the p99 and the driver's queue of before a fault."
    )
    before_s: Number = quantity(10, unit="s", gt=0, le=SECONDS_MAX, title="Before", description="How long before a fault is looked at.")
    steady_s: Number = quantity(1, unit="s", ge=0, le=SECONDS_MAX, title="Steady for", description="So long it has to stay recovered.")

    @model_validator(mode="after")
    def _ends_after_it_begins(self) -> Span:
        if self.from_s is not None and self.to_s is not None and self.to_s <= self.from_s:
            message = f"to_s is {self.to_s:g}, but the span begins at from_s {self.from_s:g}; it must be later"
            raise Refusal(message, at=("to_s",), code="out_of_range", value=self.to_s)
        return self

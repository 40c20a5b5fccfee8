"""What policies have in common that are asked again and again, and the parameters that several of them take."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.operator import Model
from ...base.problems import Refusal
from ...base.units import Integer, Number, quantity, seconds_ns
from .base import PARALLELISM_MAX, Scaling


class MetricTimes(Model):
    """How often metrics are read, and over which spans."""

    scrape_s: Number = quantity(5, unit="s", ge=0.001, le=1e6, title="Scrape", description="From one reading of all gauges to the next.")
    window_s: Number = quantity(
        15, unit="s", ge=0.002, le=1e6, title="Window", description="Span over which policies take means and rates; whole scrapes."
    )
    meter_s: Number = quantity(
        60,
        unit="s",
        ge=0.001,
        le=1e6,
        title="Meter",
        description="Span over which an instance reports its records out per second; whole scrapes.",
    )
    pending_floor_s: Number = quantity(
        0.25, unit="s", ge=0, le=1e6, title="No queue below", description="A topic with less than so much input waiting reports none."
    )
    blocked_floor_ms: Number = quantity(
        20,
        unit="ms/s",
        ge=0,
        le=1000,
        title="Not blocked below",
        description="An instance that was blocked for less reports no backpressure.",
    )

    @model_validator(mode="after")
    def _whole_scrapes(self) -> Self:
        scrape_ns = seconds_ns(self.scrape_s)
        for name, seconds, scrapes in (("window_s", self.window_s, 2), ("meter_s", self.meter_s, 1)):
            if seconds_ns(seconds) % scrape_ns or seconds_ns(seconds) < scrapes * scrape_ns:
                message = f"{name} is {seconds:g}, and a scrape takes place each scrape_s, {self.scrape_s:g}; it must be a multiple of it"
                raise Refusal(message + (", at least twice as long" if scrapes > 1 else ""), at=(name,), code="out_of_range", value=seconds)
        return self


class Looped(Scaling):
    """A policy that is asked again and again, and orders what it wants if that is not what runs."""

    decides_live: ClassVar[bool] = True
    start_s: Number = quantity(120, unit="s", ge=0, le=1e8, title="Begin after", description="Time before the first iteration begins.")
    every_s: Number = quantity(15, unit="s", ge=0.001, le=1e6, title="Iteration", description="From one iteration to the next.")
    cooldown_s: Number = quantity(
        300, unit="s", ge=0, le=1e8, title="Cooldown", description="After the call that orders a rescale: no iteration takes place."
    )
    call_s: Number = quantity(8, unit="s", ge=0, le=1e6, title="Call", description="How long the call lasts that orders a rescale.")
    step_max: Integer | None = quantity(
        15,
        unit="instances",
        ge=1,
        le=PARALLELISM_MAX,
        title="Step",
        description="So many instances more at a time for each operator, at most; not given: any number.",
    )
    metrics: MetricTimes = Field(default=MetricTimes(), title="Metrics", description="What the policy reads is measured so.")

    @property
    def history_s(self) -> float:
        """The longest span over which it reads metrics, s."""
        return max(self.metrics.window_s, self.every_s)

    @property
    def wish_factor(self) -> float:
        """Every parallelism that it wishes is multiplied by this and rounded up."""
        return 1

    @property
    def vetoes_beyond_workers(self) -> bool:
        """Whether a wish for more workers than there are is dropped; else it is scaled to fit."""
        return False

    @model_validator(mode="after")
    def _iterations_see_new_metrics(self) -> Self:
        scrape_s = self.metrics.scrape_s
        if seconds_ns(self.every_s) % seconds_ns(scrape_s):
            message = f"every_s is {self.every_s:g}; it must be a multiple of scrape_s, {scrape_s:g}"
            raise Refusal(f"{message}, so that each iteration sees new metrics", at=("every_s",), code="out_of_range", value=self.every_s)
        return self


PendingRate = Literal["counter_reset", "signed"]


def pending_rate_field() -> Any:
    """How the growth of a queue is taken from readings of its length."""
    description = "As the growth of a counter, for which a queue that drains seems to grow fast (so the artifact has it); or with its sign."
    return Field(default="counter_reset", title="Growth of queues", description=description)


def growth_field(default: float) -> Any:
    description = "A source whose queue grows faster is a bottleneck."
    return quantity(default, unit="records/s", ge=0, le=1e12, title="Growing queue", description=description)


def target_field(default: float, description: str) -> Any:
    return Field(default=default, gt=0, le=1, title="Target", description=description)


def stabilise_field() -> Any:
    description = "The greatest parallelism wished within this span counts: up at once, down with delay."
    return quantity(300, unit="s", ge=0, le=1e8, title="Stabilisation", description=description)


def quiet_field(default: float) -> Any:
    """Of those whose original waits otherwise than the study's loop."""
    description = "After the call that orders a rescale: no iteration takes place."
    return quantity(default, unit="s", ge=0, le=1e8, title="Cooldown", description=description)


def free_step_field() -> Any:
    """Of those whose original knows no greatest step."""
    description = "So many instances more at a time for each operator, at most; not given: any number."
    return quantity(None, unit="instances", ge=1, le=PARALLELISM_MAX, title="Step", description=description)


def slope_field() -> Any:
    return quantity(60, unit="s", ge=0.001, le=1e6, title="Slope", description="The growth of a queue is taken over this span.")


def refuse_unknown_slopes(slope_s: float, scrape_s: float) -> None:
    """Of a span with one reading there is no slope, and every iteration in which it counts would be left out. Raises Refusal."""
    if slope_s < scrape_s:
        message = f"slope_s is {slope_s:g}, less than scrape_s, {scrape_s:g}, so that no growth would ever be known"
        raise Refusal(f"{message}; it must be at least as long", at=("slope_s",), code="out_of_range", value=slope_s)

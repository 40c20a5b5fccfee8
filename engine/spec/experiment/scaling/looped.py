"""Base of policies that decide periodically, and parameters shared by several of them."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.operator import Model
from ...base.problems import Refusal
from ...base.units import ADVANCED, Integer, Number, quantity, seconds_ns
from .base import PARALLELISM_MAX, Scaling


class MetricTimes(Model):
    """How often metrics are scraped, and over which spans they are aggregated."""

    scrape_s: Number = quantity(5, unit="s", ge=0.001, le=1e6, title="Scrape", description="Time between two scrapes of all gauges.")
    window_s: Number = quantity(
        15,
        unit="s",
        ge=0.002,
        le=1e6,
        title="Window",
        description="Span over which policies compute means and rates; a multiple of the scrape interval.",
    )
    meter_s: Number = quantity(
        60,
        unit="s",
        ge=0.001,
        le=1e6,
        title="Meter",
        description="Span over which an instance reports its output rate; a multiple of the scrape interval.",
    )
    pending_floor_s: Number = quantity(
        0.25,
        unit="s",
        ge=0,
        le=1e6,
        title="No queue below",
        description="A topic with a smaller backlog, as time of input, reports an empty queue.",
    )
    blocked_floor_ms: Number = quantity(
        20,
        unit="ms/s",
        ge=0,
        le=1000,
        title="Not blocked below",
        description="An instance blocked for a shorter time reports no backpressure.",
    )

    stolen: Literal["blocked_first", "idle"] = Field(
        default="blocked_first",
        title="Stolen time",
        description="What the time that other threads of a pod take counts as. blocked_first: they run while the instance is blocked, and "
        "only what they take beyond that counts as idle. idle: all of it counts as idle.",
    )

    @model_validator(mode="after")
    def _whole_scrapes(self) -> Self:
        scrape_ns = seconds_ns(self.scrape_s)
        for name, seconds, scrapes in (("window_s", self.window_s, 2), ("meter_s", self.meter_s, 1)):
            if seconds_ns(seconds) % scrape_ns or seconds_ns(seconds) < scrapes * scrape_ns:
                message = f"{name} is {seconds:g}, but scrape_s is {self.scrape_s:g}; {name} must be a multiple of scrape_s"
                raise Refusal(message + (", at least twice as long" if scrapes > 1 else ""), at=(name,), code="out_of_range", value=seconds)
        return self


class Looped(Scaling):
    """A policy that decides periodically, and orders a rescale if the desired parallelism differs from the current one."""

    decides_live: ClassVar[bool] = True
    start_s: Number = quantity(120, unit="s", ge=0, le=1e8, title="Begin after", description="Time before the first iteration.")
    every_s: Number = quantity(15, unit="s", ge=0.001, le=1e6, title="Iteration", description="Time between two iterations.")
    cooldown_s: Number = quantity(
        300, unit="s", ge=0, le=1e8, title="Cooldown", description="Time without iterations after the call that orders a rescale."
    )
    call_s: Number = quantity(
        8, unit="s", ge=0, le=1e6, title="Call", description="Duration of the call that orders a rescale.", advanced=True
    )
    step_max: Integer | None = quantity(
        15,
        unit="instances",
        ge=1,
        le=PARALLELISM_MAX,
        title="Step",
        description="Largest number of instances added per operator at a time. Null: unlimited.",
    )
    metrics: MetricTimes = Field(
        default=MetricTimes(),
        title="Metrics",
        description="How the metrics that the policy reads are measured.",
        json_schema_extra=ADVANCED,
    )

    @property
    def history_s(self) -> float:
        """The longest span over which it reads metrics, in s."""
        return max(self.metrics.window_s, self.every_s)

    @property
    def wish_factor(self) -> float:
        """Every desired parallelism is multiplied by this and rounded up."""
        return 1

    @property
    def vetoes_beyond_workers(self) -> bool:
        """Whether a decision beyond the available instances is dropped; otherwise it is scaled to fit."""
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
    """Field for how the growth rate of a queue is estimated from samples of its length."""
    description = "As a counter's increase, where a draining queue seems to grow fast (as in the artifact), or as a signed difference."
    return Field(default="counter_reset", title="Growth of queues", description=description)


def growth_field(default: float) -> Any:
    description = "Queue growth above which a source counts as a bottleneck."
    return quantity(default, unit="records/s", ge=0, le=1e12, title="Growing queue", description=description)


def target_field(default: float, description: str) -> Any:
    return Field(default=default, gt=0, le=1, title="Target", description=description)


def stabilise_field() -> Any:
    description = "The highest desired parallelism within this span applies: scale-ups act at once, scale-downs are delayed."
    return quantity(300, unit="s", ge=0, le=1e8, title="Stabilisation", description=description)


def quiet_field(default: float) -> Any:
    """Cooldown of policies whose original waits differently from the study's loop."""
    description = "After the call that orders a rescale: no iteration takes place."
    return quantity(default, unit="s", ge=0, le=1e8, title="Cooldown", description=description)


def free_step_field() -> Any:
    """Step of policies whose original has no step limit."""
    description = "Largest number of instances added per operator at a time. Default: unlimited."
    return quantity(None, unit="instances", ge=1, le=PARALLELISM_MAX, title="Step", description=description)


def slope_field() -> Any:
    return quantity(60, unit="s", ge=0.001, le=1e6, title="Slope", description="Span over which the growth of a queue is measured.")


def refuse_unknown_slopes(slope_s: float, scrape_s: float) -> None:
    """Raise Refusal if the span holds a single sample: it has no slope, and iterations that need one would be skipped."""
    if slope_s < scrape_s:
        message = f"slope_s is {slope_s:g}, below scrape_s ({scrape_s:g}), so no growth would ever be known"
        raise Refusal(f"{message}; it must be at least scrape_s", at=("slope_s",), code="out_of_range", value=slope_s)

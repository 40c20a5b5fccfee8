"""How fast records are made over time, and how they follow one another at that rate. `engine.workloads` makes times from these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number, quantity
from ..base.variant import Variant
from .uploads import DatasetName, column

AUTOSCALERS = "Siachamis 2024, 4.5; the authors' load generator"


def per_second(default: float = ..., *, title: str, description: str, ge: float = 0) -> float:  # type: ignore[assignment]
    """A field for a rate."""
    rate: float = quantity(default, unit="records/s", ge=ge, le=1e9, title=title, description=description)
    return rate


def seconds(default: float = ..., *, title: str, description: str, ge: float = 0) -> float:  # type: ignore[assignment]
    """A field for a time or a length of time."""
    time: float = quantity(default, unit="s", ge=ge, le=1e8, title=title, description=description)
    return time


SEED = Field(
    default=1066, ge=0, le=2**47 - 1, title="Seed", description="Of the pattern alone: the load stays the same over the run's seeds."
)


class Rate(Variant):
    """How many records a second are made for one source operator, all its partitions together."""


class ConstantRate(Rate):
    """The same rate all the time."""

    title: ClassVar[str] = "Constant"
    icon: ClassVar[str] = "minus"
    kind: Literal["constant"] = "constant"
    per_s: Number = per_second(1000.0, title="Rate", description="Records per second of virtual time.")


class Step(Model):
    at_s: Number = seconds(title="From", description="Virtual time from which the rate holds.")
    per_s: Number = per_second(title="Rate", description="Records per second of virtual time.")


class StepsRate(Rate):
    """A rate that jumps at given times. Before the first step there are no records."""

    title: ClassVar[str] = "Steps"
    icon: ClassVar[str] = "bar-chart"
    kind: Literal["steps"] = "steps"
    steps: tuple[Step, ...] = Field(
        min_length=1, max_length=10_000, title="Steps", description="Times in ascending order, each with its rate."
    )

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        for position in range(1, len(self.steps)):
            before, here = self.steps[position - 1].at_s, self.steps[position].at_s
            if here <= before:
                message = f"at_s is {here:g}, not after the step before it ({before:g}); steps must be in ascending order"
                raise Refusal(message, at=("steps", position, "at_s"), code="not_ascending", value=here)
        return self


class RampRate(Rate):
    """A rate that goes from one value to another in a straight line, and is constant before and after."""

    title: ClassVar[str] = "Ramp"
    icon: ClassVar[str] = "trending-up"
    kind: Literal["ramp"] = "ramp"
    from_per_s: Number = per_second(0.0, title="From", description="Rate until the ramp begins.")
    to_per_s: Number = per_second(1000.0, title="To", description="Rate from the ramp's end on.")
    start_s: Number = seconds(0.0, title="Start", description="When the ramp begins.")
    end_s: Number = seconds(30.0, title="End", description="When the ramp ends.")

    @model_validator(mode="after")
    def _takes_time(self) -> Self:
        if self.end_s <= self.start_s:
            message = f"end_s is {self.end_s:g}, not after start_s ({self.start_s:g}); make it larger, or use steps for a jump"
            raise Refusal(message, at=("end_s",), code="not_ascending", value=self.end_s)
        return self


class CosineRate(Rate):
    """mean + amplitude x cos(2 pi (t - phase) / period): a smooth day and night; the first peak is at the phase.

    With a step the rate is held for that long, at its value at the step's start, rounded down to whole records per second; then it may have
    noise, uniform from -noise to noise, drawn with the generator of `java.util.Random` as in the autoscalers' load. Never below zero.
    """

    title: ClassVar[str] = "Cosine"
    icon: ClassVar[str] = "activity"
    source: ClassVar[str] = AUTOSCALERS
    kind: Literal["cosine"] = "cosine"
    mean_per_s: Number = per_second(1000.0, title="Mean", description="Mean rate over a period.")
    amplitude_per_s: Number = per_second(500.0, title="Amplitude", description="Largest deviation from the mean.")
    period_s: Number = seconds(60.0, ge=0.001, title="Period", description="Time from peak to peak.")
    phase_s: Number = seconds(0.0, ge=-1e8, title="Phase", description="Time of the first peak.")
    step_s: Number = seconds(0.0, title="Step", description="How long a rate is held; 0 for a smooth curve.")
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
            message = (
                f"noise_per_s is {self.noise_per_s:g}, but step_s is 0; noise is drawn for each step, so give step_s a length (60, say)"
            )
            raise Refusal(message, at=("noise_per_s",), code="noise_without_step", value=self.noise_per_s)
        return self


class SpikesRate(Rate):
    """A base rate with a spike in every period: at its start, or somewhere in it, drawn anew for each period.

    A peak below the base makes dips.
    """

    title: ClassVar[str] = "Spikes"
    icon: ClassVar[str] = "zap"
    kind: Literal["spikes"] = "spikes"
    base_per_s: Number = per_second(1000.0, title="Base", description="Rate outside the spikes.")
    peak_per_s: Number = per_second(5000.0, title="Peak", description="Rate during a spike.")
    every_s: Number = seconds(10.0, ge=0.001, title="Every", description="Length of a period; each has one spike.")
    duration_s: Number = seconds(1.0, ge=1e-6, title="Duration", description="How long a spike lasts.")
    placing: Literal["regular", "random"] = Field(
        default="regular", title="Placing", description="Where in its period a spike begins: at the start, or uniformly drawn."
    )
    seed: Integer = SEED

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.duration_s > self.every_s:
            message = f"duration_s is {self.duration_s:g}, longer than every_s ({self.every_s:g}); it must be at most {self.every_s:g}"
            raise Refusal(message, at=("duration_s",), code="spike_too_long", value=self.duration_s)
        return self


class Wander(Rate):
    """What the patterns of whole records per second that change by chance from step to step share."""

    source: ClassVar[str] = AUTOSCALERS
    step_s: Number = seconds(60.0, ge=0.001, title="Step", description="How long a rate is held.")
    seed: Integer = SEED


class IncreasingRate(Wander):
    """A rate that starts near zero and grows, with setbacks: each step adds between -top / 30 and top / 22."""

    title: ClassVar[str] = "Increasing"
    icon: ClassVar[str] = "trending-up"
    kind: Literal["increasing"] = "increasing"
    top_per_s: Number = per_second(10_000.0, ge=1, title="Top", description="What the rate comes to in about 140 steps.")


class DecreasingRate(Wander):
    """A rate that starts near the top and falls, with rallies: each step adds between -top / 21 and top / 28."""

    title: ClassVar[str] = "Decreasing"
    icon: ClassVar[str] = "trending-down"
    kind: Literal["decreasing"] = "decreasing"
    top_per_s: Number = per_second(10_000.0, ge=1, title="Top", description="Where the rate starts.")


class RandomWalkRate(Wander):
    """A rate that changes at each step by something between -change and change, and stays between two bounds."""

    title: ClassVar[str] = "Random walk"
    icon: ClassVar[str] = "activity"
    kind: Literal["random_walk"] = "random_walk"
    start_per_s: Number = per_second(5000.0, title="Start", description="Rate of the first step.")
    change_per_s: Number = per_second(2000.0, title="Change", description="Largest change from one step to the next.")
    min_per_s: Number = per_second(0.0, title="Least", description="The rate is not below this.")
    max_per_s: Number = per_second(10_000.0, title="Most", description="The rate is not above this.")

    @model_validator(mode="after")
    def _has_room(self) -> Self:
        if self.max_per_s < self.min_per_s:
            message = f"max_per_s is {self.max_per_s:g}, below min_per_s ({self.min_per_s:g}); it must be at least that"
            raise Refusal(message, at=("max_per_s",), code="not_ascending", value=self.max_per_s)
        if not self.min_per_s <= self.start_per_s <= self.max_per_s:
            message = (
                f"start_per_s is {self.start_per_s:g}; it must be at least min_per_s ({self.min_per_s:g}) "
                f"and at most max_per_s ({self.max_per_s:g})"
            )
            raise Refusal(message, at=("start_per_s",), code="out_of_range", value=self.start_per_s)
        return self


class FileRate(Rate):
    """Rates from an uploaded data set of times and rates: each row's rate holds until the next row's time, the last one for ever.

    Times are timestamps, counted from the first row's, or plain numbers of seconds, as they are; they must ascend.
    """

    title: ClassVar[str] = "From a file"
    icon: ClassVar[str] = "file"
    kind: Literal["file"] = "file"
    dataset: DatasetName
    time: str = column(title="Time column", description="Timestamps, or seconds.")
    rate: str = column(title="Rate column", description="Records per second from that time on.")
    speed: Number = quantity(1.0, unit="x", ge=1e-6, le=1e9, title="Speed", description="How many seconds of the file pass in one second.")
    factor: Number = quantity(1.0, unit="x", ge=1e-6, le=1e6, title="Factor", description="By which the file's rates are multiplied.")


class RecordedRate(Rate):
    """The file's own times, n times as fast. Only for files."""

    title: ClassVar[str] = "As recorded"
    icon: ClassVar[str] = "rewind"
    kind: Literal["recorded"] = "recorded"
    speed: Number = quantity(
        1.0, unit="x", ge=1e-6, le=1e9, title="Speed", description="How many seconds of the file pass in one second of virtual time."
    )


class SwitchedRate(Rate):
    """One pattern until a moment, another from then on; each as if it had held from the start. What a fork with another load has."""

    title: ClassVar[str] = "Switched"
    icon: ClassVar[str] = "split"
    kind: Literal["switched"] = "switched"
    before: AnyPattern = Field(default_factory=ConstantRate, title="Before", description="The pattern until then.")
    at_s: Number = seconds(30.0, title="At", description="Virtual time from which the other pattern holds.")
    after: AnyPattern = Field(default_factory=ConstantRate, title="After", description="The pattern from then on.")


AnyPattern = Annotated[
    ConstantRate | StepsRate | RampRate | CosineRate | SpikesRate | IncreasingRate | DecreasingRate | RandomWalkRate | SwitchedRate,
    Field(discriminator="kind"),
]
"""A rate that the document alone says."""

SwitchedRate.model_rebuild()


def steps_of(rate: Rate) -> tuple[Step, ...]:
    """The jumps of a rate that goes in steps, or that is switched from such a rate or a constant one to another; none of others."""
    if not isinstance(rate, SwitchedRate):
        return rate.steps if isinstance(rate, StepsRate) else ()
    before, after = (
        (Step(at_s=0, per_s=part.per_s),) if isinstance(part, ConstantRate) else steps_of(part) for part in (rate.before, rate.after)
    )
    if not before or not after:
        return ()
    then = next((step.per_s for step in reversed(after) if step.at_s <= rate.at_s), 0.0)
    return (
        *(step for step in before if step.at_s < rate.at_s),
        Step(at_s=rate.at_s, per_s=then),
        *(step for step in after if step.at_s > rate.at_s),
    )


AnyRate = Annotated[
    ConstantRate
    | StepsRate
    | RampRate
    | CosineRate
    | SpikesRate
    | IncreasingRate
    | DecreasingRate
    | RandomWalkRate
    | SwitchedRate
    | FileRate
    | RecordedRate,
    Field(discriminator="kind"),
]


# How records follow one another


class EvenArrivals(Variant):
    """At equal distances: record n comes when exactly n records are due."""

    title: ClassVar[str] = "Even"
    kind: Literal["even"] = "even"


class PoissonArrivals(Variant):
    """Independent of one another, with exponential gaps at a constant rate: what the formulas of queueing theory (M/M/1, M/D/1) assume."""

    title: ClassVar[str] = "Poisson"
    kind: Literal["poisson"] = "poisson"


class GammaArrivals(Variant):
    """Gaps with a gamma distribution: random, but more regular than Poisson's (shape 1); the relative deviation is 1 / sqrt(shape)."""

    title: ClassVar[str] = "Gamma gaps"
    source: ClassVar[str] = "Farhat 2020, 4.5 (gaps of shape 2)"
    kind: Literal["gamma"] = "gamma"
    shape: Integer = Field(default=2, ge=1, le=100, title="Shape", description="1 is Poisson; larger is more regular.")


class BurstArrivals(Variant):
    """All records of an interval come together, at its end."""

    title: ClassVar[str] = "Bursts"
    source: ClassVar[str] = "Siachamis 2024, 2.5 (100 bursts/s) and 3.6 (10 a second)"
    kind: Literal["bursts"] = "bursts"
    every_ms: Number = quantity(10.0, unit="ms", ge=0.001, le=1e9, title="Every", description="Time from burst to burst.")


AnyArrivals = Annotated[EvenArrivals | PoissonArrivals | GammaArrivals | BurstArrivals, Field(discriminator="kind")]

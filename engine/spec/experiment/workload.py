"""Input of the sources: streams, rates, delays and watermarks. `engine.workloads` generates the records from these models."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.family import kind_of
from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number, milliseconds_ns, quantity, seconds_ns
from ..base.variant import Variant
from .arrivals import AnyArrivals
from .arrivals.even import EvenArrivals
from .delays import AnyDelay
from .delays.none import NoDelay
from .generation import AnyGeneration, OpenLoop
from .rates import AnyRate
from .rates.recorded import RecordedRate
from .retention import AnyRetention, KeepAll
from .streams import AnyStream, FileStream


class NoWatermarks(Variant):
    """The source emits no watermarks; event-time windows downstream never close."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"


class PeriodicWatermarks(Variant):
    """Base of periodic watermarks."""

    lag_ms: Number = quantity(0.0, unit="ms", ge=0, le=1e11, title="Lag", description="Lateness up to which a record is not dropped.")
    period_ms: Number = quantity(1000.0, unit="ms", ge=0.001, le=1e11, title="Period", description="Time between two watermarks.")

    @property
    def lag_ns(self) -> int:
        return milliseconds_ns(self.lag_ms)

    @property
    def period_ns(self) -> int:
        return milliseconds_ns(self.period_ms)


class BoundedWatermarks(PeriodicWatermarks):
    """Emitted every period: the largest event time served so far, minus the lag. Correct if no record is later than the lag."""

    title: ClassVar[str] = "Bounded lateness"
    kind: Literal["bounded"] = "bounded"


class DeviceWatermarks(PeriodicWatermarks):
    """Emitted by the devices every period: the device time, minus the lag. Watermarks travel to the log of every partition like records,
    each with its own delay, so they can overtake records and each other. Correct if no delay exceeds the lag.
    """

    title: ClassVar[str] = "From the devices"
    source: ClassVar[str] = "Farhat 2020, 2.2 and 3.5"
    kind: Literal["device"] = "device"


AnyWatermarks = Annotated[NoWatermarks | BoundedWatermarks | DeviceWatermarks, Field(discriminator="kind")]


class SourceWorkload(Model):
    """Input of one source operator: its stream, rate, delays and watermarks."""

    stream: AnyStream = Field(title="Stream", description="Kind of records.")
    rate: AnyRate = Field(title="Rate", description="Rate at which records are generated, all partitions together.")
    arrivals: AnyArrivals = Field(default=EvenArrivals(), title="Arrivals", description="Arrival process at that rate.")
    disorder: AnyDelay = Field(default=NoDelay(), title="Delay", description="Delay of each record from its device to the log.")
    watermarks: AnyWatermarks = Field(
        default=NoWatermarks(), title="Watermarks", description="How the source signals progress in event time."
    )

    partitions: Integer | None = Field(
        default=None,
        ge=1,
        le=32_768,
        title="Partitions",
        description="Number of log partitions, at least one per instance. Default: one per instance.",
    )
    retention: AnyRetention = Field(default=KeepAll(), title="Retention", description="How long the log keeps unread records.")
    generation: AnyGeneration = Field(
        default=OpenLoop(), title="Generation", description="Open loop (at the given rate) or coordinated (on demand)."
    )

    @model_validator(mode="after")
    def _recorded_needs_a_file(self) -> Self:
        if isinstance(self.rate, RecordedRate) and not isinstance(self.stream, FileStream):
            stream = kind_of(type(self.stream))
            message = f"rate 'recorded' needs a file, but the stream is '{stream}'; choose constant, steps or another rate"
            raise Refusal(message, at=("rate", "kind"), code="recorded_without_file", value="recorded")
        return self

    @model_validator(mode="after")
    def _files_have_no_devices(self) -> Self:
        if isinstance(self.watermarks, DeviceWatermarks) and isinstance(self.stream, FileStream):
            message = "watermarks are of kind 'device', but the stream is a file, which has no devices; choose bounded"
            raise Refusal(message, at=("watermarks", "kind"), code="device_of_file", value="device")
        return self

    @model_validator(mode="after")
    def _coordinated_fits_its_input(self) -> Self:
        if isinstance(self.generation, OpenLoop):
            return self
        if isinstance(self.stream, FileStream):
            why = "the stream is a file of existing records; choose open, or a generated stream"
        elif isinstance(self.watermarks, DeviceWatermarks):
            why = "the watermarks come from devices, which emit them independently; choose open, or bounded watermarks"
        elif not isinstance(self.retention, KeepAll):
            why = "retention drops records by age, and no record waits here; choose open, or keep all"
        else:
            return self
        raise Refusal(f"generation is 'coordinated', but {why}", at=("generation", "kind"), code="not_coordinated", value="coordinated")

    @model_validator(mode="after")
    def _recorded_has_its_own_times(self) -> Self:
        if isinstance(self.rate, RecordedRate) and self.arrivals.moves_records:
            kind = kind_of(type(self.arrivals))
            message = f"arrivals are '{kind}', but rate 'recorded' uses the file's own times; omit arrivals or choose another rate"
            raise Refusal(message, at=("arrivals", "kind"), code="recorded_arrivals", value=kind)
        return self


class Workload(Model):
    """The input of the run, and its length."""

    seed: Integer = Field(default=1, ge=0, le=2**53 - 1, title="Seed", description="Root of every random draw.")
    scale: Integer = Field(
        default=1,
        ge=1,
        le=1_000_000,
        title="Scale",
        description="Number of real records per simulated one. Rates count real records.",
    )
    horizon_s: Number = quantity(
        30.0, unit="s", ge=0.001, le=1e8, title="Horizon", description="Virtual time during which records are appended."
    )
    warmup_s: Number = quantity(
        0.0, unit="s", ge=0, le=1e8, title="Warm-up", description="Initial part of the run that the summary ignores."
    )
    drain: bool = Field(default=False, strict=True, title="Drain", description="Continue after the horizon until all work is done.")
    drain_limit_s: Number = quantity(
        60.0, unit="s", ge=0, le=1e8, title="Drain limit", description="Longest time to continue after the horizon."
    )
    sources: dict[str, SourceWorkload] = Field(
        default_factory=dict, title="Sources", description="One entry per source operator, by operator id."
    )

    @model_validator(mode="after")
    def _recorded_times_are_not_scaled(self) -> Self:
        for id, source in self.sources.items():
            if self.scale > 1 and isinstance(source.rate, RecordedRate):
                message = f"scale is {self.scale}, but the rate of '{id}' is the file's own and cannot be scaled; choose another rate"
                raise Refusal(message, at=("scale",), code="recorded_scaled", value=self.scale)
        return self

    @model_validator(mode="after")
    def _something_is_measured(self) -> Self:
        if self.warmup_s >= self.horizon_s:
            message = (
                f"warmup_s is {self.warmup_s:g}, not below horizon_s ({self.horizon_s:g}), so nothing would be measured; make it smaller"
            )
            raise Refusal(message, at=("warmup_s",), code="warmup_too_long", value=self.warmup_s)
        return self

    @property
    def horizon_ns(self) -> int:
        return seconds_ns(self.horizon_s)

    @property
    def end_ns(self) -> int:
        """Latest possible end of the run."""
        return self.horizon_ns + (self.drain_limit_ns if self.drain else 0)

    @property
    def warmup_ns(self) -> int:
        return seconds_ns(self.warmup_s)

    @property
    def drain_limit_ns(self) -> int:
        return seconds_ns(self.drain_limit_s)


def variants(union: Any) -> tuple[type[Variant], ...]:
    """The models of a tagged union written as `Annotated[A | B, ...]` (or a single annotated model)."""
    choice = union.__args__[0] if hasattr(union, "__metadata__") else union
    return tuple(getattr(choice, "__args__", (choice,)))

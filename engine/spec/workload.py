"""What the sources read: streams, rates, delays and watermarks. `engine.workloads` generates the records from these models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from .delays import AnyDelay, NoDelay
from .operator import Model
from .problems import Refusal, suggestion
from .rates import AnyArrivals, AnyRate, EvenArrivals, RecordedRate
from .records import RecordField, RecordSchema
from .units import Integer, Number, milliseconds_ns, quantity, seconds_ns
from .variant import Variant


@dataclass(frozen=True)
class DatasetInfo:
    """What validation must know of an uploaded file.

    schema: its columns. timestamps: the columns that can serve as event time, best first. rows: how many records it has.
    """

    schema: RecordSchema
    timestamps: tuple[str, ...]
    rows: int


def unknown_dataset(name: str) -> Refusal:
    """What is wrong with the field `dataset` when there is none of that name."""
    message = f"dataset '{name}' is unknown; upload it or choose another"
    return Refusal(message, at=("dataset",), code="unknown_dataset", value=name)


# Streams


class Stream(Variant):
    """What the records are. `record_schema` says their fields; for generated streams it is fixed."""

    schema_fixed: ClassVar[RecordSchema | None] = None

    def record_schema(self, dataset: DatasetInfo | None = None) -> RecordSchema:
        """Fields of the stream's records; a file needs its `dataset`. Raises `Refusal` (path below the stream)."""
        assert self.schema_fixed is not None
        return self.schema_fixed


NEXMARK = "Siachamis 2024, 3.6; Apache Beam's NexMark defaults"


class NexmarkStream(Stream):
    """One of NexMark's three topics.

    The field `extra` of the benchmark is padding: it counts in the accounting size and is not carried as a field.
    """

    group: ClassVar[str] = "NexMark"
    source: ClassVar[str] = NEXMARK

    hot_ratio: Number = Field(
        default=0.0,
        ge=0,
        le=1,
        title="Hot ratio",
        description="Share of the records that refer to one hot seller, bidder or auction; 0 is uniform.",
    )


class NexmarkPerson(NexmarkStream):
    """People who register at the auction site; 200 bytes each. Their state is one of AZ, CA, ID, OR, WA, WY."""

    title: ClassVar[str] = "NexMark persons"
    icon: ClassVar[str] = "user"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        200, id="int", name="string", email="string", card="string", city="string", state="string", time="timestamp"
    )
    kind: Literal["nexmark_person"] = "nexmark_person"


class NexmarkAuction(NexmarkStream):
    """Auctions that open; 500 bytes each. A hot auction's seller is the hot person."""

    title: ClassVar[str] = "NexMark auctions"
    icon: ClassVar[str] = "gavel"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        500,
        id="int",
        item="string",
        description="string",
        initial_bid="int",
        reserve="int",
        time="timestamp",
        expires="timestamp",
        seller="int",
        category="int",
    )
    kind: Literal["nexmark_auction"] = "nexmark_auction"


class NexmarkBid(NexmarkStream):
    """Bids on auctions; 100 bytes each. Bidder and auction are hot independently of one another."""

    title: ClassVar[str] = "NexMark bids"
    icon: ClassVar[str] = "coins"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(100, auction="int", bidder="int", price="int", time="timestamp")
    kind: Literal["nexmark_bid"] = "nexmark_bid"


class FileStream(Stream):
    """The rows of an uploaded file, in the order of their timestamps."""

    title: ClassVar[str] = "Uploaded file"
    icon: ClassVar[str] = "file"
    kind: Literal["file"] = "file"
    dataset: str = Field(min_length=1, max_length=200, title="Data set", description="Name of the uploaded data set.")
    timestamp: str = Field(min_length=1, max_length=200, title="Timestamp column", description="The column that holds the event time.")
    columns: tuple[str, ...] | None = Field(
        default=None, title="Columns", description="The columns to read, in this order; all of them when not given."
    )

    def record_schema(self, dataset: DatasetInfo | None = None) -> RecordSchema:
        """The chosen columns; the timestamp column, if among them, has the type timestamp."""
        if dataset is None:
            raise unknown_dataset(self.dataset)
        schema = dataset.schema
        if self.timestamp not in dataset.timestamps:
            raise Refusal(
                f"column '{self.timestamp}' of data set '{self.dataset}' cannot serve as timestamp; choose one of its timestamp columns",
                at=("timestamp",),
                code="unknown_timestamp",
                value=self.timestamp,
                hint=suggestion(self.timestamp, dataset.timestamps),
            )
        names = schema.names if self.columns is None else self.columns
        if not names:
            raise Refusal("columns is empty; name at least one column or leave it out", at=("columns",), code="too_short", value=[])
        for position, name in enumerate(names):
            at = ("columns", position)
            if name not in schema:
                message = f"data set '{self.dataset}' has no column '{name}'; choose among its columns"
                raise Refusal(message, at=at, code="unknown_field", value=name, hint=suggestion(name, schema.names))
            if name in names[:position]:
                raise Refusal(f"column '{name}' is listed twice; list it once", at=at, code="duplicate", value=name)
        return RecordSchema(tuple(RecordField(n, "timestamp" if n == self.timestamp else schema.type_of(n)) for n in names))


# Watermarks


class NoWatermarks(Variant):
    """The source sends no watermarks; event-time windows downstream never close."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"


class BoundedWatermarks(Variant):
    """Every period: the largest event time served so far, minus the lag. Right when no record is more than `lag` late."""

    title: ClassVar[str] = "Bounded lateness"
    kind: Literal["bounded"] = "bounded"
    lag_ms: Number = quantity(0.0, unit="ms", ge=0, le=1e11, title="Lag", description="How late a record may be without being dropped.")
    period_ms: Number = quantity(1000.0, unit="ms", ge=0.001, le=1e11, title="Period", description="Time between two watermarks.")

    @property
    def lag_ns(self) -> int:
        return milliseconds_ns(self.lag_ms)

    @property
    def period_ns(self) -> int:
        return milliseconds_ns(self.period_ms)


AnyStream = Annotated[NexmarkPerson | NexmarkAuction | NexmarkBid | FileStream, Field(discriminator="kind")]
AnyWatermarks = Annotated[NoWatermarks | BoundedWatermarks, Field(discriminator="kind")]


class SourceWorkload(Model):
    """What one source operator reads, how fast, how disordered, and with which watermarks."""

    stream: AnyStream = Field(title="Stream", description="What the records are.")
    rate: AnyRate = Field(title="Rate", description="How fast they are made, all partitions together.")
    arrivals: AnyArrivals = Field(default=EvenArrivals(), title="Arrivals", description="How they follow one another at that rate.")
    disorder: AnyDelay = Field(default=NoDelay(), title="Delay", description="How long each is on its way from its device to the log.")
    watermarks: AnyWatermarks = Field(
        default=NoWatermarks(), title="Watermarks", description="What the source says about its progress in event time."
    )

    @model_validator(mode="after")
    def _recorded_needs_a_file(self) -> Self:
        if isinstance(self.rate, RecordedRate) and not isinstance(self.stream, FileStream):
            message = f"rate 'recorded' needs a file, but the stream is '{self.stream.kind}'; choose constant, steps or another rate"
            raise Refusal(message, at=("rate", "kind"), code="recorded_without_file", value="recorded")
        return self

    @model_validator(mode="after")
    def _recorded_has_its_own_times(self) -> Self:
        if isinstance(self.rate, RecordedRate) and not isinstance(self.arrivals, EvenArrivals):
            kind = self.arrivals.kind
            message = f"arrivals are '{kind}', but rate 'recorded' takes the file's own times; leave arrivals out or choose another rate"
            raise Refusal(message, at=("arrivals", "kind"), code="recorded_arrivals", value=kind)
        return self


class Workload(Model):
    """The input of the run, and how long it lasts."""

    seed: Integer = Field(default=1, ge=0, le=2**53 - 1, title="Seed", description="Root of every random draw.")
    horizon_s: Number = quantity(
        30.0, unit="s", ge=0.001, le=1e8, title="Horizon", description="Virtual time during which records are appended."
    )
    warmup_s: Number = quantity(0.0, unit="s", ge=0, le=1e8, title="Warm-up", description="Start of the run that the summary leaves out.")
    drain: bool = Field(default=False, strict=True, title="Drain", description="Go on after the horizon until nothing is left to do.")
    drain_limit_s: Number = quantity(
        60.0, unit="s", ge=0, le=1e8, title="Drain limit", description="Longest time to go on after the horizon."
    )
    sources: dict[str, SourceWorkload] = Field(
        default_factory=dict, title="Sources", description="One entry per source operator, by its id."
    )

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
    def warmup_ns(self) -> int:
        return seconds_ns(self.warmup_s)

    @property
    def drain_limit_ns(self) -> int:
        return seconds_ns(self.drain_limit_s)


def variants(union: Any) -> tuple[type[Variant], ...]:
    """The models of a tagged union written as `Annotated[A | B, ...]` (or a single annotated model)."""
    choice = union.__args__[0] if hasattr(union, "__metadata__") else union
    return tuple(getattr(choice, "__args__", (choice,)))

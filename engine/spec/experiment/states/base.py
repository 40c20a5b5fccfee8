"""Base of states whose changes go to a changelog: what is stored, how large it is, and what it costs."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import ConfigDict, Field, model_validator

from ...base.operator import Model
from ...base.origins import ASSUMED, Charge
from ...base.problems import Refusal
from ...base.units import ADVANCED, Integer, Number, quantity, seconds_ns
from ...base.variant import Variant
from .adjustment import Adjustment
from .tuning import Tuning

WORKER_CPU = Charge("fitted", "four costs for the four CPU shares of workers", ("incremental/table-4.1",))
BROKER_CPU = Charge("fitted", fitted_to=("incremental/4.16",))
PASSES = Charge("fitted", "passes under the aggressive policy leave no time to sleep", ("incremental/4.10",))
DISK_BYTES = Charge("fitted", fitted_to=("incremental/4.3",))

RECORD_BYTES = 34
"""Of a record in a log beside key and value (message format 1 of Apache Kafka)."""

SPELLINGS = {
    "segment.ms": "segment_ms",
    "log.segment.ms": "segment_ms",
    "log.roll.ms": "segment_ms",
    "min.cleanable.dirty.ratio": "dirty_ratio",
    "delete.retention.ms": "delete_retention_ms",
    "deletion.retention.ms": "delete_retention_ms",
}
"""Names that Apache Kafka and the thesis use."""


OPERATORS: Any = Field(
    default=(), max_length=1000, title="Operators", description="Operators to which this applies. Default: all that keep state by key."
)
KEY_TEXT: Any = Field(
    default="",
    max_length=1000,
    title="Text of keys",
    description="Text in front of each key, whose bytes count in stores and logs. A number counts as its digits.",
)
VALUE_BYTES: Any = quantity(
    None,
    unit="bytes",
    ge=0,
    le=10**9,
    title="Bytes of values",
    description="Of one value for a key and window. Default: 8 for each aggregate.",
)


class Cache(Model):
    """The cache above the store. Dirty entries leave it together: when there are as many as a batch, at a commit, before a range is read,
    and when one of them would be evicted."""

    batch: Integer = quantity(500, ge=1, le=10**7, title="Batch", description="Dirty entries that leave together.")
    objects: Integer = quantity(1000, ge=1, le=10**7, title="Objects", description="Entries that fit, at least a batch.")

    @model_validator(mode="after")
    def _holds_a_batch(self) -> Cache:
        if self.objects < self.batch:
            message = f"objects is {self.objects}, fewer than a batch of {self.batch}, so no batch would ever be full; use at least as many"
            raise Refusal(message, at=("objects",), code="out_of_range", value=self.objects)
        return self


class Topic(Model):
    """The changelog: one partition for each instance."""

    model_config = ConfigDict(populate_by_name=True)

    compacted: bool = Field(
        default=False, strict=True, title="Compacted", description="Whether cleaners of the broker keep the newest record of each key only."
    )
    segment_ms: Number = quantity(
        604_800_000.0,
        unit="ms",
        gt=0,
        le=1e12,
        title="Segment",
        description="A record that comes so much later than the first one of a segment closes it. Only closed segments are cleaned.",
    )
    segment_mb: Number = quantity(
        536.870912,
        unit="MB",
        gt=0,
        le=1e6,
        title="Segment size",
        description="A record with which it would be larger closes the active segment.",
        advanced=True,
    )
    dirty_ratio: Number = quantity(
        0.5, unit="share", ge=0, le=1, title="Dirty ratio", description="A log is cleaned when more of its closed bytes are dirty."
    )
    delete_retention_ms: Number = quantity(
        100.0, unit="ms", ge=0, le=1e12, title="Tombstones stay", description="How long a tombstone stays for readers that are behind."
    )
    tombstones: Literal["merged_segment_mtime", "per_record_horizon"] = Field(
        default="merged_segment_mtime",
        title="Tombstone rule",
        description="merged_segment_mtime: as in Apache Kafka 0.10.1, where those of a log that fits into one segment never go; "
        "per_record_horizon: as in later versions, after their time.",
    )

    transactions: bool = Field(
        default=False,
        strict=True,
        title="Transactions",
        description="Whether the broker knows them, as Apache Kafka does from 0.11 on. Exactly-once needs them.",
        json_schema_extra=ADVANCED,
        exclude_if=lambda transactions: not transactions,
    )

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, given: Any) -> Any:
        """Take the names of Apache Kafka, too. Raises `Refusal` for two names of one setting."""
        if not isinstance(given, dict):
            return given
        found: dict[Any, Any] = {}
        named: dict[Any, Any] = {}
        for name, value in given.items():
            setting = SPELLINGS.get(str(name), name)
            if setting in named:
                message = f"'{named[setting]}' and '{name}' are one setting, {setting}; give one of them"
                raise Refusal(message, at=(name,), code="given_twice", value=value)
            named[setting] = name
            found[setting] = value
        return found


class Cleaner(Model):
    """The threads of the broker that compact its logs. Each takes the log with the largest dirty ratio, and sleeps if none is due."""

    threads: Integer = quantity(2, ge=1, le=1000, title="Threads", description="Threads that clean.")
    backoff_s: Number = quantity(15.0, unit="s", gt=0, le=1e6, title="Back-off", description="Sleep of a thread that finds no log due.")
    setup_ms: Number = quantity(
        150.0, unit="ms", ge=0, le=1e6, title="Set-up", description="Of each pass: memory, files.", advanced=True, charge=PASSES
    )
    setup_spread: Number = quantity(
        0.25, ge=0, le=2, title="Spread of the set-up", description="Standard deviation of its logarithm.", advanced=True, charge=PASSES
    )


class Broker(Model):
    """The host that keeps the changelogs. Nothing else runs there."""

    cores: Integer = quantity(8, ge=1, le=1024, title="Cores", description="Cores that its work shares.")
    base_share: Number = quantity(
        0.18, unit="share", ge=0, le=1, title="Base load", description="Of its cores: requests and the rest.", charge=BROKER_CPU
    )
    roll_ms: Number = quantity(
        90.0, unit="ms", ge=0, le=1e6, title="Roll", description="CPU time to close a segment and to delete it.", charge=BROKER_CPU
    )
    disk_mb: Number | None = quantity(
        None,
        unit="MB",
        gt=0,
        le=1e12,
        title="Disk",
        description="Room for all changelogs together; a run ends when they need more. Default: as much as they need.",
        exclude_if=lambda disk_mb: disk_mb is None,
    )


class Sender(Model):
    """The thread of each instance that sends changes to the broker. It sends all that wait in one request, then waits for the answer."""

    request_us: Number = quantity(
        350.0, unit="us", gt=0, le=1e9, title="Request", description="Time from a request to its answer.", charge=WORKER_CPU
    )
    cpu_us: Number = quantity(
        147.0, unit="us", ge=0, le=1e9, title="CPU time", description="Of the worker, per request.", charge=WORKER_CPU
    )


class Costs(Model):
    """CPU time of the operator, at speed 1, as part of the service that reads or changes its state."""

    scan_us: Number = quantity(
        19.6, unit="us", ge=0, le=1e6, title="Scan", description="To read what is stored of a key and window.", charge=WORKER_CPU
    )
    get_us: Number = quantity(6.0, unit="us", ge=0, le=1e6, title="Read", description="To read one key.", charge=ASSUMED)
    base_share: Number = quantity(
        0.01, unit="share", ge=0, le=1, title="Base load", description="Of the cores of a host: the rest of its process.", charge=WORKER_CPU
    )
    write_us: Number = quantity(13.2, unit="us", ge=0, le=1e6, title="Write", description="To put or delete one key.", charge=WORKER_CPU)


class Changelog(Variant):
    """Base of states with a changelog."""

    operators: tuple[str, ...] = OPERATORS
    commit_s: Number = quantity(
        60.0,
        unit="s",
        gt=0,
        le=1e6,
        title="Commit",
        description="Time between two commits of an instance, each of which writes out the cache and brings the store to disk.",
    )
    guarantee: Literal["at_least_once", "exactly_once"] = Field(
        default="at_least_once",
        title="Guarantee",
        description="For what is stored after a crash. at_least_once: what was processed after the last commit may count twice; "
        "exactly_once: a transaction spans each commit's changes and positions, and sources stop reading while it is written out.",
        exclude_if=lambda guarantee: guarantee == "at_least_once",
    )
    commit_order: Literal["flush_then_offset", "offset_then_flush"] = Field(
        default="flush_then_offset",
        title="Order of a commit",
        description="flush_then_offset: the input positions become durable after the changes that come from them; offset_then_flush: "
        "before, so a crash in between loses those that were in the cache.",
        json_schema_extra=ADVANCED,
        exclude_if=lambda order: order == "flush_then_offset",
    )
    key_text: str = KEY_TEXT
    record_text: str = Field(
        default="",
        max_length=10_000,
        title="Text of records",
        description="Text of a retained record, in which {key} stands for its key. Default: the bytes of the operator's input records.",
    )
    value_bytes: Integer | None = VALUE_BYTES
    restores_at_end: bool = Field(
        default=False,
        strict=True,
        title="Restore at the end",
        description="Whether the summary says how long a restore from the changelog alone takes when the run ends. Its records are read "
        "into an empty store; the run's own stays as it is.",
        json_schema_extra=ADVANCED,
    )
    cache: Cache = Field(default=Cache(), title="Cache", description="What delays writes above the store.")
    changelog: Topic = Field(default=Topic(), title="Changelog", description="The log that each change goes to.")
    cleaner: Cleaner = Field(default=Cleaner(), title="Cleaner", description="Threads that compact changelogs.")
    broker: Broker = Field(default=Broker(), title="Broker", description="The host that keeps the changelogs.")
    sender: Sender = Field(default=Sender(), title="Sender", description="What sends changes to the broker.")
    costs: Costs = Field(default=Costs(), title="Costs", description="CPU time of operators for their store.")

    adjustments: tuple[Adjustment, ...] = Field(
        default=(),
        max_length=1000,
        title="Adjustments",
        description="Settings that change while the query runs.",
        json_schema_extra=ADVANCED,
        exclude_if=lambda adjustments: not adjustments,
    )
    tuning: Tuning | None = Field(
        default=None,
        title="Tuning",
        description="Goals for an agent that tunes compaction. It begins with a dirty ratio of 0.66 and segments of a second.",
        json_schema_extra=ADVANCED,
        exclude_if=lambda tuning: tuning is None,
    )

    has_tree: ClassVar[bool] = True  # it keeps a store on disk

    @property
    def is_exact(self) -> bool:
        return self.guarantee == "exactly_once"

    @property
    def commit_ns(self) -> int:
        return seconds_ns(self.commit_s)

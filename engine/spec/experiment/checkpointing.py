"""How a run survives the loss of hosts. What the protocols do stands in `engine.checkpointing`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number, milliseconds_ns, quantity, seconds_ns
from ..base.variant import Variant


class NoCheckpoints(Variant):
    """Nothing is stored. What a lost host had in memory is lost, and its sources go on behind the last record that they read."""

    title: ClassVar[str] = "None"
    source: ClassVar[str] = "Siachamis 2024, 3.5 (NOC)"
    kind: Literal["none"] = "none"
    log_work: ClassVar[float] = 0.0
    facts: ClassVar[tuple[str, ...]] = ("rescalable", "loss_text")
    rescalable: ClassVar[bool] = True
    loss_text: ClassVar[str] = (
        "The run has no checkpointing protocol, so what the host holds is gone for good: its instances come back empty, and records in "
        "its queues, or sent to it meanwhile, are not delivered. To see a recovery, choose a protocol in the experiment (Policies, "
        "Checkpointing)."
    )


class Store(Model):
    """The durable store of checkpoints: one disk, reached over the network, that no fault touches."""

    write_mb_per_s: Number = quantity(1000, unit="MB/s", ge=0.1, le=1e6, title="Writes", description="Of all workers together.")
    read_mb_per_s: Number = quantity(1000, unit="MB/s", ge=0.1, le=1e6, title="Reads", description="Of all workers together.")
    request_ms: Number = quantity(
        5, unit="ms", ge=0, le=1e6, title="Per request", description="How much longer each request takes, beside the disk's work."
    )
    egress_mbit_per_s: Integer = quantity(
        10_000, unit="Mbit/s", ge=1, le=10**9, title="Egress", description="Bandwidth of the store's own link."
    )
    latency_ms: Number = quantity(0.5, unit="ms", ge=0.000001, le=1e6, title="Latency", description="Of the store's own link.")
    capacity_mb: Number | None = quantity(None, unit="MB", gt=0, le=1e12, title="Capacity", description="Not given: the disk never fills.")


class Checkpoints(Variant):
    """What all protocols have in common."""

    facts: ClassVar[tuple[str, ...]] = ("rescalable", "loss_text")
    rescalable: ClassVar[bool] = False  # whether the parallelism may change under it
    loss_text: ClassVar[str] = "All instances go back to a line of checkpoints that fit together"
    interval_s: Number = quantity(5, unit="s", ge=0.001, le=1e6, title="Interval", description="From one checkpoint to the next.")
    detect_ms: Number = quantity(
        0,
        unit="ms",
        ge=0,
        le=1e9,
        title="Detection",
        description="From the moment at which a broken connection can be seen until it is believed.",
    )
    restart_ms: Number = quantity(
        150,
        unit="ms",
        ge=0,
        le=1e9,
        title="Restart",
        description="What every worker takes in a recovery before it fetches its checkpoints.",
    )
    spares: Integer = Field(
        default=0, ge=0, le=10_000, title="Spare hosts", description="Machines that take the place of hosts that are lost for ever."
    )
    takeover_s: Number = quantity(
        1, unit="s", ge=0.000001, le=1e6, title="Takeover", description="From the loss of a host until a spare one stands in its place."
    )
    capture_ms: Number = quantity(
        1, unit="ms", ge=0, le=1e6, title="Capture", description="Work of the processor for each checkpoint of an instance."
    )
    serialise_mb_per_s: Number = quantity(
        30, unit="MB/s", ge=0.001, le=1e6, title="Serialisation", description="State that a core of speed 1 writes or reads."
    )
    store: Store = Field(default=Store(), title="Store", description="Where checkpoints are kept.")

    @property
    def interval_ns(self) -> int:
        return seconds_ns(self.interval_s)

    @property
    def detect_ns(self) -> int:
        return milliseconds_ns(self.detect_ms)

    @property
    def restart_ns(self) -> int:
        return milliseconds_ns(self.restart_ms)

    @property
    def takeover_ns(self) -> int:
        return seconds_ns(self.takeover_s)

    @property
    def log_work(self) -> float:
        """Work for each record that is logged, as a share of what its operator takes for one."""
        return 0.0


class CoordinatedCheckpoints(Checkpoints):
    """Rounds: a coordinator lets the sources send barriers, and every instance stores its state when barriers have come by all of its
    channels; meanwhile it serves nothing that comes behind them. After a loss all go back to the last round that is complete.
    """

    title: ClassVar[str] = "Coordinated"
    source: ClassVar[str] = "Siachamis 2024, 3.3.1 (COOR); Carbone 2015"
    kind: Literal["coordinated"] = "coordinated"
    rescalable: ClassVar[bool] = True
    loss_text: ClassVar[str] = "All instances go back to the last confirmed round"
    on_cycle: Literal["refuse", "run"] = Field(
        default="refuse",
        title="On a cycle",
        description="A query with a cycle never completes a round: refuse it, or run it anyway and see where it stands still.",
    )


class UnalignedCheckpoints(Checkpoints):
    """Rounds whose barriers overtake what waits, so that none waits for them: an instance takes its checkpoint with the first barrier, and
    what is under way on its channels until theirs come is part of it. It works on cycles.
    """

    title: ClassVar[str] = "Coordinated, unaligned"
    kind: Literal["coordinated_unaligned"] = "coordinated_unaligned"
    loss_text: ClassVar[str] = "All instances go back to the last confirmed round"
    replay_us: Number = quantity(
        20, unit="us", ge=0, le=1e9, title="Replaying", description="In a recovery, for each record that was under way."
    )


class LoggedCheckpoints(Checkpoints):
    """What protocols with logs of channels have in common."""

    jitter_s: Number = quantity(
        1,
        unit="s",
        ge=0,
        le=1e6,
        title="Jitter",
        description="Each span between two checkpoints is the interval, so much less, or so much more, by chance.",
    )
    semantics: Literal["exactly_once", "at_least_once", "at_most_once"] = Field(
        default="exactly_once",
        title="Semantics",
        description="Of records that were under way: sent again and counted once; all that is logged sent again; gone.",
    )
    log: bool = Field(default=True, title="Log", description="Whether channels are logged.")
    log_share: Number = Field(
        default=0.1,
        ge=0,
        le=10,
        title="Logging",
        description="Work for each record that is logged, as a share of what its operator takes for one.",
    )
    open_log_ms: Number = quantity(
        5, unit="ms", ge=0, le=1e6, title="Opening a log", description="In a recovery, for each channel from which something is sent again."
    )
    replay_us: Number = quantity(
        20, unit="us", ge=0, le=1e9, title="Replaying", description="In a recovery, for each record that is sent again."
    )

    @property
    def jitter_ns(self) -> int:
        return seconds_ns(self.jitter_s)

    @property
    def log_work(self) -> float:
        return self.log_share if self.log else 0.0

    @model_validator(mode="after")
    def _has_what_it_needs(self) -> Self:
        if not self.log and self.semantics != "at_most_once":
            message = (
                f"semantics is {self.semantics}, but channels are not logged: what was under way when a host is lost could not be sent "
                "again; log them, or choose at_most_once"
            )
            raise Refusal(message, at=("semantics",), value=self.semantics)
        if self.jitter_ns >= self.interval_ns:
            message = f"jitter_s is {self.jitter_s:g}, not less than interval_s, {self.interval_s:g}; a span would be nothing"
            raise Refusal(message, at=("jitter_s",), code="out_of_range", value=self.jitter_s)
        return self


class UncoordinatedCheckpoints(LoggedCheckpoints):
    """Every worker takes checkpoints of its instances by its own clock, and nobody waits for anybody. What channels carry is logged. After
    a loss the newest checkpoints that fit together are searched, and what was on its way between them is sent again from the logs.
    """

    title: ClassVar[str] = "Uncoordinated"
    source: ClassVar[str] = "Siachamis 2024, 3.3.2 (UNC)"
    kind: Literal["uncoordinated"] = "uncoordinated"


class InducedCheckpoints(LoggedCheckpoints):
    """As uncoordinated, but every instance has a clock of its own, and records carry what their senders know of all checkpoints. Where that
    shows that one would become useless, the receiver takes another before it serves the record.
    """

    title: ClassVar[str] = "Communication-induced"
    source: ClassVar[str] = "Siachamis 2024, 3.3.3 (CIC); Helary 2000 (HMNR); Briatico 1984 (BCS)"
    kind: Literal["communication_induced"] = "communication_induced"
    variant: Literal["hmnr", "bcs"] = Field(
        default="hmnr", title="Variant", description="HMNR: vectors over all instances; BCS: one number, and more forced checkpoints."
    )
    clock_test: bool = Field(
        default=True, title="Clock test", description="The first of HMNR's tests; without it checkpoints become useless."
    )
    cycle_test: bool = Field(default=True, title="Cycle test", description="The second of HMNR's tests.")
    piggyback_bytes: Integer = quantity(
        300,
        unit="bytes",
        ge=0,
        le=10**6,
        title="Piggyback",
        description="What every record carries more, whatever the number of instances ...",
    )
    entry_bytes: Number = quantity(
        2, unit="bytes", ge=0, le=1000, title="Per instance", description="... and for each instance of the run; BCS has one entry."
    )
    serialise_share: Number = Field(
        default=0.6,
        ge=0,
        le=10,
        title="Work of bytes",
        description="Share of an operator's work for a record that is writing and reading its bytes.",
    )
    message_bytes: Integer = quantity(
        450,
        unit="bytes",
        ge=1,
        le=10**6,
        title="Of so many bytes",
        description="Size of a record, envelope included, to which that share applies.",
    )

    def added_bytes(self, instances: int) -> int:
        """What a record carries more. Source: Siachamis 2024, 3.7.2, Table 3.2 (what messages grow by)."""
        return self.piggyback_bytes + round(self.entry_bytes * (1 if self.variant == "bcs" else instances))


class Region(Model):
    """Operators that take their checkpoints in one way: in rounds of their own, or each worker by its own clock."""

    name: str = Field(min_length=1, max_length=63, title="Name", description="What rounds and messages call it.")
    operators: tuple[str, ...] = Field(min_length=1, title="Operators", description="Their ids, each in one region at most.")
    mode: Literal["coordinated", "uncoordinated"] = Field(
        default="coordinated", title="Mode", description="Rounds of barriers and no log inside; or clocks of workers and logs."
    )
    interval_s: Number | None = quantity(
        None, unit="s", ge=0.001, le=1e6, title="Interval", description="Of this region; not given: that of the protocol."
    )


class Adaptation(Model):
    """A coordinated region goes over to uncoordinated checkpoints where its rounds make it wait, and back when its load is even."""

    wait_share: Number = Field(
        default=0.2,
        ge=0,
        le=1000,
        title="Wait",
        description="Apart, when instances wait for barriers longer than this share of the interval, in the mean; or a round is left out.",
    )
    rounds: Integer = Field(default=3, ge=1, le=1000, title="Rounds", description="So many rounds make that mean.")
    load_ratio: Number = Field(
        default=1.2,
        ge=1,
        le=1e6,
        title="Load",
        description="Together again, when no operator's busiest instance serves so many times the mean of all of them ...",
    )
    intervals: Integer = Field(default=6, ge=1, le=1000, title="Intervals", description="... for so many intervals.")


class HybridCheckpoints(LoggedCheckpoints):
    """Regions of operators take rounds of coordinated checkpoints, each on its own, and no log is kept inside; everything else is
    uncoordinated. After a loss the line is searched among rounds of regions and checkpoints of single instances.

    Without regions, each chain of operators that forward edges connect is a coordinated one: its barriers hardly wait, and what is shuffled
    is logged.
    """

    title: ClassVar[str] = "Hybrid"
    source: ClassVar[str] = "Siachamis 2024, 5.3.3 (the idea)"
    kind: Literal["hybrid"] = "hybrid"
    regions: tuple[Region, ...] | None = Field(
        default=None, title="Regions", description="Operators in none are uncoordinated. Not given: chains of forward edges."
    )
    adapt: Adaptation | None = Field(
        default=None, title="Adapt", description="How coordinated regions change while the run goes on. Not given: they do not."
    )

    def interval_ns_of(self, region: Region) -> int:
        return self.interval_ns if region.interval_s is None else seconds_ns(region.interval_s)

    def number_step(self, horizon_ns: int, regions: Sequence[Region]) -> int:
        """From the number of one round to that of the next: a power of ten, more than all checkpoints that a machine's timers can ask for;
        1 if regions do not adapt."""
        if self.adapt is None:
            return 1
        shortest_ns = min([self.interval_ns, *map(self.interval_ns_of, regions)]) - self.jitter_ns
        timers = len({self.interval_ns, *map(self.interval_ns_of, regions)}) + len(regions)
        return int(10 ** len(str(timers * (horizon_ns // max(shortest_ns, 1) + 1))))

    @model_validator(mode="after")
    def _can_adapt(self) -> Self:
        if self.adapt is not None and self.semantics != "exactly_once":
            message = (
                f"semantics is {self.semantics}, but regions adapt, which takes logs to be right: choose exactly_once, or leave out adapt"
            )
            raise Refusal(message, at=("semantics",), value=self.semantics)
        return self


AnyCheckpointing = Annotated[
    NoCheckpoints | CoordinatedCheckpoints | UnalignedCheckpoints | UncoordinatedCheckpoints | InducedCheckpoints | HybridCheckpoints,
    Field(discriminator="kind"),
]

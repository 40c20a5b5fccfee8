"""Memory models of hosts: capacity, memory per byte held, and the effect of memory pressure (docs/event-core.md, section 13)."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number, megabytes_bytes, milliseconds_ns, quantity, scaled, seconds_ns
from ..base.variant import Variant

MEMORY_BYTES_MAX = 10**13
"""Memory limit of a machine with a memory model; curves are evaluated in 64-bit words."""

Points = list[tuple[Fraction, Fraction]]
"""(share of the budget, factor), by rising share."""


# How services slow down as memory fills


class NoSlowDown(Variant):
    """Service times do not depend on memory use."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"

    def through(self, budget_bytes: int, memory_bytes: int) -> Points:
        """The curve's points. memory_bytes: memory of the machine."""
        return []


class PressurePoint(Model):
    share: Number = Field(ge=0, le=10, title="Share", description="Share of the budget in use; 1 is all of it.")
    factor: Number = Field(ge=1, le=1000, title="Factor", description="Multiplier of service costs at that share.")


class SlowDownPoints(Variant):
    """A piecewise linear curve through points, constant before the first and after the last."""

    title: ClassVar[str] = "Points"
    kind: Literal["points"] = "points"
    points: tuple[PressurePoint, ...] = Field(min_length=1, max_length=100, title="Points", description="In ascending order of share.")

    @model_validator(mode="after")
    def _shares_rise(self) -> Self:
        for n in range(1, len(self.points)):
            before, share = self.points[n - 1].share, self.points[n].share
            if share <= before:
                message = f"share is {share:g}, not above the previous point ({before:g}); order the points by share, without duplicates"
                raise Refusal(message, at=("points", n, "share"), code="out_of_order", value=share)
        return self

    def through(self, budget_bytes: int, memory_bytes: int) -> Points:
        return [(Fraction(repr(point.share)), Fraction(repr(point.factor))) for point in self.points]


class KlinkCollector(Variant):
    """1 + 0.30 max(0, (u - 0.6) / 0.4)^2 at a share u of the budget, also beyond u = 1; in steps of 0.02, up to u = 3."""

    title: ClassVar[str] = "Garbage collection, Klink"
    source: ClassVar[str] = "Farhat 2020, 5 (calibrated, not measured)"
    kind: Literal["klink"] = "klink"

    def through(self, budget_bytes: int, memory_bytes: int) -> Points:
        shares = [Fraction(60 + 2 * n, 100) for n in range(121)]
        return [(u, 1 + Fraction(3, 10) * ((u - Fraction(6, 10)) / Fraction(4, 10)) ** 2) for u in shares]


class CostreamCollector(Variant):
    """1 + 0.08 u / (1 - u) at a share u of the budget, u at most 0.98. Beyond the machine's memory (swapping), the last value times
    1 + 40 x (excess share of the memory), up to three times the memory.
    """

    title: ClassVar[str] = "Garbage collection and swap, Costream"
    source: ClassVar[str] = "Costream, 8.1 (calibrated, not measured)"
    kind: Literal["costream"] = "costream"

    def through(self, budget_bytes: int, memory_bytes: int) -> Points:
        collecting = [Fraction(n, 50) for n in range(45)] + [Fraction(n, 200) for n in range(180, 197)]
        points = [(u, 1 + Fraction(8, 100) * u / (1 - u)) for u in collecting]
        last = points[-1][1]
        full = Fraction(memory_bytes, budget_bytes)
        return [*points, (full, last), (3 * full, last * (1 + 40 * 2))]


AnySlowDown = Annotated[NoSlowDown | SlowDownPoints | KlinkCollector | CostreamCollector, Field(discriminator="kind")]


# Memory models


class Counted(Variant):
    """Bytes are counted and shown, without any effect on the run."""

    title: ClassVar[str] = "Counted only"
    icon: ClassVar[str] = "database"
    kind: Literal["counted"] = "counted"

    def refuse_misfit(self, memory_bytes: int) -> None:
        """Raise `Refusal` if the model does not fit a machine with this much memory (path below the model)."""


class CollectorPauses(Model):
    """A collector that stops the world where memory is short: at the end of each period, for longer the fuller the budget is."""

    above: Number = Field(default=0.9, ge=0, le=0.999, title="Above", description="Share of the budget from which on it stops the host.")
    every_s: Number = quantity(1, unit="s", ge=0.001, le=1e6, title="Period", description="Time between two collections.")
    full_ms: Number = quantity(500, unit="ms", gt=0, le=1e6, title="When full", description="Pause at a full budget, and beyond.")

    @model_validator(mode="after")
    def _leaves_time(self) -> Self:
        if self.full_ms >= 1000 * self.every_s:
            message = f"full_ms is {self.full_ms:g}, but every_s is {self.every_s:g}: a full host would stand still for ever; lower full_ms"
            raise Refusal(message, at=("full_ms",), code="out_of_range", value=self.full_ms)
        return self

    @property
    def every_ns(self) -> int:
        return seconds_ns(self.every_s)

    def span_ns(self, used_ppm: int) -> int:
        """Length of a pause, at a share of the budget in millionths."""
        above_ppm = scaled(self.above, 1_000_000)
        over_ppm = min(max(0, used_ppm - above_ppm), 1_000_000 - above_ppm)
        return milliseconds_ns(self.full_ms) * over_ppm // (1_000_000 - above_ppm)


class Budget(Variant):
    """Memory budget of the engine's process: its footprint, plus queued records, unsent outputs and state. Services slow down as the
    budget fills. Above the limit the host dies, permanently or until it restarts.
    """

    title: ClassVar[str] = "Budget"
    icon: ClassVar[str] = "database"
    kind: Literal["budget"] = "budget"
    budget_mb: Number | None = quantity(
        None, unit="MB", gt=0, le=1e7, title="Budget", description="Memory at 100 % of the curve. Default: the host's memory."
    )
    limit_mb: Number | None = quantity(
        None,
        unit="MB",
        gt=0,
        le=1e9,
        title="Limit",
        description="Memory use above which the host dies; may include swap. Default: the budget.",
    )
    base_mb: Number = quantity(0.0, unit="MB", ge=0, le=1e7, title="Footprint", description="Memory of the idle process.")
    per_record_bytes: Integer = quantity(
        0, unit="bytes", ge=0, le=10**6, title="Per record", description="Memory per queued or unsent record, whatever its size."
    )
    per_value_bytes: Integer = quantity(
        0, unit="bytes", ge=0, le=10**5, title="Per value", description="Memory per field of such a record."
    )
    per_byte: Number = Field(
        default=1.0, ge=0, le=100, title="Per byte", description="Memory per accounting byte of such a record; kept in thousandths."
    )
    state_factor: Number = Field(
        default=1.0, ge=0, le=100, title="State", description="Memory per accounting byte of state; kept in thousandths."
    )
    slow_down: AnySlowDown = Field(default=NoSlowDown(), title="Slow-down", description="How service costs rise as memory fills.")
    on_full: Literal["die", "nothing"] = Field(
        default="die", title="When full", description="Effect of exceeding the limit: the host dies, or nothing happens."
    )
    restart_after_s: Number | None = quantity(
        None,
        unit="s",
        ge=0.000000001,
        le=1e9,
        title="Restart after",
        description="Time from the host's death until it is up again, with empty memory. Default: its death ends the run.",
    )
    pauses: CollectorPauses | None = Field(
        default=None,
        title="Pauses",
        description="Collections that stop the host. Default: none.",
        exclude_if=lambda pauses: pauses is None,  # documents without the field keep their hashes
    )

    @model_validator(mode="after")
    def _restarts_after_a_death(self) -> Self:
        if self.restart_after_s is not None and self.on_full != "die":
            message = (
                f"restart_after_s is {self.restart_after_s:g}, but on_full is '{self.on_full}', so the host never dies; "
                "choose on_full 'die', or omit restart_after_s"
            )
            raise Refusal(message, at=("restart_after_s",), code="never_dies", value=self.restart_after_s)
        return self

    def budget_bytes(self, memory_bytes: int) -> int:
        return memory_bytes if self.budget_mb is None else megabytes_bytes(self.budget_mb)

    def limit_bytes(self, memory_bytes: int) -> int | None:
        """Memory use above which the host dies; None if it never dies."""
        if self.on_full != "die":
            return None
        return self.budget_bytes(memory_bytes) if self.limit_mb is None else megabytes_bytes(self.limit_mb)

    @property
    def restart_after_ns(self) -> int | None:
        """Downtime after a death; None: permanent."""
        return None if self.restart_after_s is None else seconds_ns(self.restart_after_s)

    @property
    def base_bytes(self) -> int:
        return megabytes_bytes(self.base_mb)

    @property
    def per_byte_milli(self) -> int:
        return scaled(self.per_byte, 1000)

    @property
    def state_milli(self) -> int:
        return scaled(self.state_factor, 1000)

    def refuse_misfit(self, memory_bytes: int) -> None:
        """Raise `Refusal` if the model does not fit a machine with this much memory (path below the model)."""
        budget, memory_mb = self.budget_bytes(memory_bytes), memory_bytes / 1e6
        if memory_bytes > MEMORY_BYTES_MAX:
            message = f"memory_mb is {memory_mb:g}; a host with a memory model has at most {MEMORY_BYTES_MAX / 1e6:,.0f} MB"
            raise Refusal(message, code="out_of_range", value=memory_mb)
        if budget > memory_bytes:
            message = f"budget_mb is {self.budget_mb:g}, above the host's memory_mb ({memory_mb:g}); lower it, or give the host more memory"
            raise Refusal(message, at=("budget_mb",), code="out_of_range", value=self.budget_mb)
        if budget < 1:
            message = f"budget_mb is {self.budget_mb:g}, less than one byte; it must be at least 0.000001 MB"
            raise Refusal(message, at=("budget_mb",), code="out_of_range", value=self.budget_mb)
        if self.base_bytes >= budget:
            message = (
                f"base_mb is {self.base_mb:g}, which uses up the budget of {budget / 1e6:g} MB; "
                "make the footprint smaller, or the budget larger"
            )
            raise Refusal(message, at=("base_mb",), code="out_of_range", value=self.base_mb)
        if self.limit_mb is not None and megabytes_bytes(self.limit_mb) < budget:
            message = f"limit_mb is {self.limit_mb:g}, below the budget of {budget / 1e6:g} MB; give at least that, or omit it"
            raise Refusal(message, at=("limit_mb",), code="out_of_range", value=self.limit_mb)

    def curve(self, memory_bytes: int) -> list[tuple[int, int]]:
        """(bytes used, factor in 1 / 2^16), by ascending bytes; empty if nothing slows down."""
        budget = self.budget_bytes(memory_bytes)
        made = self.slow_down.through(budget, memory_bytes)
        return [(budget * share.numerator // share.denominator, int(factor * (1 << 16) + Fraction(1, 2))) for share, factor in made]


class Klink2020(Budget):
    """4 KiB per queued event, 22 GiB in total; state does not count. The host never dies; use an ingress policy to throttle its
    sources.
    """

    title: ClassVar[str] = "Klink 2020"
    source: ClassVar[str] = "Farhat 2020, 5 (calibrated, not measured)"
    kind: Literal["klink_2020"] = "klink_2020"  # type: ignore[assignment]
    budget_mb: Number | None = quantity(23_622.32, unit="MB", gt=0, le=1e7, title="Budget", description="Memory for queued events; 22 GiB.")
    per_record_bytes: Integer = quantity(4096, unit="bytes", ge=0, le=10**6, title="Per record", description="Memory per queued event.")
    per_byte: Number = Field(default=0.0, ge=0, le=100, title="Per byte", description="Memory per accounting byte of such a record.")
    state_factor: Number = Field(default=0.0, ge=0, le=100, title="State", description="Memory per accounting byte of state.")
    slow_down: AnySlowDown = Field(default=KlinkCollector(), title="Slow-down", description="How service costs rise as memory fills.")
    on_full: Literal["die", "nothing"] = Field(default="nothing", title="When full", description="Effect of exceeding the limit.")


STORED_FACTOR = 5.2
"""A tuple takes 180 bytes and 48 per value, and 10, 14 or 9 bytes per value on the wire: with 3 to 10 values of each type 4.8 to 5.9 times
as much, 5.2 in the mean."""


class Costream2024(Budget):
    """450 MB for the process, 180 bytes per queued tuple and 48 bytes per value in it; about as much per tuple in a window. The heap is
    12.5 GB, or the machine's memory if that is less. The host dies once it also exceeds 3,000 MB of swap beyond its memory.
    """

    title: ClassVar[str] = "Costream 2024"
    source: ClassVar[str] = "Costream, 8.1 (calibrated, not measured)"
    kind: Literal["costream_2024"] = "costream_2024"  # type: ignore[assignment]
    heap_mb: Number = quantity(12_500.0, unit="MB", gt=0, le=1e7, title="Heap", description="Upper bound of the budget.")
    swap_mb: Number = quantity(3000.0, unit="MB", ge=0, le=1e7, title="Swap", description="Swap beyond the machine's memory.")
    base_mb: Number = quantity(450.0, unit="MB", ge=0, le=1e7, title="Footprint", description="Memory of the idle process.")
    per_record_bytes: Integer = quantity(180, unit="bytes", ge=0, le=10**6, title="Per record", description="Memory per queued tuple.")
    per_value_bytes: Integer = quantity(
        48, unit="bytes", ge=0, le=10**5, title="Per value", description="Memory per value of such a tuple."
    )
    per_byte: Number = Field(default=0.0, ge=0, le=100, title="Per byte", description="Memory per accounting byte of such a record.")
    state_factor: Number = Field(
        default=STORED_FACTOR, ge=0, le=100, title="State", description="Memory per accounting byte of state, which windows of tuples are."
    )
    slow_down: AnySlowDown = Field(default=CostreamCollector(), title="Slow-down", description="How service costs rise as memory fills.")

    def budget_bytes(self, memory_bytes: int) -> int:
        return min(memory_bytes, megabytes_bytes(self.heap_mb)) if self.budget_mb is None else megabytes_bytes(self.budget_mb)

    def limit_bytes(self, memory_bytes: int) -> int | None:
        if self.on_full != "die" or self.limit_mb is not None:
            return super().limit_bytes(memory_bytes)
        return memory_bytes + megabytes_bytes(self.swap_mb)


AnyMemory = Annotated[Counted | Budget | Klink2020 | Costream2024, Field(discriminator="kind")]

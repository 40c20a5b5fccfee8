"""What a host can hold in memory, what its bytes cost, and what pressure does: the memory models (docs/event-core.md, section 13)."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ..base.operator import Model
from ..base.problems import Refusal
from ..base.units import Integer, Number, megabytes_bytes, quantity, scaled, seconds_ns
from ..base.variant import Variant

MEMORY_BYTES_MAX = 10**13
"""Of a machine whose memory is modelled; more would not fit the words in which curves are read."""

Points = list[tuple[Fraction, Fraction]]
"""(share of the budget, factor), by rising share."""


# How services slow down as memory fills


class NoSlowDown(Variant):
    """Services take as long however full the memory is."""

    title: ClassVar[str] = "None"
    kind: Literal["none"] = "none"

    def through(self, budget_bytes: int, memory_bytes: int) -> Points:
        """The curve's points. memory_bytes: of the machine."""
        return []


class PressurePoint(Model):
    share: Number = Field(ge=0, le=10, title="Share", description="Share of the budget that is used; 1 is all of it.")
    factor: Number = Field(ge=1, le=1000, title="Factor", description="What services cost then, as a multiple.")


class SlowDownPoints(Variant):
    """A curve through points; straight between them, level before the first and behind the last."""

    title: ClassVar[str] = "Points"
    kind: Literal["points"] = "points"
    points: tuple[PressurePoint, ...] = Field(min_length=1, max_length=100, title="Points", description="By rising share of the budget.")

    @model_validator(mode="after")
    def _shares_rise(self) -> Self:
        for n in range(1, len(self.points)):
            before, share = self.points[n - 1].share, self.points[n].share
            if share <= before:
                message = f"share is {share:g}, not above the point before ({before:g}); order the points by share, each once"
                raise Refusal(message, at=("points", n, "share"), code="out_of_order", value=share)
        return self

    def through(self, budget_bytes: int, memory_bytes: int) -> Points:
        return [(Fraction(repr(point.share)), Fraction(repr(point.factor))) for point in self.points]


class KlinkCollector(Variant):
    """1 + 0.30 max(0, (u - 0.6) / 0.4)^2 at a share u of the budget, above 1 as well; in steps of 0.02, up to u = 3."""

    title: ClassVar[str] = "Garbage collection, Klink"
    source: ClassVar[str] = "Farhat 2020, 5 (calibrated, not measured)"
    kind: Literal["klink"] = "klink"

    def through(self, budget_bytes: int, memory_bytes: int) -> Points:
        shares = [Fraction(60 + 2 * n, 100) for n in range(121)]
        return [(u, 1 + Fraction(3, 10) * ((u - Fraction(6, 10)) / Fraction(4, 10)) ** 2) for u in shares]


class CostreamCollector(Variant):
    """1 + 0.08 u / (1 - u) at a share u of the budget, u at most 0.98; beyond the machine's memory swapping, that times 1 + 40 of the
    share in excess, up to thrice the memory.
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
    """Bytes are counted and shown; nothing follows from them."""

    title: ClassVar[str] = "Counted only"
    icon: ClassVar[str] = "database"
    kind: Literal["counted"] = "counted"

    def refuse_misfit(self, memory_bytes: int) -> None:
        """Raise `Refusal` if the model does not fit a machine with so much memory (path below the model)."""


class Budget(Variant):
    """The engine's process has a budget: a footprint, and what it holds in queues, unsent outputs and state. As the budget is used up,
    services slow down; above the limit the host dies, for ever or until it is restarted.
    """

    title: ClassVar[str] = "Budget"
    icon: ClassVar[str] = "database"
    kind: Literal["budget"] = "budget"
    budget_mb: Number | None = quantity(
        None, unit="MB", gt=0, le=1e7, title="Budget", description="What 100 % of the curve means; not given: the host's memory."
    )
    limit_mb: Number | None = quantity(
        None, unit="MB", gt=0, le=1e9, title="Limit", description="The host dies above it (swap, for example); not given: the budget."
    )
    base_mb: Number = quantity(0.0, unit="MB", ge=0, le=1e7, title="Footprint", description="What the process takes when it holds nothing.")
    per_record_bytes: Integer = quantity(
        0, unit="bytes", ge=0, le=10**6, title="Per record", description="Of a record in a queue or not yet sent, whatever its size."
    )
    per_value_bytes: Integer = quantity(0, unit="bytes", ge=0, le=10**5, title="Per value", description="Of each field of such a record.")
    per_byte: Number = Field(
        default=1.0, ge=0, le=100, title="Per byte", description="Memory for each accounting byte of such a record; kept in thousandths."
    )
    state_factor: Number = Field(
        default=1.0, ge=0, le=100, title="State", description="Memory for each accounting byte of state; kept in thousandths."
    )
    slow_down: AnySlowDown = Field(default=NoSlowDown(), title="Slow-down", description="What services cost as memory fills.")
    on_full: Literal["die", "nothing"] = Field(
        default="die", title="When full", description="Above the limit the host dies; or nothing happens."
    )
    restart_after_s: Number | None = quantity(
        None,
        unit="s",
        ge=0.000000001,
        le=1e9,
        title="Restart after",
        description="So long after its death the host is up again, with an empty memory; not given: its death ends the run.",
    )

    @model_validator(mode="after")
    def _restarts_after_a_death(self) -> Self:
        if self.restart_after_s is not None and self.on_full != "die":
            message = (
                f"restart_after_s is {self.restart_after_s:g}, but on_full is '{self.on_full}', so the host never dies; "
                "choose on_full 'die', or leave restart_after_s out"
            )
            raise Refusal(message, at=("restart_after_s",), code="never_dies", value=self.restart_after_s)
        return self

    def budget_bytes(self, memory_bytes: int) -> int:
        return memory_bytes if self.budget_mb is None else megabytes_bytes(self.budget_mb)

    def limit_bytes(self, memory_bytes: int) -> int | None:
        """What the host may use before it dies, None if it does not."""
        if self.on_full != "die":
            return None
        return self.budget_bytes(memory_bytes) if self.limit_mb is None else megabytes_bytes(self.limit_mb)

    @property
    def restart_after_ns(self) -> int | None:
        """How long a host that has died is down, None: for ever."""
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
        """Raise `Refusal` if the model does not fit a machine with so much memory (path below the model)."""
        budget, memory_mb = self.budget_bytes(memory_bytes), memory_bytes / 1e6
        if memory_bytes > MEMORY_BYTES_MAX:
            message = f"memory_mb is {memory_mb:g}; a host with a memory model has at most {MEMORY_BYTES_MAX / 1e6:,.0f} MB"
            raise Refusal(message, code="out_of_range", value=memory_mb)
        if budget > memory_bytes:
            message = f"budget_mb is {self.budget_mb:g}, above the host's memory_mb ({memory_mb:g}); lower it, or give the host more memory"
            raise Refusal(message, at=("budget_mb",), code="out_of_range", value=self.budget_mb)
        if budget < 1:
            message = f"budget_mb is {self.budget_mb:g}, less than a byte; it must be at least 0.000001 MB"
            raise Refusal(message, at=("budget_mb",), code="out_of_range", value=self.budget_mb)
        if self.base_bytes >= budget:
            message = (
                f"base_mb is {self.base_mb:g}, which leaves nothing of the budget of {budget / 1e6:g} MB; "
                "make the footprint smaller, or the budget larger"
            )
            raise Refusal(message, at=("base_mb",), code="out_of_range", value=self.base_mb)
        if self.limit_mb is not None and megabytes_bytes(self.limit_mb) < budget:
            message = f"limit_mb is {self.limit_mb:g}, below the budget of {budget / 1e6:g} MB; give at least that, or leave it out"
            raise Refusal(message, at=("limit_mb",), code="out_of_range", value=self.limit_mb)

    def curve(self, memory_bytes: int) -> list[tuple[int, int]]:
        """(bytes used, factor in 1 / 2^16), by rising bytes; empty if nothing slows down."""
        budget = self.budget_bytes(memory_bytes)
        made = self.slow_down.through(budget, memory_bytes)
        return [(budget * share.numerator // share.denominator, int(factor * (1 << 16) + Fraction(1, 2))) for share, factor in made]


class Klink2020(Budget):
    """4 KiB for each event in a queue, 22 GiB for all of them; state does not count. Never dies: sources are throttled instead (policy
    ingress).
    """

    title: ClassVar[str] = "Klink 2020"
    source: ClassVar[str] = "Farhat 2020, 5 (calibrated, not measured)"
    kind: Literal["klink_2020"] = "klink_2020"  # type: ignore[assignment]
    budget_mb: Number | None = quantity(23_622.32, unit="MB", gt=0, le=1e7, title="Budget", description="For queued events; 22 GiB.")
    per_record_bytes: Integer = quantity(4096, unit="bytes", ge=0, le=10**6, title="Per record", description="Of an event in a queue.")
    per_byte: Number = Field(default=0.0, ge=0, le=100, title="Per byte", description="Memory for each accounting byte of such a record.")
    state_factor: Number = Field(default=0.0, ge=0, le=100, title="State", description="Memory for each accounting byte of state.")
    slow_down: AnySlowDown = Field(default=KlinkCollector(), title="Slow-down", description="What services cost as memory fills.")
    on_full: Literal["die", "nothing"] = Field(default="nothing", title="When full", description="What happens above the limit.")


class Costream2024(Budget):
    """450 MB for the process, 180 bytes for each tuple in a queue and 48 for each of its values; a heap of 12.5 GB, or the machine's memory
    if that is less; beyond the memory 3,000 MB of swap, then the host dies.
    """

    title: ClassVar[str] = "Costream 2024"
    source: ClassVar[str] = "Costream, 8.1 (calibrated, not measured)"
    kind: Literal["costream_2024"] = "costream_2024"  # type: ignore[assignment]
    heap_mb: Number = quantity(12_500.0, unit="MB", gt=0, le=1e7, title="Heap", description="At most so much is the budget.")
    swap_mb: Number = quantity(3000.0, unit="MB", ge=0, le=1e7, title="Swap", description="Beyond the machine's memory.")
    base_mb: Number = quantity(
        450.0, unit="MB", ge=0, le=1e7, title="Footprint", description="What the process takes when it holds nothing."
    )
    per_record_bytes: Integer = quantity(180, unit="bytes", ge=0, le=10**6, title="Per record", description="Of a tuple in a queue.")
    per_value_bytes: Integer = quantity(48, unit="bytes", ge=0, le=10**5, title="Per value", description="Of each value of such a tuple.")
    per_byte: Number = Field(default=0.0, ge=0, le=100, title="Per byte", description="Memory for each accounting byte of such a record.")
    slow_down: AnySlowDown = Field(default=CostreamCollector(), title="Slow-down", description="What services cost as memory fills.")

    def budget_bytes(self, memory_bytes: int) -> int:
        return min(memory_bytes, megabytes_bytes(self.heap_mb)) if self.budget_mb is None else megabytes_bytes(self.budget_mb)

    def limit_bytes(self, memory_bytes: int) -> int | None:
        if self.on_full != "die" or self.limit_mb is not None:
            return super().limit_bytes(memory_bytes)
        return memory_bytes + megabytes_bytes(self.swap_mb)


AnyMemory = Annotated[Counted | Budget | Klink2020 | Costream2024, Field(discriminator="kind")]

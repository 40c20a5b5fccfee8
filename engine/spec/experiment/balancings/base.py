"""Base of balancings: when they act."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.operator import Model
from ...base.origins import ASSUMED
from ...base.units import ADVANCED, Integer, Number, milliseconds_ns, quantity
from ...base.variant import Variant
from ...base.words import number_in_words


class WorksetMove(Model):
    """A workset, by its space and its number there, and the worker that it goes to."""

    space: Integer = quantity(ge=0, le=100_000, title="Space", description="Number of the workset's space, from 0 on.")
    number: Integer = quantity(ge=1, le=10**9, title="Workset", description="Number of the workset in its space, from 1 on.")
    to: Integer = quantity(ge=0, le=100_000, title="To", description="Number of the worker that it goes to, from 0 on.")


class BalancingOrder(Model):
    """Moves at a given time, whatever the policy decides otherwise. Without moves, it plans at that time."""

    at_s: Number = quantity(unit="s", gt=0, le=1e9, title="At", description="Virtual time, before the end of the run's horizon.")
    join: str = Field(
        default="", title="Join", description="The similarity join, if the query has several.", exclude_if=lambda join: not join
    )
    moves: tuple[WorksetMove, ...] = Field(default=(), max_length=1000, title="Moves", description="Worksets that move. None: plan.")

    @property
    def in_words(self) -> str:
        moves = ", ".join(f"workset {move.space}.{move.number} to worker {move.to}" for move in self.moves) or "plan"
        return f"{moves} at {number_in_words(self.at_s, 's')}"


class Balancing(Variant):
    """When worksets move, and what they take along. Whatever moves, no pair is lost, and none is found twice."""

    periodic: ClassVar[bool] = True  # it plans by itself

    mechanism: Literal["next_window", "online", "stop_restart"] = Field(
        default="next_window",
        title="Mechanism",
        description="next_window: from the start of a window on, so no record moves; online: at a barrier, with their records, while the "
        "job goes on; stop_restart: the same while the whole job stands still.",
        exclude_if=lambda mechanism: mechanism == "next_window",
    )
    every_s: Number = quantity(
        10.0,
        unit="s",
        gt=0,
        le=1e9,
        title="Every",
        description="Time between two plans of the mechanisms online and stop_restart.",
        exclude_if=lambda every_s: every_s == 10.0,
    )
    restart_s: Number = quantity(
        30.0,
        unit="s",
        ge=0,
        le=1e6,
        title="Restart",
        description="With stop_restart, how long the job stands still before its records are sent.",
        exclude_if=lambda restart_s: restart_s == 30.0,
    )
    capture_ms: Number = quantity(
        1.0,
        unit="ms",
        ge=0,
        le=1e6,
        title="Capture",
        description="CPU time of a worker that gives worksets away with their records.",
        advanced=True,
        charge=ASSUMED,
        exclude_if=lambda capture_ms: capture_ms == 1.0,
    )
    serialise_mb_per_s: Number = quantity(
        30.0,
        unit="MB/s",
        ge=0.001,
        le=1e6,
        title="Serialisation",
        description="Records that a core of speed 1 serialises or deserialises.",
        advanced=True,
        charge=ASSUMED,
        exclude_if=lambda speed: speed == 30.0,
    )
    trigger: Literal["always", "load", "latency"] = Field(
        default="always",
        title="Trigger",
        description="always: at each plan; load: only when the imbalance exceeds the threshold; latency: only when the 99th percentiles of "
        "two workers' latency differ by more than it, over the larger one.",
    )
    threshold: Number = quantity(
        0.2,
        unit="share",
        ge=0,
        le=1000,
        title="Threshold",
        description="Imbalance over the sum of all loads, or difference of latencies, from which it acts.",
    )
    load: Literal["comparisons", "cpu_time"] = Field(
        default="comparisons",
        title="Load",
        description="comparisons: their number, as in the source; cpu_time: microseconds of records, comparisons and pairs, by the prices "
        "of the join.",
        exclude_if=lambda load: load == "comparisons",
    )
    split_oversized: bool = Field(
        default=False,
        strict=True,
        title="Split oversized worksets",
        description="Ours, not the source's: a workset whose load alone exceeds the mean is split over several workers from the next "
        "window on. Each left record goes to one part, each right one to all.",
        exclude_if=lambda split_oversized: not split_oversized,
    )
    statistics: Literal["exact", "artefact"] = Field(
        default="exact",
        title="Statistics",
        description="exact: what joins have counted; artefact: as the prototype estimates loads, from records stored and new ones of each "
        "monitoring window, against an average of measured pairs and comparisons.",
        json_schema_extra=ADVANCED,
        exclude_if=lambda statistics: statistics == "exact",
    )
    monitor_s: Number = quantity(
        5.0,
        unit="s",
        gt=0,
        le=1e9,
        title="Monitoring window",
        description="Of the statistics artefact.",
        advanced=True,
        exclude_if=lambda monitor_s: monitor_s == 5.0,
    )
    notice_ms: Number = quantity(
        100.0,
        unit="ms",
        gt=0,
        le=1e9,
        title="Notice",
        description="With next_window, how long before a window starts loads are read and a plan is made.",
    )

    orders: tuple[BalancingOrder, ...] = Field(
        default=(),
        max_length=1000,
        title="Orders",
        description="Moves or plans at given times.",
        exclude_if=lambda orders: not orders,
    )

    @property
    def notice_ns(self) -> int:
        return max(milliseconds_ns(self.notice_ms), 1)

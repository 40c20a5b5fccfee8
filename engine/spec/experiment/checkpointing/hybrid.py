"""Hybrid checkpoints: rounds within regions, uncoordinated checkpoints elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.operator import Model
from ...base.problems import Problem, Refusal, pointer, suggestion
from ...base.units import Integer, Number, seconds_ns
from ..query import Query
from .checkpoints import AT
from .logged import LoggedCheckpoints
from .regions import Region, comes_back, cycle_within, default_regions

NUMBERS_MAX = 1 << 30
"""Checkpoint numbers are below this (`engine.checkpointing.messages.key`)."""

REGIONS = (*AT, "regions")


class Adaptation(Model):
    """A coordinated region switches to uncoordinated checkpoints when its rounds make it wait, and back when its load is balanced."""

    wait_share: Number = Field(
        default=0.2,
        ge=0,
        le=1000,
        title="Wait",
        description="Switch to uncoordinated when the mean wait for barriers exceeds this share of the interval, or a round is skipped.",
    )
    rounds: Integer = Field(default=3, ge=1, le=1000, title="Rounds", description="Number of rounds averaged for that wait.")
    load_ratio: Number = Field(
        default=1.2,
        ge=1,
        le=1e6,
        title="Load",
        description="Switch back when every operator's busiest instance serves less than this multiple of the mean of its instances.",
    )
    intervals: Integer = Field(
        default=6,
        ge=1,
        le=1000,
        title="Intervals",
        description="Number of intervals for which the load must stay balanced before switching back.",
    )


class HybridCheckpoints(LoggedCheckpoints):
    """Each region of operators takes its own rounds of coordinated checkpoints, without logs inside; all other operators are
    uncoordinated. After a loss, the recovery line combines rounds of regions and checkpoints of single instances.

    By default, each chain of operators connected by forward edges is a coordinated region: its barriers hardly wait, and shuffled
    records are logged.
    """

    title: ClassVar[str] = "Hybrid"
    position: ClassVar[int] = 5
    source: ClassVar[str] = "Siachamis 2024, 5.3.3 (the idea)"
    kind: Literal["hybrid"] = "hybrid"
    regions: tuple[Region, ...] | None = Field(
        default=None, title="Regions", description="Operators outside all regions are uncoordinated. Default: chains of forward edges."
    )
    adapt: Adaptation | None = Field(default=None, title="Adapt", description="When regions switch mode during the run. Default: never.")

    def regions_in(self, query: Query) -> tuple[Region, ...]:
        """The regions of the document, or the default ones."""
        return default_regions(query) if self.regions is None else self.regions

    def coordinated_regions(self, query: Query) -> dict[str, int]:
        regions = enumerate(self.regions_in(query))
        return {operator: n for n, region in regions if region.mode == "coordinated" for operator in region.operators}

    def interval_ns_of(self, region: Region) -> int:
        return self.interval_ns if region.interval_s is None else seconds_ns(region.interval_s)

    def number_step(self, horizon_ns: int, regions: Sequence[Region]) -> int:
        """Difference between the numbers of two consecutive rounds: a power of ten above the number of checkpoints that a machine's timers
        can trigger; 1 if regions do not adapt."""
        if self.adapt is None:
            return 1
        shortest_ns = min([self.interval_ns, *map(self.interval_ns_of, regions)]) - self.jitter_ns
        timers = len({self.interval_ns, *map(self.interval_ns_of, regions)}) + len(regions)
        return int(10 ** len(str(timers * (horizon_ns // max(shortest_ns, 1) + 1))))

    @model_validator(mode="after")
    def _can_adapt(self) -> Self:
        if self.adapt is not None and self.semantics != "exactly_once":
            message = (
                f"semantics is {self.semantics}, but adapting regions need logs for correct results; choose exactly_once, or omit adapt"
            )
            raise Refusal(message, at=("semantics",), value=self.semantics)
        return self

    def own_problems(self, draft: Any) -> Iterator[Problem]:
        """Check names and operators (duplicate, unknown), intervals, and paths on which barriers would block."""
        ways = [(wire.source, wire.target) for wire in draft.wires]
        names: set[str] = set()
        taken: dict[str, str] = {}
        for n, region in enumerate(self.regions or ()):
            if region.name in names:
                message = f"the name '{region.name}' is taken by another region; choose a different one"
                yield Problem(pointer(*REGIONS, n, "name"), "duplicate_name", message, region.name)
            names.add(region.name)
            for k, operator in enumerate(region.operators):
                at = pointer(*REGIONS, n, "operators", k)
                if operator not in draft.ids:
                    message = f"region '{region.name}' has operator '{operator}', but the query has no such operator; give an operator's id"
                    yield Problem(at, "unknown_operator", message, operator, suggestion(operator, draft.ids))
                elif operator in taken:
                    message = (
                        f"region '{region.name}' has operator '{operator}', which is already in region '{taken[operator]}'; keep it in "
                        "only one of them"
                    )
                    yield Problem(at, "duplicate_operator", message, operator)
                taken.setdefault(operator, region.name)
            yield from self._interval_problems(draft, n)
            cycle = cycle_within(region.operators, ways) if region.mode == "coordinated" else None
            if cycle is not None:
                message = (
                    f"region '{region.name}' is coordinated, but the edge from '{cycle[0]}' to '{cycle[1]}' is on a cycle inside it, where "
                    "an instance would wait for a barrier that only it could forward; remove one of the operators, or make the region "
                    "uncoordinated"
                )
                yield Problem(pointer(*REGIONS, n, "operators"), "cycle", message, list(region.operators))
        bounded = any(edge.capacity is not None for edge in draft.edges.values())
        if bounded or (draft.flow_control is not None and draft.flow_control.bounded):
            yield from self._credit_problems(draft)
        if self.adapt is not None and draft.workload is not None:
            yield from self._numbering_problems(draft, draft.workload.horizon_ns)

    def _interval_problems(self, draft: Any, n: int) -> Iterator[Problem]:
        region = (self.regions or ())[n]
        if region.interval_s is None:
            return
        at = pointer(*REGIONS, n, "interval_s")
        if draft.workload is not None and self.interval_ns_of(region) >= draft.workload.horizon_ns:
            message = (
                f"interval_s of region '{region.name}' is {region.interval_s:g}, but the horizon is {draft.workload.horizon_s:g} s, so "
                "no checkpoint of it would be taken; choose a shorter interval or a longer run"
            )
            yield Problem(at, "outside_run", message, region.interval_s)
        has_timers = region.mode == "uncoordinated" or self.adapt is not None
        if has_timers and self.jitter_ns >= self.interval_ns_of(region):
            message = (
                f"interval_s of region '{region.name}' is {region.interval_s:g}, not above jitter_s ({self.jitter_s:g}), so an "
                "interval could be empty; make it longer, or lower jitter_s"
            )
            yield Problem(at, "out_of_range", message, region.interval_s)

    def _numbering_problems(self, draft: Any, horizon_ns: int) -> Iterator[Problem]:
        """With adapting regions, instances number their own checkpoints between those of two rounds."""
        regions = self._regions(draft)
        if any(self.jitter_ns >= self.interval_ns_of(region) for region in regions):
            return  # reported separately
        rounds = sum(horizon_ns // self.interval_ns_of(region) for region in regions)
        if rounds * self.number_step(horizon_ns, regions) >= NUMBERS_MAX:
            message = (
                f"interval_s is {self.interval_s:g} and jitter_s {self.jitter_s:g}: too many checkpoints for a run of {horizon_ns / 1e9:g} "
                f"s with adapting regions: about {rounds:,} rounds, each with all checkpoints that instances may take on their own; choose "
                "longer intervals, less jitter or a shorter run"
            )
            yield Problem(pointer(*AT, "interval_s"), "out_of_range", message, self.interval_s)

    def _credit_problems(self, draft: Any) -> Iterator[Problem]:
        """A channel blocked by a barrier returns no credits. The sender blocked on it may be the one whose barrier, on another path, the
        receiver waits for."""
        edges = list(draft.edges.values())
        ways = [(edge.source, edge.target) for edge in edges]
        regions = self._regions(draft)
        coordinated = [region.operators for region in regions if region.mode == "coordinated"]
        for region in regions:
            if region.mode != "coordinated":
                continue
            inner = [edge for edge in edges if edge.source in region.operators and edge.target in region.operators]
            channels = dict.fromkeys(region.operators, 0)
            for edge in inner:
                sender = draft.by_id.get(edge.source)
                channels[edge.target] += 1 if edge.partitioning.one_to_one or sender is None else sender.parallelism
            back = comes_back(region.operators, coordinated, ways)
            if back is not None and max(channels.values()) > 1:
                message = (
                    f"a path leaves region '{region.name}' and re-enters it by the edge from '{back[0]}' to '{back[1]}'; with credits, a "
                    "channel that waits for a barrier could block that path, and with it the barrier; add the operators on the path to the "
                    "region, or choose flow control unbounded"
                )
                yield Problem(pointer(*AT, "regions"), "cycle", message, region.name)

    def _regions(self, draft: Any) -> tuple[Region, ...]:
        return self.regions_in(Query(operators=tuple(draft.by_id.values()), edges=tuple(draft.edges.values())))

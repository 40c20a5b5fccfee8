"""Whether a checkpointing protocol can do its work in an experiment: graph, sources, times, hosts."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.problems import Problem, pointer, suggestion
from ..experiment.checkpointing import Checkpoints, CoordinatedCheckpoints, HybridCheckpoints, Region
from ..experiment.experiment import Credits
from ..experiment.faults import HostLoss
from ..experiment.generation import Coordinated
from ..experiment.query import Query
from ..experiment.retention import KeepFor
from .draft import Draft
from .regions import comes_back, cycle_within, regions_of


def checkpointing_problems(draft: Draft) -> Iterator[Problem]:
    protocol = draft.checkpointing
    if not isinstance(protocol, Checkpoints):
        return
    if draft.workload is not None and protocol.interval_ns >= draft.workload.horizon_ns:
        message = (
            f"interval_s is {protocol.interval_s:g}, but the horizon is {draft.workload.horizon_s:g} s, so that no checkpoint would be "
            "taken; choose a shorter interval or a longer run"
        )
        yield Problem(pointer("policies", "checkpointing", "interval_s"), "outside_run", message, protocol.interval_s)
    if isinstance(protocol, CoordinatedCheckpoints) and protocol.on_cycle == "refuse":
        backward = next((wire for wire in draft.wires if wire.feedback), None)
        if backward is not None:
            message = (
                f"the edge from '{backward.source}' to '{backward.target}' closes a cycle, and an instance on it would wait for a barrier "
                "that only it could send on, so that no round is ever complete; choose another protocol, or on_cycle: run to see it stand "
                "still"
            )
            yield Problem(pointer("policies", "checkpointing", "on_cycle"), "cycle", message, protocol.on_cycle)
    if isinstance(protocol, HybridCheckpoints):
        yield from _region_problems(draft, protocol)
    for id, kind in draft.kinds.items():
        if kind.loses_state():
            message = (
                f"checkpointing is '{protocol.kind}', but '{id}' is of kind '{kind.kind}', which has state but does not say how to keep it "
                "(keeping), so no checkpoint would hold it and a recovery would begin it empty; choose checkpointing none, or a kind that "
                "keeps its state"
            )
            yield Problem(pointer("policies", "checkpointing", "kind"), "not_kept", message, protocol.kind)
    for id, source in draft.sources.items():
        if isinstance(source.generation, Coordinated):
            message = (
                f"source '{id}' makes its records when they are asked for, so that they could not be read again after a loss; "
                "choose generation open, or no checkpointing"
            )
            yield Problem(pointer("workload", "sources", id, "generation"), "no_replay", message, source.generation.kind)
        if isinstance(source.retention, KeepFor):
            message = (
                f"the log of source '{id}' drops records that are older than {source.retention.keep_s:g} s, so that they could not be read "
                "again after a loss; choose retention all, or no checkpointing"
            )
            yield Problem(pointer("workload", "sources", id, "retention"), "no_replay", message, source.retention.kind)
    for_ever = [(n, fault) for n, fault in draft.faults.items() if isinstance(fault, HostLoss) and fault.restart_after_s is None]
    for n, fault in for_ever[protocol.spares :]:
        message = (
            f"host '{fault.host}' is lost for ever, but the {protocol.spares} spare hosts are used up by then, so that nobody could take "
            f"its place; give policies.checkpointing.spares at least {len(for_ever)}, or restart_after_s"
        )
        yield Problem(pointer("faults", n, "restart_after_s"), "no_spare", message, None)


NUMBERS_MAX = 1 << 30
"""Checkpoints have numbers below this (`engine.checkpointing.messages.key`)."""

REGIONS = ("policies", "checkpointing", "regions")


def _region_problems(draft: Draft, protocol: HybridCheckpoints) -> Iterator[Problem]:
    """Names and operators that stand twice or are unknown; times; ways on which barriers would stop."""
    ways = [(wire.source, wire.target) for wire in draft.wires]
    names: set[str] = set()
    taken: dict[str, str] = {}
    for n, region in enumerate(protocol.regions or ()):
        if region.name in names:
            message = f"the name '{region.name}' is taken by another region; choose a different one"
            yield Problem(pointer(*REGIONS, n, "name"), "duplicate_name", message, region.name)
        names.add(region.name)
        for k, operator in enumerate(region.operators):
            at = pointer(*REGIONS, n, "operators", k)
            if operator not in draft.ids:
                message = f"region '{region.name}' has operator '{operator}', but the query has no such operator; name an operator's id"
                yield Problem(at, "unknown_operator", message, operator, suggestion(operator, draft.ids))
            elif operator in taken:
                message = (
                    f"region '{region.name}' has operator '{operator}', which is in region '{taken[operator]}' already; leave it in one of "
                    "them"
                )
                yield Problem(at, "duplicate_operator", message, operator)
            taken.setdefault(operator, region.name)
        yield from _interval_problems(draft, protocol, n)
        cycle = cycle_within(region.operators, ways) if region.mode == "coordinated" else None
        if cycle is not None:
            message = (
                f"region '{region.name}' is coordinated, but the edge from '{cycle[0]}' to '{cycle[1]}' is on a cycle inside it, where an "
                "instance would wait for a barrier that only it could send on; leave out one of the operators, or make the region "
                "uncoordinated"
            )
            yield Problem(pointer(*REGIONS, n, "operators"), "cycle", message, list(region.operators))
    if isinstance(draft.flow_control, Credits):
        yield from _credit_problems(draft, protocol)
    if protocol.adapt is not None and draft.workload is not None:
        yield from _numbering_problems(draft, protocol, draft.workload.horizon_ns)


def _regions(draft: Draft, protocol: HybridCheckpoints) -> tuple[Region, ...]:
    return regions_of(protocol, Query(operators=tuple(draft.by_id.values()), edges=tuple(draft.edges.values())))


def _interval_problems(draft: Draft, protocol: HybridCheckpoints, n: int) -> Iterator[Problem]:
    region = (protocol.regions or ())[n]
    if region.interval_s is None:
        return
    at = pointer(*REGIONS, n, "interval_s")
    if draft.workload is not None and protocol.interval_ns_of(region) >= draft.workload.horizon_ns:
        message = (
            f"interval_s of region '{region.name}' is {region.interval_s:g}, but the horizon is {draft.workload.horizon_s:g} s, so that no "
            "checkpoint of it would be taken; choose a shorter interval or a longer run"
        )
        yield Problem(at, "outside_run", message, region.interval_s)
    has_timers = region.mode == "uncoordinated" or protocol.adapt is not None
    if has_timers and protocol.jitter_ns >= protocol.interval_ns_of(region):
        message = (
            f"interval_s of region '{region.name}' is {region.interval_s:g}, not more than jitter_s, {protocol.jitter_s:g}; a span would "
            "be nothing"
        )
        yield Problem(at, "out_of_range", message, region.interval_s)


def _numbering_problems(draft: Draft, protocol: HybridCheckpoints, horizon_ns: int) -> Iterator[Problem]:
    """Where regions adapt, instances number checkpoints between those of two rounds."""
    regions = _regions(draft, protocol)
    if any(protocol.jitter_ns >= protocol.interval_ns_of(region) for region in regions):
        return  # which is a problem of its own
    rounds = sum(horizon_ns // protocol.interval_ns_of(region) for region in regions)
    if rounds * protocol.number_step(horizon_ns, regions) >= NUMBERS_MAX:
        message = (
            f"interval_s is {protocol.interval_s:g} and jitter_s {protocol.jitter_s:g}: too many checkpoints for a run of "
            f"{horizon_ns / 1e9:g} s in which regions adapt, about {rounds:,} rounds, each with all that instances may take by themselves; "
            "choose longer intervals, less jitter or a shorter run"
        )
        yield Problem(pointer("policies", "checkpointing", "interval_s"), "out_of_range", message, protocol.interval_s)


def _credit_problems(draft: Draft, protocol: HybridCheckpoints) -> Iterator[Problem]:
    """A channel that is barred for long gives no credits back: a sender that stands still by it may be the one whose barrier, on another
    way, the receiver waits for."""
    edges = list(draft.edges.values())
    ways = [(edge.source, edge.target) for edge in edges]
    regions = _regions(draft, protocol)
    coordinated = [region.operators for region in regions if region.mode == "coordinated"]
    for region in regions:
        if region.mode != "coordinated":
            continue
        inner = [edge for edge in edges if edge.source in region.operators and edge.target in region.operators]
        channels = dict.fromkeys(region.operators, 0)
        for edge in inner:
            sender = draft.by_id.get(edge.source)
            channels[edge.target] += 1 if edge.partitioning.kind == "forward" or sender is None else sender.parallelism
        back = comes_back(region.operators, coordinated, ways)
        if back is not None and max(channels.values()) > 1:
            message = (
                f"a way leaves region '{region.name}' and comes back to it by the edge from '{back[0]}' to '{back[1]}'; with credits a "
                "channel that waits for a barrier could stop that way, and with it the barrier; put what lies on the way into the region, "
                "or choose flow control unbounded"
            )
            yield Problem(pointer("policies", "checkpointing", "regions"), "cycle", message, region.name)

"""Checks of scaling: bounds, workers, times, orders, and conflicts with other parts of the run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ..base.family import kind_of
from ..base.problems import Problem, pointer, suggestion
from ..base.units import seconds_ns
from ..experiment.checkpointing.checkpoints import Checkpoints
from ..experiment.checkpointing.none import NoCheckpoints
from ..experiment.memory import Budget
from ..experiment.rates.recorded import RecordedRate
from ..experiment.scaling.base import Scaling
from ..experiment.scaling.looped import Looped
from .draft import Draft
from .scaling_limits import ScalingLimit, ordered

AT = ("policies", "scaling")
IN_PLACE = "choose in_place and keep the parallelism of '{id}', or choose a kind that keeps its state"


def scaling_problems(draft: Draft) -> Iterator[Problem]:
    scaling = draft.scaling
    if not isinstance(scaling, Scaling):
        return
    yield from _unknown_operators(draft, "operators", scaling.operators)
    if scaling.known_shares is not None:
        yield from _per_input_problems(draft, scaling.known_shares)
    if isinstance(scaling, Looped):
        yield from _iterations(draft, scaling)
    yield from incompatible_parts(draft)
    limits = draft.scaling_limits
    if limits is None:  # the query itself is invalid
        return
    yield from _nothing_to_scale(draft, limits)
    if scaling.orders or scaling.decides:
        yield from state_lost_in_restarts(draft, scaling, IN_PLACE)
    if isinstance(scaling, Looped):
        yield from _vertex_cycles(draft, limits)
    bounds = list(_bounds(draft, scaling, limits))
    yield from bounds
    workers = list(_workers(scaling, limits))
    yield from workers
    if not bounds and not workers:
        yield from _orders(draft, scaling, limits)


def _unknown_operators(draft: Draft, field: str, named: Mapping[str, object]) -> Iterator[Problem]:
    """Unknown operators named by a field."""
    for id in named:
        if id not in draft.ids:
            message = f"{field} names '{id}', but the query has no such operator; remove the entry or correct its name"
            yield Problem(pointer(*AT, field, id), "unknown_operator", message, id, suggestion(id, draft.ids))


def _per_input_problems(draft: Draft, per_input: Mapping[str, float]) -> Iterator[Problem]:
    yield from _unknown_operators(draft, "per_input", per_input)
    missing = [id for id in draft.ids if id not in per_input]
    if missing:
        message = f"per_input lacks {', '.join(missing)}; give for each operator how many records it serves per source record"
        yield Problem(pointer(*AT, "per_input"), "missing", message, sorted(per_input))
    for id, source in draft.sources.items():
        if isinstance(source.rate, RecordedRate):
            message = f"the load of '{id}' comes from a file and is not known in advance, but '{draft.scaling.kind}' plans from the load"
            yield Problem(pointer("workload", "sources", id, "rate"), "unknown_load", f"{message}; choose another rate", source.rate.kind)


def _iterations(draft: Draft, scaling: Looped) -> Iterator[Problem]:
    if draft.workload is not None and seconds_ns(scaling.start_s) + seconds_ns(scaling.every_s) >= draft.workload.horizon_ns:
        message = (
            f"start_s is {scaling.start_s:g} and every_s {scaling.every_s:g}, but the horizon is {draft.workload.horizon_s:g} s, so "
            "no decision would be taken; start earlier, or choose a longer run"
        )
        longer = "every_s" if scaling.every_s > scaling.start_s else "start_s"
        yield Problem(pointer(*AT, longer), "outside_run", message, getattr(scaling, longer))


def incompatible_parts(draft: Draft) -> Iterator[Problem]:
    """Parts of a run that are incompatible with rescaling."""
    protocol = NoCheckpoints() if draft.checkpointing is None else draft.checkpointing
    if not protocol.rescalable:
        message = (
            f"checkpointing is '{protocol.kind}', but a rescale replaces channels, and with them its logs and counters; choose "
            "coordinated or none"
        )
        yield Problem(pointer("policies", "checkpointing", "kind"), "not_scalable", message, protocol.kind)
    backward = next((wire for wire in draft.wires if wire.feedback), None)
    if backward is not None:
        message = (
            f"the edge from '{backward.source}' to '{backward.target}' closes a cycle, on which records would still circulate behind the "
            "barrier of a rescale; choose scaling none, or a query without a cycle"
        )
        yield Problem(pointer(*AT, "kind"), "cycle", message, draft.scaling.kind)
    if protocol.rescalable and isinstance(protocol, Checkpoints):
        if draft.scaling.rescaling.takes_parts and protocol.snapshots.links > 1:
            message = (
                f"snapshots are '{protocol.snapshots.kind}', but rescaling '{draft.scaling.rescaling.kind}' restores parts of single "
                "checkpoints after a loss; choose snapshots full, or rescaling stop_and_restart"
            )
            yield Problem(pointer("policies", "checkpointing", "snapshots"), "not_scalable", message, protocol.snapshots.kind)
        return
    why = "but without checkpoints its state would be lost, and no savepoint could complete; choose checkpointing coordinated"
    for n, fault in draft.faults.items():
        if fault.loses_host:
            message = f"host '{fault.host}' is lost, {why}, or remove the fault"
            yield Problem(pointer("faults", n, "kind"), "not_scalable", message, fault.kind)
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if isinstance(host.memory, Budget) and host.memory.restart_after_s is not None:
            message = f"restart_after_s is {host.memory.restart_after_s:g}, so host '{host.name}' may die and restart, {why}, or omit it"
            yield Problem(pointer("cluster", "hosts", n, "memory", "restart_after_s"), "not_scalable", message, host.memory.restart_after_s)


def _nothing_to_scale(draft: Draft, limits: list[ScalingLimit]) -> Iterator[Problem]:
    kind, stays = draft.scaling.kind, [limit.stays for limit in limits]
    if not draft.scaling.by_hand and stays and all(stays):
        message = f"'{kind}' has nothing to scale: {'; '.join(dict.fromkeys(stays))}; choose scaling none, or change that"
        yield Problem(pointer(*AT, "kind"), "not_scalable", message, kind)


def state_lost_in_restarts(draft: Draft, scaling: Any, remedy: str) -> Iterator[Problem]:
    """Operators that would lose their state in a restart, whether or not they change themselves. remedy: what to choose instead, with the
    operator's id to be filled in."""
    if not scaling.rescaling.begins_anew:
        return
    rescaling = kind_of(type(scaling.rescaling))
    for id, kind in draft.kinds.items():
        if kind.loses_state():
            message = (
                f"rescaling is '{rescaling}', which restarts all operators from a savepoint, but '{id}' is of kind '{kind.kind}', "
                f"which has state but does not declare how to keep it (keeping), so it would restart empty; {remedy.format(id=id)}"
            )
            yield Problem(pointer(*AT, "rescaling", "kind"), "not_scalable", message, rescaling)


def _vertex_cycles(draft: Draft, limits: list[ScalingLimit]) -> Iterator[Problem]:
    """Policies propagate rates from the sources and treat operators scaled together as one vertex. Merged vertices can form a cycle even
    if the query has none."""
    limit_of = {id: limit.operators for limit in limits for id in limit.operators}
    wires = [wire for wire in draft.wires if not wire.feedback and limit_of[wire.source] != limit_of[wire.target]]
    senders: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for wire in wires:
        senders.setdefault(limit_of[wire.target], []).append(limit_of[wire.source])
    try:
        TopologicalSorter(senders).prepare()
    except CycleError as error:
        cycle = error.args[1]  # each sends to the next
    else:
        return
    as_one = next(operators for operators in cycle if len(operators) > 1)
    wire = next(wire for wire in wires if (limit_of[wire.source], limit_of[wire.target]) == (cycle[0], cycle[1]))
    message = (
        f"forward edges connect {' and '.join(as_one)}, which are scaled together, so the edge from '{wire.source}' to '{wire.target}' is "
        f"on a cycle, and '{draft.scaling.kind}' cannot propagate rates through the query; change one of the forward edges to rebalance, "
        "or choose scaling manual"
    )
    yield Problem(pointer(*AT, "kind"), "cycle", message, draft.scaling.kind)


def _bounds(draft: Draft, scaling: Scaling, limits: list[ScalingLimit]) -> Iterator[Problem]:
    for limit in limits:
        for id in limit.operators:
            own, at = scaling.operators.get(id), (*AT, "operators", id)
            if own is None:
                continue
            if limit.parts is not None and own.max is not None and own.max > limit.parts and not limit.stays:
                message = f"max is {own.max}, but instances of '{id}' share {_shared_units(draft, limit)}; it must be at most {limit.parts}"
                yield Problem(pointer(*at, "max"), "out_of_range", message, own.max)
            elif own.min > limit.most and not limit.stays:
                with_it = f", with {' and '.join(limit.operators)} scaled together," if len(limit.operators) > 1 else ""
                message = f"min is {own.min}, but '{id}'{with_it} may have at most {limit.most}; lower it"
                yield Problem(pointer(*at, "min"), "out_of_range", message, own.min)
            elif limit.stays and own.min > limit.parallelism:
                message = f"min is {own.min}, but '{id}' stays at {limit.parallelism}: {limit.stays}; lower it"
                yield Problem(pointer(*at, "min"), "not_scalable", message, own.min)
            elif limit.parallelism < own.min:
                message = f"min is {own.min}, but '{id}' starts with {limit.parallelism}; lower it, or give the operator at least {own.min}"
                yield Problem(pointer(*at, "min"), "out_of_range", message, own.min)
            elif own.max is not None and limit.parallelism > own.max:
                message = f"max is {own.max}, but '{id}' starts with {limit.parallelism}; raise it, or give the operator at most {own.max}"
                yield Problem(pointer(*at, "max"), "out_of_range", message, own.max)


def _workers(scaling: Scaling, limits: list[ScalingLimit]) -> Iterator[Problem]:
    begins = sum(limit.parallelism * len(limit.operators) for limit in limits)
    if begins > scaling.workers_max:
        operators = sum(len(limit.operators) for limit in limits)
        message = f"workers_max is {scaling.workers_max}, but the {operators} operators start with {begins} instances in total"
        place = pointer(*AT, "workers_max")
        yield Problem(place, "out_of_range", f"{message}; set it to at least {begins}, or start with fewer", scaling.workers_max)


def _orders(draft: Draft, scaling: Scaling, limits: list[ScalingLimit]) -> Iterator[Problem]:
    limit_of = {id: limit for limit in limits for id in limit.operators}
    runs = {limit.operators: limit.parallelism for limit in limits}  # valid if no policy decides between orders
    for n, order in sorted(enumerate(scaling.orders), key=lambda item: seconds_ns(item[1].at_s)):
        at = (*AT, "orders", n)
        if draft.workload is not None and seconds_ns(order.at_s) >= draft.workload.horizon_ns:
            message = f"at_s is {order.at_s:g}, but the horizon is {draft.workload.horizon_s:g} s; choose an earlier time or a longer run"
            yield Problem(pointer(*at, "at_s"), "outside_run", message, order.at_s)
        sound = True
        for id, p in order.parallelism.items():
            problem = _ordered(draft, limit_of.get(id), order.parallelism, id, p, pointer(*at, "parallelism", id))
            sound = sound and problem is None
            if problem is not None:
                yield problem
        if sound:
            wishes = ((limit.operators, ordered(order, limit)) for limit in limits)
            yield from _too_many_workers(scaling, limits, runs, {operators: p for operators, p in wishes if p is not None}, at)


def _ordered(draft: Draft, limit: ScalingLimit | None, all: Mapping[str, int], id: str, p: int, place: str) -> Problem | None:
    """The problem with one operator's order, or None."""
    if limit is None:
        message = f"the order names '{id}', but the query has no such operator; remove the entry or correct its name"
        return Problem(place, "unknown_operator", message, id, suggestion(id, draft.ids))
    if limit.stays:
        message = f"'{id}' stays at {limit.parallelism}: {limit.stays}; remove it from the order"
        return None if p == limit.parallelism else Problem(place, "not_scalable", message, p)
    other = next((each for each in limit.operators if all.get(each, p) != p), None)
    if other is not None:
        message = f"the order gives '{id}' {p} and '{other}' {all[other]}, but forward edges connect them; give both the same"
        return Problem(place, "forward_parallelism", message, p)
    if p < limit.least:
        return Problem(place, "out_of_range", f"the order gives '{id}' {p}, below its min ({limit.least}); give at least that", p)
    if p > limit.most:
        what = f"instances share {_shared_units(draft, limit)}" if limit.parts == limit.most else f"its max is {limit.most}"
        return Problem(place, "out_of_range", f"the order gives '{id}' {p}, but {what}; give at most {limit.most}", p)
    return None


def _too_many_workers(
    scaling: Scaling,
    limits: list[ScalingLimit],
    runs: dict[tuple[str, ...], int],
    wish: Mapping[tuple[str, ...], int],
    at: tuple[str | int, ...],
) -> Iterator[Problem]:
    """Check the instances that an order needs. If a policy decides on the other operators, count their minimum; should the policy leave
    too few instances at that time, the job manager refuses the order."""
    if scaling.decides:
        workers = sum(wish.get(limit.operators, limit.least) * len(limit.operators) for limit in limits)
    else:
        runs |= wish
        workers = sum(p * len(operators) for operators, p in runs.items())
    if workers > scaling.workers_max:
        message = f"the order needs {workers} instances, but workers_max is {scaling.workers_max}; order fewer, or raise workers_max"
        yield Problem(pointer(*at, "parallelism"), "out_of_range", message, workers)


def _shared_units(draft: Draft, limit: ScalingLimit) -> str:
    is_source = any(id in draft.sources for id in limit.operators)
    return f"{limit.parts} {'partitions' if is_source else 'key groups'}"

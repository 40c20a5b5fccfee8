"""Whether what is to change the parallelism of a query can do so: bounds, workers, times, orders, and what else the run has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from .checkpointing import CoordinatedCheckpoints, NoCheckpoints
from .draft import Draft
from .faults import HostLoss
from .memory import Budget
from .problems import Problem, pointer, suggestion
from .rates import RecordedRate
from .rooms import Room, decides, ordered
from .scaling import Fixed, Looped, Manual, Oracle, Scaling, StopAndRestart
from .units import seconds_ns

AT = ("policies", "scaling")


def scaling_problems(draft: Draft) -> Iterator[Problem]:
    scaling = draft.scaling
    if not isinstance(scaling, Scaling):
        return
    yield from _names(draft, "operators", scaling.operators)
    if isinstance(scaling, Fixed | Oracle):
        yield from _shares(draft, scaling)
    if isinstance(scaling, Looped):
        yield from _iterations(draft, scaling)
    yield from _surroundings(draft)
    rooms = draft.rooms
    if rooms is None:  # too much else is wrong
        return
    yield from _nothing_to_scale(draft, rooms)
    yield from _lost_in_restarts(draft, scaling)
    if isinstance(scaling, Looped):
        yield from _in_a_circle(draft, rooms)
    bounds = list(_bounds(draft, scaling, rooms))
    yield from bounds
    workers = list(_workers(scaling, rooms))
    yield from workers
    if not bounds and not workers:
        yield from _orders(draft, scaling, rooms)


def _names(draft: Draft, field: str, named: Mapping[str, object]) -> Iterator[Problem]:
    """Operators that a field names and the query does not have."""
    for id in named:
        if id not in draft.ids:
            message = f"{field} names '{id}', but the query has no such operator; remove the entry or correct its name"
            yield Problem(pointer(*AT, field, id), "unknown_operator", message, id, suggestion(id, draft.ids))


def _shares(draft: Draft, scaling: Fixed | Oracle) -> Iterator[Problem]:
    if isinstance(scaling, Fixed) and scaling.for_ == "document":
        return
    yield from _names(draft, "per_input", scaling.per_input)
    missing = [id for id in draft.ids if id not in scaling.per_input]
    if missing:
        message = f"per_input lacks {', '.join(missing)}; give for each operator how many records it serves for each record of the sources"
        yield Problem(pointer(*AT, "per_input"), "missing", message, sorted(scaling.per_input))
    for id, source in draft.sources.items():
        if isinstance(source.rate, RecordedRate):
            message = f"the load of '{id}' is the file's own, whose rate is not known beforehand, and '{scaling.kind}' decides by it"
            yield Problem(pointer("workload", "sources", id, "rate"), "unknown_load", f"{message}; choose another rate", source.rate.kind)


def _iterations(draft: Draft, scaling: Looped) -> Iterator[Problem]:
    if draft.workload is not None and seconds_ns(scaling.start_s) + seconds_ns(scaling.every_s) >= draft.workload.horizon_ns:
        message = (
            f"start_s is {scaling.start_s:g} and every_s {scaling.every_s:g}, but the horizon is {draft.workload.horizon_s:g} s, so that "
            "nothing would ever be decided; begin earlier, or choose a longer run"
        )
        longer = "every_s" if scaling.every_s > scaling.start_s else "start_s"
        yield Problem(pointer(*AT, longer), "outside_run", message, getattr(scaling, longer))


def _surroundings(draft: Draft) -> Iterator[Problem]:
    """What a run has besides that no rescale could cope with."""
    protocol = NoCheckpoints() if draft.checkpointing is None else draft.checkpointing
    if not isinstance(protocol, NoCheckpoints | CoordinatedCheckpoints):
        message = (
            f"checkpointing is '{protocol.kind}', but a rescale moves the ends of channels, to which its logs and counters belong; choose "
            "coordinated or none"
        )
        yield Problem(pointer("policies", "checkpointing", "kind"), "not_scalable", message, protocol.kind)
    backward = next((wire for wire in draft.wires if wire.feedback), None)
    if backward is not None:
        message = (
            f"the edge from '{backward.source}' to '{backward.target}' closes a cycle, in which records would still go round behind the "
            "barrier of a rescale; choose scaling none, or a query without a cycle"
        )
        yield Problem(pointer(*AT, "kind"), "cycle", message, draft.scaling.kind)
    if isinstance(protocol, CoordinatedCheckpoints):
        return
    why = "but without checkpoints its state would be gone, and no savepoint of a rescale complete; choose checkpointing coordinated"
    for n, fault in draft.faults.items():
        if isinstance(fault, HostLoss):
            message = f"host '{fault.host}' is lost, {why}, or leave the fault out"
            yield Problem(pointer("faults", n, "kind"), "not_scalable", message, fault.kind)
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if isinstance(host.memory, Budget) and host.memory.restart_after_s is not None:
            message = (
                f"restart_after_s is {host.memory.restart_after_s:g}, so host '{host.name}' may die and come back, {why}, or leave it out"
            )
            yield Problem(pointer("cluster", "hosts", n, "memory", "restart_after_s"), "not_scalable", message, host.memory.restart_after_s)


def _nothing_to_scale(draft: Draft, rooms: list[Room]) -> Iterator[Problem]:
    kind, stays = draft.scaling.kind, [room.stays for room in rooms]
    if not isinstance(draft.scaling, Manual) and stays and all(stays):
        message = f"'{kind}' has nothing to scale: {'; '.join(dict.fromkeys(stays))}; choose scaling none, or change that"
        yield Problem(pointer(*AT, "kind"), "not_scalable", message, kind)


def _lost_in_restarts(draft: Draft, scaling: Scaling) -> Iterator[Problem]:
    """Operators that a restart would begin empty, whether their own parallelism changes or not."""
    if not isinstance(scaling.rescaling, StopAndRestart) or not (scaling.orders or decides(scaling)):
        return
    for id, kind in draft.kinds.items():
        if kind.loses_state():
            message = (
                f"rescaling is 'stop_and_restart', which begins all operators anew from a savepoint, but '{id}' is of kind '{kind.kind}', "
                "which has state but does not say how to keep it (keeping), so it would begin empty; choose in_place and leave the "
                f"parallelism of '{id}' as it is, or choose a kind that keeps its state"
            )
            yield Problem(pointer(*AT, "rescaling", "kind"), "not_scalable", message, scaling.rescaling.kind)


def _in_a_circle(draft: Draft, rooms: list[Room]) -> Iterator[Problem]:
    """Policies follow rates from the sources on, and operators that are scaled as one are one for them: so a query without a cycle may
    have one to their eyes."""
    room_of = {id: room.operators for room in rooms for id in room.operators}
    wires = [wire for wire in draft.wires if not wire.feedback and room_of[wire.source] != room_of[wire.target]]
    senders: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for wire in wires:
        senders.setdefault(room_of[wire.target], []).append(room_of[wire.source])
    try:
        TopologicalSorter(senders).prepare()
    except CycleError as error:
        cycle = error.args[1]  # each sends to the next
    else:
        return
    as_one = next(operators for operators in cycle if len(operators) > 1)
    wire = next(wire for wire in wires if (room_of[wire.source], room_of[wire.target]) == (cycle[0], cycle[1]))
    message = (
        f"forward edges connect {' and '.join(as_one)}, which are scaled as one, so the edge from '{wire.source}' to '{wire.target}' is on "
        f"a cycle, and '{draft.scaling.kind}' could not follow rates through the query; let one of the forward edges rebalance, or choose "
        "scaling manual"
    )
    yield Problem(pointer(*AT, "kind"), "cycle", message, draft.scaling.kind)


def _bounds(draft: Draft, scaling: Scaling, rooms: list[Room]) -> Iterator[Problem]:
    for room in rooms:
        for id in room.operators:
            own, at = scaling.operators.get(id), (*AT, "operators", id)
            if own is None:
                continue
            if room.parts is not None and own.max is not None and own.max > room.parts and not room.stays:
                message = f"max is {own.max}, but instances of '{id}' share {_parts(draft, room)}; it must be at most {room.parts}"
                yield Problem(pointer(*at, "max"), "out_of_range", message, own.max)
            elif own.min > room.most and not room.stays:
                with_it = f", with {' and '.join(room.operators)} scaled as one," if len(room.operators) > 1 else ""
                message = f"min is {own.min}, but '{id}'{with_it} may have {room.most} at most; lower it"
                yield Problem(pointer(*at, "min"), "out_of_range", message, own.min)
            elif room.stays and own.min > room.parallelism:
                message = f"min is {own.min}, but '{id}' stays at {room.parallelism}: {room.stays}; lower it"
                yield Problem(pointer(*at, "min"), "not_scalable", message, own.min)
            elif room.parallelism < own.min:
                message = f"min is {own.min}, but '{id}' begins with {room.parallelism}; lower it, or give the operator at least {own.min}"
                yield Problem(pointer(*at, "min"), "out_of_range", message, own.min)
            elif own.max is not None and room.parallelism > own.max:
                message = f"max is {own.max}, but '{id}' begins with {room.parallelism}; raise it, or give the operator at most {own.max}"
                yield Problem(pointer(*at, "max"), "out_of_range", message, own.max)


def _workers(scaling: Scaling, rooms: list[Room]) -> Iterator[Problem]:
    begins = sum(room.parallelism * len(room.operators) for room in rooms)
    if begins > scaling.workers_max:
        operators = sum(len(room.operators) for room in rooms)
        message = f"workers_max is {scaling.workers_max}, but the {operators} operators begin with {begins} instances in all"
        place = pointer(*AT, "workers_max")
        yield Problem(place, "out_of_range", f"{message}; give it at least {begins}, or begin with fewer", scaling.workers_max)


def _orders(draft: Draft, scaling: Scaling, rooms: list[Room]) -> Iterator[Problem]:
    room_of = {id: room for room in rooms for id in room.operators}
    runs = {room.operators: room.parallelism for room in rooms}  # as far as nobody decides between orders
    for n, order in sorted(enumerate(scaling.orders), key=lambda item: seconds_ns(item[1].at_s)):
        at = (*AT, "orders", n)
        if draft.workload is not None and seconds_ns(order.at_s) >= draft.workload.horizon_ns:
            message = f"at_s is {order.at_s:g}, but the horizon is {draft.workload.horizon_s:g} s; choose an earlier time or a longer run"
            yield Problem(pointer(*at, "at_s"), "outside_run", message, order.at_s)
        sound = True
        for id, p in order.parallelism.items():
            problem = _ordered(draft, room_of.get(id), order.parallelism, id, p, pointer(*at, "parallelism", id))
            sound = sound and problem is None
            if problem is not None:
                yield problem
        if sound:
            wishes = ((room.operators, ordered(order, room)) for room in rooms)
            yield from _too_many(scaling, rooms, runs, {operators: p for operators, p in wishes if p is not None}, at)


def _ordered(draft: Draft, room: Room | None, all: Mapping[str, int], id: str, p: int, place: str) -> Problem | None:
    """What is wrong with the order of one operator."""
    if room is None:
        message = f"the order names '{id}', but the query has no such operator; remove the entry or correct its name"
        return Problem(place, "unknown_operator", message, id, suggestion(id, draft.ids))
    if room.stays:
        message = f"'{id}' stays at {room.parallelism}: {room.stays}; leave it out of the order"
        return None if p == room.parallelism else Problem(place, "not_scalable", message, p)
    other = next((each for each in room.operators if all.get(each, p) != p), None)
    if other is not None:
        message = f"the order gives '{id}' {p} and '{other}' {all[other]}, but forward edges connect them; give both the same"
        return Problem(place, "forward_parallelism", message, p)
    if p < room.least:
        return Problem(place, "out_of_range", f"the order gives '{id}' {p}, below its min, {room.least}; give it at least that", p)
    if p > room.most:
        what = f"instances share {_parts(draft, room)}" if room.parts == room.most else f"its max is {room.most}"
        return Problem(place, "out_of_range", f"the order gives '{id}' {p}, but {what}; give it at most {room.most}", p)
    return None


def _too_many(
    scaling: Scaling, rooms: list[Room], runs: dict[tuple[str, ...], int], wish: Mapping[tuple[str, ...], int], at: tuple[str | int, ...]
) -> Iterator[Problem]:
    """Workers, with what is ordered: where a policy decides of the rest, at least. If it leaves too few, the job manager refuses them."""
    if decides(scaling):
        workers = sum(wish.get(room.operators, room.least) * len(room.operators) for room in rooms)
    else:
        runs |= wish
        workers = sum(p * len(operators) for operators, p in runs.items())
    if workers > scaling.workers_max:
        message = f"the order takes {workers} workers, and workers_max is {scaling.workers_max}; order fewer, or give more"
        yield Problem(pointer(*at, "parallelism"), "out_of_range", message, workers)


def _parts(draft: Draft, room: Room) -> str:
    is_source = any(id in draft.sources for id in room.operators)
    return f"{room.parts} {'partitions' if is_source else 'key groups'}"

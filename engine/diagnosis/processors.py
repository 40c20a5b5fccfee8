"""Limits of instances and of the cores that they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from engine.spec.experiment.checkpointing.checkpoints import Checkpoints
from engine.spec.experiment.memory import Counted

from .limit import Evidence, Limit, LimitKind
from .observed import SATURATED, Group, Observed, count, listed, percent

APART = 1.2
"""An instance gets more input, or serves records more slowly, than the others if it does so by this factor."""

RELIEVED = 0.9
"""A cause explains a saturated resource if without it the resource would be busy for less than this share."""


class Candidate(NamedTuple):
    """A saturated resource. rows: instances at which records wait for it. group: cores that instances share; None: their own time."""

    operator: str
    rows: tuple[int, ...]
    group: Group | None


def saturated(run: Observed) -> Iterator[Candidate]:
    """Yield saturated instances by operator, and groups of instances on saturated cores."""
    own = run.occupied >= SATURATED
    for group in run.groups:
        members = list(group.members)
        if len(members) < 2 or group.load < SATURATED or own[members].any():
            continue
        waiting = [row for row in members if run.pressed[row] and run.blocked[row] < SATURATED]
        if waiting:
            hardest = max(waiting, key=lambda row: (run.waiting_records(row), run.occupied[row]))
            yield Candidate(str(run.instances.name[hardest]), tuple(waiting), group)
    for operator in run.names:
        rows = [row for row in run.rows(operator).tolist() if own[row]] or _by_turns(run, operator)
        if rows:
            yield Candidate(operator, tuple(rows), None)


def _by_turns(run: Observed, operator: str) -> list[int]:
    """Return the instances of which one at a time is saturated: the keys that are hot change."""
    if run.instances.busiest.get(operator, 0.0) < SATURATED:
        return []
    rows = sorted(run.rows(operator).tolist(), key=lambda row: -run.instances.turns[row])
    covered, taken = 0.0, []
    for row in rows:
        if covered < SATURATED:
            taken.append(row)
            covered += float(run.instances.turns[row])
    return taken


def explained(run: Observed, candidate: Candidate) -> Limit:
    """Return why this resource is saturated."""
    if candidate.group is not None:
        return _collector(run, candidate) or _protocol(run, candidate) or _cores(run, candidate.group, candidate.rows)
    return _collector(run, candidate) or _protocol(run, candidate) or _instances(run, candidate)


# -- instances ----------------------------------------------------------------------------------------------------------


def _instances(run: Observed, candidate: Candidate) -> Limit:
    operator, found = candidate.operator, run.instances
    rows, every = list(candidate.rows), run.rows(operator)
    kind, skew = (LimitKind.SOURCE,) * 2 if run.is_source(operator) else (LimitKind.INSTANCES, LimitKind.SKEW)
    names = listed([run.label(row) for row in rows])
    waiting = _waiting(run, operator, rows)
    if len(every) == 1:
        sentence = f"{operator}, with its only instance, limits this run: it is busy {percent(run.occupied[rows[0]])} of the time{waiting}."
        return _limit(run, kind, sentence, operator, rows)
    if run.occupied[rows].max() < SATURATED:
        return _one_at_a_time(run, operator, rows, every.tolist())
    others = [row for row in every.tolist() if row not in rows]
    if not others or run.occupied[others].mean() >= RELIEVED:
        lowest, highest = run.occupied[every].min(), run.occupied[every].max()
        span = percent(highest) if highest - lowest < 0.005 else f"{percent(lowest)} to {percent(highest)}"
        sentence = f"All {len(every)} instances of {operator} limit this run: they are busy {span} of the time{waiting}."
        return _limit(run, kind, sentence, operator, every.tolist())
    top = max(rows, key=lambda row: found.sums["served"][row] * (1 + run.waiting_records(row)))
    input_share = found.sums["served"][top] / max(found.sums["served"][every].sum(), 1)
    more = input_share * len(every)
    slower = _ns_per_record(run, top) / max(float(np.median([_ns_per_record(run, row) for row in others])), 1e-9)
    rest = f"while the other instances of {operator} are busy {percent(run.occupied[others].mean())} on average"
    one = len(rows) == 1
    if slower >= APART and slower >= more:
        host = run.host_of(top)
        speed = f"; its cores run at {host.speed_milli / 1000:g} x speed" if host.speed_milli != 1000 else ""
        sentence = (
            f"The cores of {host.name} limit this run: {run.label(top)} takes {slower:.1f} times as long per record there as the other "
            f"instances elsewhere, and is busy {percent(run.occupied[top])} of the time, {rest}{speed}."
        )
        return replace(_limit(run, LimitKind.CORES, sentence, operator, rows), host=host.name)
    if more >= APART:
        sentence = (
            f"{names} {'limits' if one else 'limit'} this run: {'it gets' if one else f'{run.label(top)} gets'} {percent(input_share)} of "
            f"the input of {operator} (an even share is {percent(1 / len(every))}) and {'is' if one else 'they are'} busy "
            f"{percent(run.occupied[rows].max())} of the time, {rest}{waiting}."
        )
        return _limit(run, skew, sentence, operator, rows)
    sentence = (
        f"{names} {'is' if one else 'are'} busy {percent(run.occupied[rows].max())} of the time, {rest}. The input is even and so is the "
        "time per record: look at a longer span."
    )
    return _limit(run, LimitKind.UNCLEAR, sentence, operator, rows)


def _one_at_a_time(run: Observed, operator: str, rows: list[int], every: list[int]) -> Limit:
    sentence = (
        f"One instance of {operator} at a time limits this run: {listed([run.label(row) for row in rows])} take turns as the busiest one, "
        f"which is busy {percent(run.instances.busiest[operator])} of the time, while all {len(every)} are busy "
        f"{percent(run.occupied[every].mean())} on average. The keys that are hot change."
    )
    return _limit(run, LimitKind.SOURCE if run.is_source(operator) else LimitKind.SKEW, sentence, operator, rows)


def _ns_per_record(run: Observed, row: int) -> float:
    """Return the time per record, without control elements."""
    return float(run.instances.sums["service_ns"][row] / max(run.instances.sums["served"][row], 1))


def _waiting(run: Observed, operator: str, rows: Sequence[int]) -> str:
    number = run.waiting_together(rows)
    if number < 1:
        return ""
    place = "in the logs" if run.is_source(operator) else "in front of it" if len(rows) == 1 else "in front of them"
    return f", and {count(number)} records wait {place}"


def _limit(run: Observed, kind: LimitKind, sentence: str, operator: str, rows: Sequence[int]) -> Limit:
    every = run.rows(operator).tolist()
    evidence = [Evidence(f"{run.label(row)} on {run.host_of(row).name}", _of_instance(run, row, every)) for row in rows[:8]]
    index = tuple(int(run.instances.index[row]) for row in rows)
    host = run.host_of(rows[0]).name if len({int(run.instances.host[row]) for row in rows}) == 1 else None
    return Limit(kind, sentence, tuple(evidence), operator, index, host)


def _of_instance(run: Observed, row: int, every: Sequence[int]) -> str:
    found = run.instances
    parts = [f"busy {percent(found.share('busy_ns')[row])}"]
    for column, word in (("stolen_ns", "without its core"), ("blocked_ns", "blocked")):
        if found.share(column)[row] >= 0.005:
            parts.append(f"{word} {percent(found.share(column)[row])}")
    parts.append(f"{count(found.sums['served'][row] / run.span_s)} records/s")
    if len(every) > 1:
        parts.append(f"{percent(found.sums['served'][row] / max(found.sums['served'][list(every)].sum(), 1))} of the input")
    if not run.is_source(str(found.name[row])):
        parts.append(f"{count(found.last['queue'][row])} waiting")
    return ", ".join(parts)


# -- cores --------------------------------------------------------------------------------------------------------------


def _cores(run: Observed, group: Group, waiting: Sequence[int]) -> Limit:
    host = run.machines[group.host]
    by_use = sorted(group.members, key=lambda row: -run.instances.sums["busy_ns"][row])
    used = [row for row in by_use if run.instances.share("busy_ns")[row] >= 0.005]
    users = listed([f"{run.label(row)} ({percent(run.instances.share('busy_ns')[row])})" for row in used])
    others = [other.load for other in run.groups if other.host != group.host and other.members]
    elsewhere = _elsewhere(others)
    load, hardest = percent(min(group.load, 1)), waiting[0]
    if group.cores * 1000 < min(host.cores_milli, 1000 * len(group.members)):
        subject = f"A core of {host.name} limits this run: it is"
    elif host.cores_milli <= 1000:
        subject = f"The core of {host.name} limits this run: it is"
    else:
        subject = f"The cores of {host.name} limit this run: they are"
    records = count(max(run.waiting_records(row) for row in waiting))
    sentence = f"{subject} busy {load} of the time with {users}{elsewhere}; {records} records wait at {run.label(hardest)}."
    evidence = [Evidence(f"Cores of {host.name}", f"{group.cores:g} at {host.speed_milli / 1000:g} x speed, busy {load}")]
    for row in by_use[:7]:
        every = run.rows(str(run.instances.name[row])).tolist()
        evidence.append(Evidence(run.label(row), _of_instance(run, row, every)))
    instances = (int(run.instances.index[hardest]),)
    return Limit(LimitKind.CORES, sentence, tuple(evidence), str(run.instances.name[hardest]), instances, host.name)


def _elsewhere(loads: Sequence[float]) -> str:
    """Return how busy the cores of the other hosts are, as the end of a clause. loads: of each."""
    if not loads:
        return ""
    if min(loads) >= SATURATED:
        return ", as are those of all other hosts" if len(loads) > 1 else ", as are those of the other host"
    return f", while those of the other hosts are busy {percent(float(np.mean(loads)))} on average"


# -- what makes services longer -----------------------------------------------------------------------------------------


def _load(run: Observed, candidate: Candidate) -> float:
    return min(candidate.group.load, 1.0) if candidate.group is not None else float(run.occupied[list(candidate.rows)].max())


def _collector(run: Observed, candidate: Candidate) -> Limit | None:
    """A full memory slows all services of the host down (docs/model.md, memory)."""
    row = max(candidate.rows, key=lambda row: run.occupied[row])
    host = run.host_of(row)
    if isinstance(host.memory, Counted) or host.name not in run.hosts.name:
        return None
    factor = float(run.hosts.slow_down[run.hosts.name.index(host.name)])
    without = _load(run, candidate) / max(factor, 1.0)
    if without >= RELIEVED:
        return None
    used = [frame["hosts"][host.name].get("memory") for frame in run.live if host.name in frame["hosts"]]
    shares = [sample["used_bytes"] / host.memory_bytes for sample in used if sample]
    full = f" ({percent(shares[-1])} of the memory is in use)" if shares else ""
    sentence = (
        f"The memory of {host.name} limits this run: garbage collection makes every service there {factor:.2f} times as long{full}. "
        f"Without it {run.label(row)} would be busy {percent(without)} of the time instead of {percent(_load(run, candidate))}."
    )
    limit = _limit(run, LimitKind.COLLECTOR, sentence, candidate.operator, candidate.rows)
    return replace(limit, host=host.name, evidence=(Evidence(f"Memory of {host.name}", f"services x {factor:.2f}"), *limit.evidence))


def _protocol(run: Observed, candidate: Candidate) -> Limit | None:
    """Copying and serialising state for checkpoints takes the time of the instances."""
    protocol = run.experiment.policies.checkpointing
    if not isinstance(protocol, Checkpoints):
        return None
    members = candidate.group.members if candidate.group is not None else (max(candidate.rows, key=lambda row: run.occupied[row]),)
    cores = candidate.group.cores if candidate.group is not None else 1.0
    spent_ns = sum(_captures_ns(run, row, protocol) for row in members)
    share = spent_ns / (cores * run.span_s * 1e9)
    without = _load(run, candidate) - share
    if without >= RELIEVED:
        return None
    who, it = run.label(members[0]), "it"
    if candidate.group is not None:
        who, it = f"the instances on {run.machines[candidate.group.host].name}", "they"
    sentence = (
        f"Checkpoints limit this run: copying and serialising state takes {percent(share)} of the time of {who}; without it "
        f"{it} would be busy {percent(max(without, 0))} instead of {percent(_load(run, candidate))}."
    )
    limit = _limit(run, LimitKind.PROTOCOL, sentence, candidate.operator, candidate.rows)
    return replace(limit, evidence=(Evidence("Interval", f"{protocol.interval_s:g} s"), *limit.evidence))


def _captures_ns(run: Observed, row: int, protocol: Checkpoints) -> float:
    """Return an estimate of the time for captures in the span: one per interval, of the state at its end. It cannot exceed what the
    instance spent on control elements."""
    control_ns = float(run.instances.sums["busy_ns"][row] - run.instances.sums["service_ns"][row])
    captures = run.span_s / protocol.interval_s
    capture_s = protocol.capture_ms / 1e3 + run.instances.last["state_bytes"][row] / (protocol.serialise_mb_per_s * 1e6)
    speed = run.host_of(row).speed_milli / 1000
    return float(min(captures * capture_s * 1e9 / speed, max(control_ns, 0.0)))

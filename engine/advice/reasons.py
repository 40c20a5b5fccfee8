"""Why a placement is suggested: what models predict if one thing about it were different."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from engine.costmodels.description import Host
from engine.costmodels.encoding import Floats
from engine.costmodels.features import JointGraph, joint_graph
from engine.placement.space import Placed

from .describe import Described

NEARER_MS = 10.0
"""By how much a host's latency is lower in a reason."""

LEAST_MS = 1.0
"""Least latency of a host in training (Heinrich et al. 2024, Table II)."""

CHANGE_MIN = 0.05
"""Share of the cost from which on a change is told: members differ by about as much."""

MOST = 6
"""Number of reasons that are told."""

Predict = Callable[[Sequence[JointGraph]], Floats]
"""The mean over the members."""

Knows = Callable[[JointGraph, Placed], bool]


@dataclass(frozen=True)
class OtherHost:
    """What the cost would be with an operator where it is now, and all others as suggested."""

    operator: str
    host: str
    cost: float

    def as_json(self) -> dict[str, Any]:
        return {"kind": "other_host", **vars(self)}


@dataclass(frozen=True)
class OtherFeature:
    """What the cost would be if a host had more of something, or were nearer. before, after: values of the feature."""

    host: str
    feature: str
    before: float
    after: float
    cost: float

    def as_json(self) -> dict[str, Any]:
        return {"kind": "other_feature", **vars(self)}


Reason = OtherHost | OtherFeature


def reasons(
    described: Described, names: Sequence[str], present: Placed, suggested: Placed, predict: Predict, knows: Knows
) -> tuple[Reason, ...]:
    """Those that change the predicted cost by 5 % or more, the largest change first. names: of hosts. knows: whether the models have seen
    the like in training; what they have not is no reason."""

    def graph(hosts: Sequence[Host], placed: Placed) -> JointGraph:
        return joint_graph(described.query, hosts, placed, described.selectivities)

    asked: list[tuple[Callable[[float], Reason], JointGraph]] = []
    for n, placed in _moved_back(described, present, suggested):
        if knows(moved := graph(described.hosts, placed), placed):
            asked.append((partial(OtherHost, described.ids[n], names[present[n]]), moved))
    for host, feature, hosts in _other_hosts(described, suggested):
        if knows(changed := graph(hosts, suggested), suggested):
            values = getattr(described.hosts[host], feature), getattr(hosts[host], feature)
            asked.append((partial(OtherFeature, names[host], feature, *values), changed))
    base, *costs = predict([graph(described.hosts, suggested), *(of for _, of in asked)]).tolist()
    found = [made(cost) for (made, _), cost in zip(asked, costs, strict=True)]
    told = [one for one in found if abs(one.cost - base) >= CHANGE_MIN * abs(base)]
    return tuple(sorted(told, key=lambda one: -abs(one.cost - base))[:MOST])


def _moved_back(described: Described, present: Placed, suggested: Placed) -> Iterator[tuple[int, Placed]]:
    """One operator after the other that would move. A single one says nothing: then all of it is the move."""
    moved = [n for n, (here, there) in enumerate(zip(present, suggested, strict=True)) if here != there]
    for n in moved if len(moved) > 1 else ():
        yield n, tuple(present[k] if k == n else host for k, host in enumerate(suggested))


def _other_hosts(described: Described, suggested: Placed) -> Iterator[tuple[int, str, tuple[Host, ...]]]:
    for number in sorted(set(suggested)):
        host = described.hosts[number]
        changes = {"cpu_percent": 2 * host.cpu_percent, "ram_mb": 2 * host.ram_mb, "mbit_per_s": 2 * host.mbit_per_s}
        if host.latency_ms > LEAST_MS:
            changes["latency_ms"] = max(LEAST_MS, host.latency_ms - NEARER_MS)
        for feature, value in changes.items():
            changed = replace(host, **{feature: value})
            yield number, feature, tuple(changed if n == number else one for n, one in enumerate(described.hosts))

"""Checks of active standbys: each is drawn like its operator, gets the same records in the same order, and outlives it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..base.problems import Problem, pointer, suggestion
from ..experiment.memory import Budget
from ..experiment.query import Edge
from ..experiment.states.active_standby import ActiveStandby
from .draft import Draft

AT = ("policies", "state")
Placement = Mapping[str, Sequence[int]]
Path = tuple[str | int, ...]


def standby_problems(draft: Draft, about: ActiveStandby, params: Mapping[str, Any], placement: Placement | None) -> Iterator[Problem]:
    """params: typed parameters by operator id, None if they are invalid. placement: hosts of its instances by operator id, None if
    unknown."""
    named: dict[str, Path] = {}
    pairs: list[tuple[int, str, str]] = []
    for n, pair in enumerate(about.pairs):
        known = True
        for name, id in (("operator", pair.operator), ("standby", pair.standby)):
            at = (*AT, "pairs", n, name)
            if id not in draft.ids:
                known = False
                yield Problem(pointer(*at), "unknown_operator", f"the query has no operator '{id}'; {suggestion(id, draft.ids)}", id)
            elif id in named:
                known = False
                message = f"'{id}' is named at {pointer(*named[id])}, too; name each operator once"
                yield Problem(pointer(*at), "named_twice", message, id)
            named.setdefault(id, at)
        if known and pair.operator in draft.by_id and pair.standby in draft.by_id:
            pairs.append((n, pair.operator, pair.standby))
            yield from _pair_problems(draft, n, pair.operator, pair.standby, params)
    yield from _excluded(draft)
    if placement is not None:
        yield from _placement_problems(draft, pairs, placement)
        yield from _loss_problems(draft, pairs, placement)


def _pair_problems(draft: Draft, n: int, operator: str, standby: str, params: Mapping[str, Any]) -> Iterator[Problem]:
    first, second = draft.by_id[operator], draft.by_id[standby]
    at = (*AT, "pairs", n, "standby")
    for name in ("kind", "params", "parallelism"):
        if getattr(first, name) != getattr(second, name):
            message = f"{name} of '{standby}' is not that of '{operator}', so it gives other results; draw it like '{operator}'"
            yield Problem(pointer(*at), "not_alike", message, standby)
            return
    kind = draft.kinds.get(operator)
    if kind is None or params.get(operator) is None:
        return
    if reason := kind.unmirrored(params[operator]):
        message = f"'{operator}' can have no standby: {reason}"
        yield Problem(pointer(*AT, "pairs", n, "operator"), "not_mirrored", message, operator)
        return
    into, out_of = _edges(draft, operator)
    if len(into) != 1:
        message = f"'{operator}' has {len(into)} inbound edges, whose records may come in another order to its standby; draw one"
        yield Problem(pointer(*AT, "pairs", n, "operator"), "several_inputs", message, operator)
        return
    source = draft.by_id.get(into[0].source)
    if source is not None and source.parallelism > 1:
        message = (
            f"'{source.id}' has {source.parallelism} instances, so records may come in another order to '{standby}' than to '{operator}'; "
            "give it one"
        )
        yield Problem(pointer("query", "operators", draft.ids[source.id], "parallelism"), "several_senders", message, source.parallelism)
    others = [edge for edge in out_of if edge.target in draft.kinds and draft.kinds[edge.target].kind != "sink"]
    if others:
        message = f"'{operator}' sends to '{others[0].target}', but only sinks take results of an operator with a standby; draw a sink"
        yield Problem(pointer(*AT, "pairs", n, "operator"), "not_to_a_sink", message, operator)
    if _ends(draft, operator) != _ends(draft, standby):
        message = f"'{standby}' has other edges than '{operator}'; draw the same ones, with the same partitioning"
        yield Problem(pointer(*at), "not_alike", message, standby)


def _edges(draft: Draft, id: str) -> tuple[list[Edge], list[Edge]]:
    edges = list(draft.edges.values())
    return [edge for edge in edges if edge.target == id], [edge for edge in edges if edge.source == id]


def _ends(draft: Draft, id: str) -> list[list[tuple[Any, ...]]]:
    """Of the inbound and the outbound edges, in any order: the other end, and how records are distributed."""
    into, out_of = _edges(draft, id)
    return [
        sorted((edge.source, edge.source_port, edge.target_port, repr(edge.partitioning)) for edge in into),
        sorted((edge.target, edge.target_port, edge.source_port, repr(edge.partitioning)) for edge in out_of),
    ]


def _excluded(draft: Draft) -> Iterator[Problem]:
    """Policies that would lose or move what a pair keeps, and edges that wait for credit of a lost host."""
    for name in ("engine", "checkpointing", "scaling", "balancing"):
        policy = getattr(draft, name)
        if policy is not None and policy.kind != "none":
            message = f"{name} is '{policy.kind}', but it knows nothing of standbys; choose none, or state memory"
            yield Problem(pointer("policies", name, "kind"), "not_with_standbys", message, policy.kind)
    for index, edge in draft.edges.items():
        if edge.capacity is not None:
            message = "the edge is bounded, and whoever sends would wait for a lost host; leave out capacity, or choose state memory"
            yield Problem(pointer("query", "edges", index, "capacity"), "bounded", message, edge.capacity)
    if draft.flow_control is not None and draft.flow_control.bounded:
        message = (
            f"flow_control is '{draft.flow_control.kind}', and whoever sends would wait for a lost host; choose unbounded, or state memory"
        )
        yield Problem(pointer("policies", "flow_control", "kind"), "bounded", message, draft.flow_control.kind)
    message = "a standby does not notice that a host has died of its memory; leave out restart_after_s, or choose state memory"
    for n, host in enumerate(draft.cluster.hosts if draft.cluster is not None else ()):
        if isinstance(host.memory, Budget) and host.memory.restart_after_s is not None:
            place = pointer("cluster", "hosts", n, "memory", "restart_after_s")
            yield Problem(place, "not_with_standbys", message, host.memory.restart_after_s)


def _placement_problems(draft: Draft, pairs: Sequence[tuple[int, str, str]], placement: Placement) -> Iterator[Problem]:
    hosts = [host.name for host in draft.hosts or ()]
    for n, operator, standby in pairs:
        for k, (a, b) in enumerate(zip(placement.get(operator, ()), placement.get(standby, ()), strict=False)):
            if a == b:
                message = (
                    f"{operator}[{k}] and {standby}[{k}] are both on {hosts[a]}, and would be lost together; place one on another host"
                )
                yield Problem(pointer(*AT, "pairs", n, "standby"), "same_host", message, standby)
                break


def _loss_problems(draft: Draft, pairs: Sequence[tuple[int, str, str]], placement: Placement) -> Iterator[Problem]:
    """Hosts that may be lost have nothing but instances of pairs, and never both of a pair."""
    hosts = [host.name for host in draft.hosts or ()]
    losses = {n: fault for n, fault in draft.faults.items() if fault.loses_host}
    lost = {fault.host for fault in losses.values()}
    paired = {id for _, *ids in pairs for id in ids}
    for n, fault in losses.items():
        if fault.host not in hosts:
            continue
        number = hosts.index(fault.host)
        other = next((id for id, indices in placement.items() if number in indices and id not in paired), None)
        if other is not None:
            message = f"{fault.host} may be lost, and '{other}' on it has no standby; place it on a host that is not"
            yield Problem(pointer("faults", n, "host"), "no_standby", message, fault.host)
        for _, operator, standby in pairs:
            both = [
                (hosts[a], hosts[b])
                for a, b in zip(placement.get(operator, ()), placement.get(standby, ()), strict=False)
                if number == b and {hosts[a], hosts[b]} <= lost and a != b
            ]
            if both:
                message = (
                    f"{both[0][0]} and {both[0][1]} may both be lost, and a standby has no standby of its own; lose the one with "
                    f"'{operator}', or the one with '{standby}'"
                )
                yield Problem(pointer("faults", n, "host"), "both_lost", message, fault.host)
                break

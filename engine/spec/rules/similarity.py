"""Checks of similarity joins: the operators of one join have to agree, or pairs would be missing without a sign of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from ..base.family import kind_of
from ..base.problems import Problem, pointer
from ..experiment.query import Edge, OperatorSpec
from .draft import Draft, items, section

PARTITIONERS = {
    "workset_formulation": "space_partitioner",
    "self_workset_formulation": "space_partitioner",
    "cluster_join": "cluster_partitioner",
}
"""By kind, what partitions its records, on each side."""
FORMULATIONS = {"similarity_join": "workset_formulation", "self_similarity_join": "self_workset_formulation"}
"""By kind of a join of worksets, what forms them."""

SAME_AS_PARTITIONERS = ("distance", "threshold")
SAME_AS_FORMULATION = ("distance", "threshold", "window", "lateness_ms")
SAME_ON_BOTH_SIDES = ("distance", "threshold", "spaces", "seed", "keys", "workers")


def sink_of_workers(operators: Iterable[OperatorSpec], edges: Collection[Edge], join: OperatorSpec) -> tuple[int, int] | None:
    """Number and parallelism of the sink that measures each worker of a join: as parallel, fed by a forward edge, `by_instance`."""
    fed = {edge.target for edge in edges if edge.source == join.id and kind_of(type(edge.partitioning)) == "forward"}
    for number, spec in enumerate(operators):
        measures = spec.kind == "sink" and spec.params.get("by_instance") is True
        if measures and spec.id in fed and spec.parallelism == join.parallelism:
            return number, spec.parallelism
    return None


def similarity_problems(draft: Draft, params: Mapping[str, Any]) -> Iterator[Problem]:
    """params: typed parameters by operator id, None if they are invalid."""
    kinds = {id: kind.kind for id, kind in draft.kinds.items()}
    for id, kind in kinds.items():
        if params.get(id) is None:
            continue
        if kind in PARTITIONERS:
            yield from _sides(draft, params, kinds, id, PARTITIONERS[kind])
        if kind in FORMULATIONS:
            yield from _join(draft, params, kinds, id, FORMULATIONS[kind])
        if getattr(params[id], "pairs", "each") == "counted":
            yield from _latencies(draft, id)


def _sides(draft: Draft, params: Mapping[str, Any], kinds: Mapping[str, str], id: str, wanted: str) -> Iterator[Problem]:
    """The partitioners in front of an operator, among one another and with it."""
    ports = draft.kinds[id].inputs
    before = [one for port in ports for one in _before(draft, kinds, id, port, wanted) if params.get(one) is not None]
    for one in before[1:]:
        yield from _differences(draft, params, one, before[0], SAME_ON_BOTH_SIDES)
    if before:
        yield from _differences(draft, params, id, before[0], SAME_AS_PARTITIONERS)
        workers = getattr(params[before[0]], "workers", None)
        if workers is not None:
            yield from _workers(draft, before[0], workers, id)
        spaces, instances = params[before[0]].spaces, draft.by_id[id].parallelism
        if wanted == "space_partitioner" and spaces < instances:
            message = f"spaces is {spaces}, but '{id}' has {instances} instances, so some would have no space; use at least {instances}"
            yield Problem(_place(draft, before[0], "spaces"), "too_few_spaces", message, spaces)


def _join(draft: Draft, params: Mapping[str, Any], kinds: Mapping[str, str], id: str, formulation: str) -> Iterator[Problem]:
    for port in draft.kinds[id].inputs:
        for before in _before(draft, kinds, id, port, formulation):
            if params.get(before) is not None:
                yield from _differences(draft, params, id, before, SAME_AS_FORMULATION)
                yield from _workers(draft, before, params[before].workers, id)


def _latencies(draft: Draft, id: str) -> Iterator[Problem]:
    """Pairs that are counted together have one newest contributor, by the measured clock, but each its own oldest one."""
    about = section(draft.document, "measurement") or {}
    measured = section(about, "latency") or {}
    clock = measured.get("from", "append")
    places: list[tuple[tuple[str | int, ...], Any]] = [(("measurement", "latency"), measured)]
    places += [(("measurement", "also", n), further) for n, further in enumerate(items(section(about, "also")))]
    for place, latency in places:
        if not isinstance(latency, dict) or latency.get("to", "sink") not in ("sink", "emit"):
            continue
        anchor, of = latency.get("anchor", "trigger"), latency.get("from", clock)
        if anchor not in ("trigger", "newest"):
            message = f"anchor is '{anchor}', but '{id}' counts pairs together that differ in it; use newest or trigger, or pairs: each"
            yield Problem(pointer(*place, "anchor"), "not_with_counted_pairs", message, anchor)
        elif anchor == "newest" and of != clock:
            message = f"from is '{of}', but '{id}' counts pairs together by the measured clock ({clock}); use that, or pairs: each"
            yield Problem(pointer(*place, "from"), "not_with_counted_pairs", message, of)


def _workers(draft: Draft, id: str, workers: int, join: str) -> Iterator[Problem]:
    instances = draft.by_id[join].parallelism
    if workers != instances:
        message = f"workers is {workers}, but '{join}', which its records go to, has {instances} instances; give both the same number"
        yield Problem(_place(draft, id, "workers"), "different_workers", message, workers)


def _differences(draft: Draft, params: Mapping[str, Any], id: str, other: str, names: tuple[str, ...]) -> Iterator[Problem]:
    """Parameters in which an operator differs from one that belongs to the same join."""
    for name in names:
        mine, theirs = (getattr(params[one], name, None) for one in (id, other))
        if mine != theirs:
            message = f"{name} is {_shown(mine)}, but '{other}' of the same similarity join has {_shown(theirs)}; give both the same"
            yield Problem(_place(draft, id, name), "different", message)


def _shown(value: Any) -> str:
    if hasattr(value, "model_dump"):
        return ", ".join(f"{name} {what}" for name, what in value.model_dump().items())
    return f"'{value}'" if isinstance(value, str) else f"{value:g}" if isinstance(value, float) else str(value)


def _place(draft: Draft, id: str, name: str) -> str:
    return pointer("query", "operators", draft.ids[id], "params", name)


def _before(draft: Draft, kinds: Mapping[str, str], id: str, port: str, wanted: str) -> list[str]:
    """The operators of a kind from which records reach the port, past others with one input."""
    found: dict[str, None] = {}
    seen: set[str] = set()
    todo = [edge.source for edge in draft.edges.values() if edge.target == id and edge.target_port == port]
    while todo:
        one = todo.pop(0)
        if one in seen:
            continue
        seen.add(one)
        if kinds.get(one) == wanted:
            found[one] = None
        elif one in draft.kinds and len(draft.kinds[one].inputs) == 1:
            todo += [edge.source for edge in draft.edges.values() if edge.target == one]
    return list(found)

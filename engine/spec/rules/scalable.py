"""Which operators can change their parallelism during a run, and why the others cannot (docs/autoscaling.md)."""

from __future__ import annotations

from collections.abc import Mapping

from ..base.operator import Operator
from ..experiment.generation import Coordinated
from ..experiment.query import Query
from ..experiment.workload import DeviceWatermarks, Workload


def vertices(query: Query) -> list[tuple[str, ...]]:
    """Groups of operators connected by forward edges, feedback edges included, in document order. Each group is scaled as one."""
    vertex_of = {spec.id: {spec.id} for spec in query.operators}
    for edge in query.edges:
        if edge.partitioning.one_to_one:
            together = vertex_of[edge.source] | vertex_of[edge.target]
            vertex_of |= dict.fromkeys(together, together)
    ordered = {id: tuple(other for other in vertex_of if other in vertex) for id, vertex in vertex_of.items()}
    return list(dict.fromkeys(ordered.values()))


def unscalable(query: Query, kinds: Mapping[str, type[Operator]], workload: Workload) -> dict[str, str]:
    """The reason why an operator's parallelism is fixed, by operator. Operators that can be scaled are left out. The first reason found
    holds for the whole vertex.

    kinds: operator kinds by operator id.
    """
    found: dict[str, str] = {}
    for vertex in vertices(query):
        reason = next(filter(None, (_reason(query, kinds, workload, id, vertex) for id in vertex)), None)
        if reason is not None:
            found |= dict.fromkeys(vertex, reason)
    return found


def _reason(query: Query, kinds: Mapping[str, type[Operator]], workload: Workload, id: str, vertex: tuple[str, ...]) -> str | None:
    spec = next(spec for spec in query.operators if spec.id == id)
    kind, source = kinds[id], workload.sources.get(id)
    keyings = [keying for edge in query.edges if edge.target == id and (keying := edge.partitioning.keying) is not None]
    if any(edge.feedback and id in (edge.source, edge.target) for edge in query.edges):
        return f"a feedback edge leads to or from '{id}', and its records would keep circulating behind a barrier"
    if source is not None and isinstance(source.generation, Coordinated):
        return f"each generator of '{id}' waits for one of its instances"
    if source is not None and isinstance(source.watermarks, DeviceWatermarks):
        return f"devices send '{id}' a watermark per partition, and an instance with several partitions could not tell them apart"
    if kind.loses_state():
        return f"'{id}' is of kind '{spec.kind}', which has state but does not declare how to keep it (keeping), so a rescale would lose it"
    most = kind.parallelism_max(spec.parameters)
    if most is not None:
        return f"'{id}' is correct only with at most {most} instances"
    if any(keying.groups == 0 for keying in keyings):
        schemes = " and ".join(sorted({keying.scheme for keying in keyings if keying.groups == 0}))
        return f"an inbound edge of '{id}' is partitioned by {schemes}, so another parallelism would move keys to other groups"
    if len({keying.groups for keying in keyings}) > 1:
        return f"the inbound hash edges of '{id}' have different numbers of key groups"
    if kind.keeping is not None and any(not kinds[other].inputs for other in vertex):
        return f"'{id}' keeps state downstream of a source's forward edges, so its instances have seen different watermarks"
    for edge in query.edges:
        key = kind.required_key(spec.parameters, edge.target_port) if edge.target == id else None
        keying = edge.partitioning.keying
        if key is not None and (keying is None or keying.field != key):
            return f"'{id}' is keyed by '{key}', but one of its inbound edges is not hashed by it, so it must stay at one instance"
    if kind.keeping is not None and not kind.keeping.by_key_groups:
        return f"'{id}' keeps its state by worksets or partitions, not by the key that its edges hash, so its parallelism is fixed"
    if kind.keeping is not None and not keyings:
        return f"'{id}' keeps keyed state, but no inbound hash edge assigns its keys to instances"
    return None

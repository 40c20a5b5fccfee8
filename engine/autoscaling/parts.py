"""Vertices, the units of scaling of a query, for those who read metrics: by the world's operator numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from engine.spec import Experiment
from engine.spec.base.units import scaled
from engine.spec.rules.scaling_limits import ScalingLimit

from .limits import Limit
from .metrics import Graph

PPM = 1_000_000


class Part(NamedTuple):
    """A vertex. name: id of its first operator. operators: numbers of all its operators. entered: operators with input from other vertices
    or topics. left: operators with output to other vertices, or the final operators if there is none. sources: ids and numbers of its
    sources. edges: numbers of the edges from other vertices. cpu: by operator, base, busy, and per million records per second, in
    millionths."""

    name: str
    operators: tuple[int, ...]
    entered: tuple[int, ...]
    left: tuple[int, ...]
    sources: tuple[tuple[str, int], ...]
    edges: tuple[int, ...]
    cpu: tuple[tuple[int, int, int], ...]


def parts_of(experiment: Experiment, scaling_limits: Sequence[ScalingLimit]) -> list[Part]:
    query = experiment.query
    number = {spec.id: n for n, spec in enumerate(query.operators)}
    found = []
    for limit in scaling_limits:
        inside = set(limit.operators)
        edges = [n for n, edge in enumerate(query.edges) if edge.target in inside and edge.source not in inside]
        sources = tuple((id, number[id]) for id in limit.operators if id in experiment.workload.sources)
        entered = {number[query.edges[n].target] for n in edges} | {n for _, n in sources}
        left = {number[edge.source] for edge in query.edges if edge.source in inside and edge.target not in inside}
        numbers = tuple(number[id] for id in limit.operators)
        left = left or {*numbers} - {number[edge.source] for edge in query.edges}
        reports = [None if query.operators[n].cost is None else query.operators[n].cost for n in numbers]
        cpu = tuple(
            (0, PPM, 0) if cost is None else (scaled(cost.cpu.base, PPM), scaled(cost.cpu.busy, PPM), scaled(cost.cpu.per_million, PPM))
            for cost in reports
        )
        found.append(Part(limit.operators[0], numbers, tuple(sorted(entered)), tuple(sorted(left)), sources, tuple(edges), cpu))
    return found


def graph_of(experiment: Experiment, scaling_limits: Sequence[ScalingLimit]) -> Graph:
    """Return the graph that policies see."""
    vertex_of = {id: limit.operators[0] for limit in scaling_limits for id in limit.operators}
    ways = [(vertex_of[edge.source], vertex_of[edge.target]) for edge in experiment.query.edges]
    edges = tuple(dict.fromkeys(way for way in ways if way[0] != way[1]))
    waiting = {limit.operators[0]: sum(target == limit.operators[0] for _, target in edges) for limit in scaling_limits}
    ready = [vertex for vertex, count in waiting.items() if not count]
    for vertex in ready:  # grows during the iteration
        for source, target in edges:
            if source == vertex:
                waiting[target] -= 1
                if not waiting[target]:
                    ready.append(target)
    sources = {vertex_of[id] for id in experiment.workload.sources}
    return Graph(
        tuple(ready),
        edges,
        tuple(vertex for vertex in ready if vertex in sources),
        {limit.operators[0]: limit.parts for limit in scaling_limits},
    )


def limits(scaling_limits: Sequence[ScalingLimit]) -> dict[str, Limit]:
    """Return the bounds of each vertex."""
    return {limit.operators[0]: Limit(limit.least, limit.most, len(limit.operators)) for limit in scaling_limits}

"""Regions of the hybrid protocol: which operators take checkpoints together (docs/checkpointing.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from ..experiment.checkpointing import HybridCheckpoints, Region
from ..experiment.query import Edge, Query

Ways = Sequence[tuple[str, str]]
"""Ends of edges, feedback edges too, by operator id."""


def regions_of(protocol: HybridCheckpoints, query: Query) -> tuple[Region, ...]:
    """Those of the document. By default each chain of operators that forward edges connect is a coordinated one: its barriers hardly wait,
    and what is shuffled is logged. Chains with a cycle, or that a way leaves and comes back to, are left out: rounds may be useless."""
    if protocol.regions is not None:
        return protocol.regions
    ways = [(edge.source, edge.target) for edge in query.edges]
    found: list[list[str]] = []
    for chain in _chains([operator.id for operator in query.operators], query.edges):
        together = [*found, chain]
        sound = len(chain) > 1 and not cycle_within(chain, ways) and not any(comes_back(one, together, ways) for one in together)
        found = together if sound else found
    return tuple(Region(name=chain[0], operators=tuple(chain)) for chain in found)


def coordinated_region(protocol: object, query: Query) -> dict[str, int]:
    """By operator the number of its coordinated region among all; operators in none are left out."""
    if not isinstance(protocol, HybridCheckpoints):
        return {}
    regions = enumerate(regions_of(protocol, query))
    return {operator: n for n, region in regions if region.mode == "coordinated" for operator in region.operators}


def cycle_within(operators: Collection[str], ways: Ways) -> tuple[str, str] | None:
    """An edge of a cycle that does not leave these operators; None if there is none."""
    inner = [(source, target) for source, target in ways if source in operators and target in operators]
    return next(((source, target) for source, target in inner if source in _reached([target], inner)), None)


def comes_back(operators: Collection[str], regions: Sequence[Collection[str]], ways: Ways) -> tuple[str, str] | None:
    """The edge by which a way that leaves these operators comes back to them, if there is one. Who enters a region can leave it anywhere:
    its rounds are one."""
    jumps = [(a, b) for region in regions if set(region) != set(operators) for a in region for b in region]
    outer = [(source, target) for source, target in ways if source not in operators and target not in operators]
    left = [target for source, target in ways if source in operators and target not in operators]
    reached = _reached(left, [*outer, *jumps])
    return next(((source, target) for source, target in ways if source in reached and target in operators), None)


def _reached(start: Iterable[str], ways: Ways) -> set[str]:
    """All to which ways lead from these, they included."""
    receivers: dict[str, list[str]] = {}
    for source, target in ways:
        receivers.setdefault(source, []).append(target)
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        operator = waiting.pop()
        if operator not in reached:
            reached.add(operator)
            waiting += receivers.get(operator, [])
    return reached


def _chains(operators: Iterable[str], edges: Iterable[Edge]) -> list[list[str]]:
    """Operators that forward edges connect, in the query's order; those that lead back do not count."""
    forward = [(edge.source, edge.target) for edge in edges if edge.partitioning.kind == "forward" and not edge.feedback]
    both = [*forward, *((target, source) for source, target in forward)]
    ids = list(operators)
    chains: Mapping[frozenset[str], None] = dict.fromkeys(frozenset(_reached([id], both)) for id in ids)
    return [[id for id in ids if id in chain] for chain in chains]

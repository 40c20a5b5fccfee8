"""Regions of operators that take checkpoints together, and the ways between them (docs/checkpointing.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from ...base.operator import Model
from ...base.units import Number, quantity
from ..query import Edge, Query

Ways = Sequence[tuple[str, str]]
"""Ends of edges, feedback edges too, by operator id."""


class Region(Model):
    """Operators that take their checkpoints in one way: in rounds of their own, or each worker by its own clock."""

    name: str = Field(min_length=1, max_length=63, title="Name", description="What rounds and messages call it.")
    operators: tuple[str, ...] = Field(min_length=1, title="Operators", description="Their ids, each in one region at most.")
    mode: Literal["coordinated", "uncoordinated"] = Field(
        default="coordinated", title="Mode", description="Rounds of barriers and no log inside; or clocks of workers and logs."
    )
    interval_s: Number | None = quantity(
        None, unit="s", ge=0.001, le=1e6, title="Interval", description="Of this region; not given: that of the protocol."
    )


def default_regions(query: Query) -> tuple[Region, ...]:
    """Each chain of operators that forward edges connect is a coordinated region: its barriers hardly wait, and what is shuffled is logged.
    Chains with a cycle, or that a way leaves and comes back to, are left out: their rounds may be useless."""
    ways = [(edge.source, edge.target) for edge in query.edges]
    found: list[list[str]] = []
    for chain in _chains([operator.id for operator in query.operators], query.edges):
        together = [*found, chain]
        sound = len(chain) > 1 and not cycle_within(chain, ways) and not any(comes_back(one, together, ways) for one in together)
        found = together if sound else found
    return tuple(Region(name=chain[0], operators=tuple(chain)) for chain in found)


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
    forward = [(edge.source, edge.target) for edge in edges if edge.partitioning.one_to_one and not edge.feedback]
    both = [*forward, *((target, source) for source, target in forward)]
    ids = list(operators)
    chains: Mapping[frozenset[str], None] = dict.fromkeys(frozenset(_reached([id], both)) for id in ids)
    return [[id for id in ids if id in chain] for chain in chains]

"""Regions of operators that take checkpoints together, and the paths between them (docs/checkpointing.md)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Literal

from pydantic import Field

from ...base.operator import Model
from ...base.units import Number, quantity
from ..query import Edge, Query

Ways = Sequence[tuple[str, str]]
"""Edges, feedback edges included, as pairs of operator ids."""


class Region(Model):
    """Operators that share a checkpointing mode: in rounds of their own, or each host by its own clock."""

    name: str = Field(min_length=1, max_length=63, title="Name", description="Name in rounds and messages.")
    operators: tuple[str, ...] = Field(
        min_length=1,
        title="Operators",
        description="Operator ids, each in at most one region.",
        json_schema_extra={"x-items": "operator"},
    )
    mode: Literal["coordinated", "uncoordinated"] = Field(
        default="coordinated",
        title="Mode",
        description="Coordinated: rounds of barriers, no logs inside. Uncoordinated: clocks of hosts, and logs.",
    )
    interval_s: Number | None = quantity(
        None,
        unit="s",
        ge=0.001,
        le=1e6,
        title="Interval",
        description="Checkpoint interval of this region. Default: the protocol's interval.",
    )


def default_regions(query: Query) -> tuple[Region, ...]:
    """Return one coordinated region per chain of forward edges: its barriers hardly wait, and shuffled records are logged.
    Chains with a cycle, or with a path that leaves and re-enters them, are skipped: their rounds may be useless."""
    ways = [(edge.source, edge.target) for edge in query.edges]
    found: list[list[str]] = []
    for chain in _chains([operator.id for operator in query.operators], query.edges):
        together = [*found, chain]
        sound = len(chain) > 1 and not cycle_within(chain, ways) and not any(comes_back(one, together, ways) for one in together)
        found = together if sound else found
    return tuple(Region(name=chain[0], operators=tuple(chain)) for chain in found)


def cycle_within(operators: Collection[str], ways: Ways) -> tuple[str, str] | None:
    """An edge on a cycle within these operators; None if there is no such cycle."""
    inner = [(source, target) for source, target in ways if source in operators and target in operators]
    return next(((source, target) for source, target in inner if source in _reached([target], inner)), None)


def comes_back(operators: Collection[str], regions: Sequence[Collection[str]], ways: Ways) -> tuple[str, str] | None:
    """The edge by which a path that leaves these operators re-enters them, or None. A path that enters another region can leave it
    anywhere, since a region's rounds are one unit."""
    jumps = [(a, b) for region in regions if set(region) != set(operators) for a in region for b in region]
    outer = [(source, target) for source, target in ways if source not in operators and target not in operators]
    left = [target for source, target in ways if source in operators and target not in operators]
    reached = _reached(left, [*outer, *jumps])
    return next(((source, target) for source, target in ways if source in reached and target in operators), None)


def _reached(start: Iterable[str], ways: Ways) -> set[str]:
    """All operators reachable from these, themselves included."""
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
    """Chains of operators connected by forward edges, in the query's order. Feedback edges do not count."""
    forward = [(edge.source, edge.target) for edge in edges if edge.partitioning.one_to_one and not edge.feedback]
    both = [*forward, *((target, source) for source, target in forward)]
    ids = list(operators)
    chains: Mapping[frozenset[str], None] = dict.fromkeys(frozenset(_reached([id], both)) for id in ids)
    return [[id for id in ids if id in chain] for chain in chains]

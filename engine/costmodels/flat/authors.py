"""The vector of the authors' own code: how many nodes of each type, and mean selectivities. It knows no rate, host or placement."""

from __future__ import annotations

from ..features import NUMERIC, SELECTIVITY, JointGraph

SELECTIVE = ("filter", "agg", "windowed_agg", "join")


def numbers(graph: JointGraph, type: str, feature: str) -> list[float]:
    """A numeric feature of all nodes of a type."""
    return [float(node.features[feature]) for node in graph.nodes if node.type == type]


def mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def counts(graph: JointGraph) -> dict[str, float]:
    return {f"{type} nodes": float(sum(node.type == type for node in graph.nodes)) for type in sorted(NUMERIC)}


def authors(graph: JointGraph) -> dict[str, float]:
    """11 numbers."""
    return counts(graph) | {f"mean selectivity, {type}": mean(numbers(graph, type, SELECTIVITY)) for type in SELECTIVE}


def authors_success(graph: JointGraph) -> dict[str, float]:
    """8 numbers: for success they leave out selectivities, and take the mean rate instead."""
    return counts(graph) | {"mean rate": mean(numbers(graph, "source", "event_rate"))}

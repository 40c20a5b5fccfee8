"""The vector that the paper describes: the authors' and what streams bring."""

from __future__ import annotations

from ..features import JointGraph
from .authors import authors, mean, numbers


def paper(graph: JointGraph) -> dict[str, float]:
    """14 numbers."""
    rates = numbers(graph, "source", "event_rate")
    widths = numbers(graph, "source", "width_out")
    return authors(graph) | {"mean rate": mean(rates), "sum of rates": sum(rates), "sum of widths": sum(widths)}

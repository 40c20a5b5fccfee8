"""Ends of the event-time windows between sources and sinks: which watermarks sweep (docs/event-core.md, section 17)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from engine.operators import OPERATORS
from engine.spec import Experiment

Deadlines = tuple[tuple[int, int], ...]
"""Of each window the end of one pane and the distance to the next, in ns."""


def deadlines_by_operator(experiment: Experiment) -> dict[str, Deadlines]:
    """The windows downstream of each source and upstream of each sink that give output when they end. Equal ones count once."""
    query = experiment.query
    own: dict[str, tuple[int, int]] = {}
    for spec in query.operators:
        if (found := OPERATORS[spec.kind].deadlines(spec.parameters)) is not None:
            first_ns, every_ns = found
            own[spec.id] = query.starts_ns.get(spec.id, 0) + first_ns, every_ns
    receivers: defaultdict[str, list[str]] = defaultdict(list)
    senders: defaultdict[str, list[str]] = defaultdict(list)
    for edge in query.edges:
        if not edge.feedback:
            receivers[edge.source].append(edge.target)
            senders[edge.target].append(edge.source)
    ways = {spec.id: receivers if spec.kind == "source" else senders for spec in query.operators if spec.kind in ("source", "sink")}
    return {id: tuple(dict.fromkeys(own[reached] for reached in reach(id, way) if reached in own)) for id, way in ways.items()}


def reach(start: str, neighbours: Mapping[str, Sequence[str]]) -> list[str]:
    """Everything that is reached from `start`, in the order in which it is found."""
    found, ahead = {start: None}, [start]
    for id in ahead:  # grows during the iteration
        new = [other for other in neighbours.get(id, ()) if other not in found]
        found |= dict.fromkeys(new)
        ahead += dict.fromkeys(new)
    return list(found)


def lowered(deadlines: Deadlines, params: list[int]) -> int:
    """Append the windows to the parameters. Returns their place, -1 without windows."""
    if not deadlines:
        return -1
    place = len(params)
    params += [len(deadlines), *(word for window in deadlines for word in window)]
    return place

"""Many joint graphs as flat arrays, and batches of them (Heinrich et al. 2024, Algorithm 1).

Nodes of all graphs of a batch lie in one array. The result of a graph does not depend on which others share its batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .encoding import Encoder, Floats
from .features import NUMERIC, JointGraph

Ints = NDArray[np.int64]

TYPES = tuple(NUMERIC)


@dataclass(frozen=True)
class Step:
    """The nodes of one type that are updated at once. nodes: their numbers. messages: pairs (sender, place of the receiver in nodes)."""

    type: str
    nodes: Ints
    messages: Ints  # (2, messages)


@dataclass(frozen=True)
class Batch:
    """features: by type (nodes of the type, width). nodes: by type, their numbers. graph: by node, the number of its graph. up: of step A,
    from operators to hosts. down: of step B, from hosts to operators. levels: of step C, from the sources to the sink.
    """

    graphs: int
    features: dict[str, Floats]
    nodes: dict[str, Ints]
    graph: Ints
    up: tuple[Step, ...]
    down: tuple[Step, ...]
    levels: tuple[tuple[Step, ...], ...]

    @property
    def count(self) -> int:
        return len(self.graph)


class Packed:
    """Encoded graphs, of which batches can be taken."""

    def __init__(self, graphs: Sequence[JointGraph], encoder: Encoder):
        self.count = len(graphs)
        nodes = [node for graph in graphs for node in graph.nodes]
        self._first = _starts([len(graph.nodes) for graph in graphs])
        self._type = np.array([TYPES.index(node.type) for node in nodes], np.int64)
        self._level = np.array([level for graph in graphs for level in levels(graph)], np.int64)
        self._row = np.zeros(len(nodes), np.int64)
        self._features = []
        for number, type in enumerate(TYPES):
            of_type = np.flatnonzero(self._type == number)
            self._row[of_type] = np.arange(len(of_type))
            self._features.append(encoder.encoded(type, [nodes[n] for n in of_type]))
        self._flow, self._flow_first = _edges([graph.flow for graph in graphs])
        self._placed, self._placed_first = _edges([graph.placed_on for graph in graphs])

    def batch(self, chosen: Sequence[int] | Ints | None = None) -> Batch:
        """Of the graphs with these numbers, or all."""
        picked = np.arange(self.count) if chosen is None else np.asarray(chosen, np.int64)
        first, graph = _ragged(self._first, picked)
        type, level = self._type[first], self._level[first]
        at = np.zeros(len(picked), np.int64)
        np.cumsum(np.diff(self._first)[picked][:-1], out=at[1:])
        flow = self._taken(self._flow, self._flow_first, picked, at)
        placed = self._taken(self._placed, self._placed_first, picked, at)
        nodes = {name: np.flatnonzero(type == number) for number, name in enumerate(TYPES)}
        nodes = {name: numbers for name, numbers in nodes.items() if len(numbers)}
        features = {name: self._features[TYPES.index(name)][self._row[first[numbers]]] for name, numbers in nodes.items()}
        operators = {name: numbers for name, numbers in nodes.items() if name != "host"}
        return Batch(
            len(picked),
            features,
            nodes,
            graph,
            (_step("host", nodes["host"], placed, len(first)),),
            tuple(_step(name, numbers, placed[::-1], len(first)) for name, numbers in operators.items()),
            tuple(
                tuple(
                    _step(name, at_level, flow, len(first))
                    for name, numbers in operators.items()
                    if len(at_level := numbers[level[numbers] == depth])
                )
                for depth in range(1, int(level.max(initial=0)) + 1)
            ),
        )

    @staticmethod
    def _taken(edges: Ints, first: Ints, picked: Ints, at: Ints) -> Ints:
        """Edges of the picked graphs, whose nodes start at `at`."""
        rows, graph = _ragged(first, picked)
        taken: Ints = edges[:, rows] + at[graph]
        return taken


def levels(graph: JointGraph) -> list[int]:
    """By node, the number of edges on the longest way from a source; 0 for hosts."""
    depth = [0] * len(graph.nodes)
    for sender, receiver in sorted(graph.flow):  # senders have lower numbers
        depth[receiver] = max(depth[receiver], depth[sender] + 1)
    return depth


def _starts(counts: Sequence[int]) -> Ints:
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(np.array(counts, np.int64))])


def _edges(of_graphs: Sequence[Sequence[tuple[int, int]]]) -> tuple[Ints, Ints]:
    """(2, edges) with numbers inside their graphs, and where each graph's begin."""
    edges = np.array([edge for of in of_graphs for edge in of], np.int64).reshape(-1, 2).T
    return edges, _starts([len(of) for of in of_graphs])


def _ragged(first: Ints, picked: Ints) -> tuple[Ints, Ints]:
    """Positions of everything that belongs to the picked ones, and by position the place of its owner among the picked ones."""
    counts = np.diff(first)[picked]
    owner = np.repeat(np.arange(len(picked)), counts)
    inside = np.arange(len(owner)) - np.repeat(np.cumsum(counts) - counts, counts)
    positions: Ints = first[picked][owner] + inside
    return positions, owner


def _step(type: str, nodes: Ints, edges: Ints, count: int) -> Step:
    place = np.full(count, -1, np.int64)
    place[nodes] = np.arange(len(nodes))
    receivers = place[edges[1]]
    kept = receivers >= 0
    return Step(type, nodes, np.stack([edges[0][kept], receivers[kept]]))

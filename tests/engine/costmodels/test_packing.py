"""Batches hold the nodes, edges and levels of their graphs, and no others, as a twin works them out edge by edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from engine.costmodels.encoding import Encoder
from engine.costmodels.features import NUMERIC, JointGraph, Node
from engine.costmodels.packing import Batch, Packed, Step, levels

from .test_features import graphs

GRAPHS = graphs(30, "tests")
ENCODER = Encoder.fitted(GRAPHS)
PACKED = Packed(GRAPHS, ENCODER)

Edges = list[tuple[int, int]]


def longest_way(graph: JointGraph, node: int) -> int:
    """Edges on it, by trying all ways back."""
    return max((1 + longest_way(graph, sender) for sender, receiver in graph.flow if receiver == node), default=0)


@dataclass
class Twin:
    """A batch with one entry a node or edge, numbered in the batch."""

    nodes: list[Node] = field(default_factory=list)
    graph: list[int] = field(default_factory=list)
    level: list[int] = field(default_factory=list)
    flow: Edges = field(default_factory=list)
    placed_on: Edges = field(default_factory=list)

    @classmethod
    def of(cls, graphs: Sequence[JointGraph]) -> Twin:
        made = cls()
        for number, graph in enumerate(graphs):
            start = len(made.nodes)
            made.flow += [(start + a, start + b) for a, b in graph.flow]
            made.placed_on += [(start + a, start + b) for a, b in graph.placed_on]
            made.nodes += graph.nodes
            made.graph += [number] * len(graph.nodes)
            made.level += [longest_way(graph, n) for n in range(len(graph.nodes))]
        return made

    def numbers(self, type: str) -> list[int]:
        return [n for n, node in enumerate(self.nodes) if node.type == type]


def edges_of(steps: Sequence[Step]) -> Edges:
    return sorted((int(a), int(step.nodes[place])) for step in steps for a, place in step.messages.T)


def updated(steps: Sequence[Step]) -> list[tuple[str, int]]:
    return sorted((step.type, int(n)) for step in steps for n in step.nodes)


def assert_same(batch: Batch, twin: Twin) -> None:
    types = {node.type for node in twin.nodes}
    assert batch.count == len(twin.nodes)
    assert batch.graph.tolist() == twin.graph
    assert {type: numbers.tolist() for type, numbers in batch.nodes.items()} == {type: twin.numbers(type) for type in types}
    for type in types:
        np.testing.assert_array_equal(batch.features[type], ENCODER.encoded(type, [twin.nodes[n] for n in twin.numbers(type)]))
    operators = [(node.type, n) for n, node in enumerate(twin.nodes) if node.type != "host"]
    assert updated(batch.up) == [("host", n) for n in twin.numbers("host")]
    assert updated(batch.down) == sorted(operators)
    assert edges_of(batch.up) == sorted(twin.placed_on)
    assert edges_of(batch.down) == sorted((host, operator) for operator, host in twin.placed_on)
    assert len(batch.levels) == max(twin.level)
    for depth, level in enumerate(batch.levels, 1):
        assert updated(level) == sorted((type, n) for type, n in operators if twin.level[n] == depth)
        assert edges_of(level) == sorted((a, b) for a, b in twin.flow if twin.level[b] == depth)


def test_a_batch_of_all_holds_all_in_their_order() -> None:
    batch = PACKED.batch()
    assert batch.graphs == PACKED.count == 30
    assert_same(batch, Twin.of(GRAPHS))


@pytest.mark.parametrize("count", [1, 2, 7, 30])
def test_a_batch_holds_the_graphs_that_were_chosen_in_any_order(count: int) -> None:
    random = np.random.default_rng(count)
    for _ in range(5):
        chosen = random.permutation(30)[:count]
        batch = PACKED.batch(chosen)
        assert batch.graphs == count
        assert_same(batch, Twin.of([GRAPHS[n] for n in chosen]))


def test_a_graph_may_be_chosen_twice() -> None:
    assert_same(PACKED.batch([3, 0, 3]), Twin.of([GRAPHS[3], GRAPHS[0], GRAPHS[3]]))


def test_each_operator_is_updated_once_a_step_and_each_edge_is_heard_once() -> None:
    batch = PACKED.batch()
    receivers = sorted(n for level in batch.levels for _, n in updated(level))
    assert len(set(receivers)) == len(receivers) == batch.count - len(batch.nodes["source"]) - len(batch.nodes["host"])
    assert sum(len(edges_of(level)) for level in batch.levels) == sum(len(graph.flow) for graph in GRAPHS)


def test_all_senders_of_a_level_are_done_before_it() -> None:
    batch = PACKED.batch()
    done = {int(n) for n in batch.nodes["source"]}
    for level in batch.levels:
        assert {sender for sender, _ in edges_of(level)} <= done
        done |= {n for _, n in updated(level)}
    assert len(done) == batch.count - len(batch.nodes["host"])


def test_traces_have_all_types_and_several_depths() -> None:
    """Otherwise the comparisons here would show little."""
    assert set(PACKED.batch().nodes) == set(NUMERIC)
    assert {max(levels(graph)) for graph in GRAPHS} >= {2, 3, 4, 5}


def test_levels_are_longest_ways_from_a_source() -> None:
    for graph in GRAPHS:
        assert levels(graph) == [longest_way(graph, n) for n in range(len(graph.nodes))]


def test_levels_are_longest_ways_in_any_graph_whatever_the_order_of_its_edges() -> None:
    random = np.random.default_rng(1)
    for _ in range(100):
        count = int(random.integers(2, 9))
        edges = [(a, b) for b in range(count) for a in range(b) if random.random() < 0.4]
        flow = tuple((a, b) for a, b in random.permutation(np.array(edges, int).reshape(-1, 2)).tolist())
        graph = JointGraph((Node("sink", {"dummy": 0.0}),) * count, flow, ())
        assert levels(graph) == [longest_way(graph, n) for n in range(count)]


def test_a_short_way_beside_a_long_one_does_not_count() -> None:
    node = Node("sink", {"dummy": 0.0})
    assert levels(JointGraph((node,) * 5, ((0, 4), (0, 1), (1, 2), (2, 4)), ((0, 3),))) == [0, 1, 2, 0, 3]

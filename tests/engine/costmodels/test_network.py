"""The graph network takes its steps in order, hears nothing else, and gives a graph the same cost in any batch and numbering."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations, product
from typing import get_args, get_type_hints

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from engine.costmodels.architecture import Architecture
from engine.costmodels.encoding import Encoder, Scale
from engine.costmodels.features import JointGraph, Node
from engine.costmodels.inference import Trained
from engine.costmodels.metrics import METRICS
from engine.costmodels.network import Network
from engine.costmodels.packing import Batch, Packed
from engine.costmodels.storage import shapes
from engine.costmodels.training import Model

from .test_features import graphs

torch.set_num_threads(1)

AS_IT_IS = Scale(median=0, spread=1, least=0, most=100)
NUMBERS = {"source": "event_rate", "filter": "selectivity", "sink": "dummy", "host": "latency"}
RAW = Encoder({type: {feature: AS_IT_IS} for type, feature in NUMBERS.items()}, {})
"""Each node has one number, which is not scaled."""

SOURCE, FILTER, SINK, HOST = range(4)
UP, DOWN, FLOW = 2, 3, 5
"""Weights of what a node hears in steps A, B and C."""

ARCHITECTURES = [
    Architecture(hidden=8, hosts=hosts, passing=passing, readout=readout)
    for hosts, passing, readout in product(*(get_args(get_type_hints(Architecture)[name]) for name in ("hosts", "passing", "readout")))
]


def chain(numbers: Sequence[float], placed: Sequence[int], latencies: Sequence[float]) -> JointGraph:
    """A source, filters and a sink with these numbers. placed: by operator, its host."""
    types = ["source", *["filter"] * (len(numbers) - 2), "sink"]
    nodes = [Node(type, {NUMBERS[type]: number}) for type, number in zip(types, numbers, strict=True)]
    nodes += [Node("host", {"latency": latency}) for latency in latencies]
    flow = tuple((n, n + 1) for n in range(len(types) - 1))
    return JointGraph(tuple(nodes), flow, tuple((n, len(types) + host) for n, host in enumerate(placed)))


@pytest.fixture(scope="module")
def many() -> list[JointGraph]:
    return graphs(64, "tests")


def batch_of(*graphs: JointGraph) -> Batch:
    return Packed(graphs, RAW).batch()


def random_network(architecture: Architecture, encoder: Encoder = RAW) -> Network:
    """Weights are large enough that a change does not fade on its way."""
    torch.manual_seed(1)
    network = Network({type: encoder.width(type) for type in encoder.scales}, architecture)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter *= 2
    return network.eval()


def set_by_hand(classifies: bool = False) -> Network:
    """States of one number. A node adds what it hears, times the weight of the step, to its own state."""
    network = random_network(Architecture(hidden=1, classifies=classifies))
    with torch.no_grad():
        for layer in network.modules():
            if isinstance(layer, nn.Linear):
                layer.weight.copy_(torch.eye(*layer.weight.shape))
                layer.bias.zero_()
        for updates, weight in ((network.up, UP), (network.down, DOWN), (network.flow, FLOW)):
            for layers in updates.values():
                layers[6].weight[0, 1] = weight
    return network


def computed(network: Network, batch: Batch) -> list[float]:
    with torch.no_grad():
        found: list[float] = network(batch).tolist()
    return found


def after_each_step(network: Network, batch: Batch) -> list[Tensor]:
    """States as encoded, and after steps A, B and C."""
    with torch.no_grad():
        encoded = network.encoded(batch)
        hosts = network.passed(encoded, batch.up, network.up)
        placed = network.passed(hosts, batch.down, network.down)
        flowed = placed
        for level in batch.levels:
            flowed = network.passed(flowed, level, network.flow)
    return [encoded, hosts, placed, flowed]


def changed(before: Tensor, after: Tensor) -> set[int]:
    return set(torch.nonzero((before != after).any(1))[:, 0].tolist())


def twin(order: str) -> list[float]:
    """States of the graph that is worked out by hand, if the steps have this order."""
    h = [1.0, 2.0, 4.0, 8.0]
    for step in order:
        match step:
            case "A":
                h[HOST] += UP * (h[SOURCE] + h[FILTER] + h[SINK])
            case "B":
                h = [state + DOWN * h[HOST] for state in h[:HOST]] + [h[HOST]]
            case "C":
                h[FILTER] += FLOW * h[SOURCE]
                h[SINK] += FLOW * h[FILTER]
    return h


def test_hosts_hear_operators_then_operators_hosts_then_operators_one_another() -> None:
    network, batch = set_by_hand(), batch_of(chain([1, 2, 4], [0, 0, 0], [8]))
    assert [states[:, 0].tolist() for states in after_each_step(network, batch)] == [
        [1, 2, 4, 8],
        [1, 2, 4, 22],
        [67, 68, 70, 22],
        [67, 403, 2085, 22],
    ]
    states = network.states(batch)[:, 0].tolist()
    assert [order for order in map("".join, permutations("ABC")) if twin(order) == states] == ["ABC"]


def test_the_cost_is_read_from_the_sum_of_all_states_or_from_the_sink() -> None:
    batch = batch_of(chain([1, 2, 4], [0, 0, 0], [8]), chain([0, 0, 0], [0, 0, 0], [0]))
    for classifies in (False, True):
        network = set_by_hand(classifies)
        assert computed(network, batch) == [67 + 403 + 2085 + 22, 0]
        network.architecture = Architecture(hidden=1, readout="sink", classifies=classifies)
        assert computed(network, batch) == [2085, 0]


def test_an_operator_hears_the_sum_of_those_on_its_host_and_of_no_others() -> None:
    network = set_by_hand()
    *_, placed, _ = after_each_step(network, batch_of(chain([1, 2, 4], [0, 0, 1], [8, 16])))
    first, second = 8 + UP * (1 + 2), 16 + UP * 4
    assert placed[:, 0].tolist() == [1 + DOWN * first, 2 + DOWN * first, 4 + DOWN * second, first, second]
    *_, other, _ = after_each_step(network, batch_of(chain([1, 3, 4], [0, 0, 1], [8, 16])))
    assert changed(placed, other) == {SOURCE, FILTER, 3}


def test_an_operator_hears_the_sum_of_all_its_senders() -> None:
    """Two sources flow into one filter."""
    nodes = (*(Node("source", {"event_rate": rate}) for rate in (1.0, 7.0)), Node("filter", {"selectivity": 2.0}))
    nodes = (*nodes, Node("sink", {"dummy": 4.0}), Node("host", {"latency": 0.0}))
    network = set_by_hand()
    with torch.no_grad():
        for layers in network.down.values():
            layers[6].weight[0, 1] = 0
        states = network.states(batch_of(JointGraph(nodes, ((0, 2), (1, 2), (2, 3)), tuple((n, 4) for n in range(4)))))
    assert states[:4, 0].tolist() == [1, 7, 2 + FLOW * 8, 4 + FLOW * (2 + FLOW * 8)]


def test_a_change_at_the_source_reaches_the_sink_in_one_sweep_through_filters_in_a_row() -> None:
    network = random_network(Architecture(hidden=8))
    apart = range(7)
    before, after = (after_each_step(network, batch_of(chain([rate, 0.1, 0.2, 0.3, 0.4, 0.5, 0], apart, [1.0] * 7))) for rate in (1.0, 2.0))
    assert [changed(*states) for states in zip(before, after, strict=True)] == [{0}, {0, 7}, {0, 7}, {*apart, 7}]
    hostless = random_network(Architecture(hidden=8, hosts="none", readout="sink"))
    costs = computed(hostless, batch_of(*(chain([rate, 0.1, 0.2, 0.3, 0.4, 0.5, 0], apart, [1.0] * 7) for rate in (1.0, 2.0))))
    assert costs[0] != costs[1]


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        (0, [{3}, {3}, {SOURCE, FILTER, 3}, {SOURCE, FILTER, SINK, 3}]),
        (1, [{4}, {4}, {SINK, 4}, {SINK, 4}]),
    ],
)
def test_latency_of_a_host_alters_it_then_its_operators_then_what_they_send_to(host: int, expected: list[set[int]]) -> None:
    """The source and the filter stand on the first host, the sink on the second."""
    network = random_network(Architecture(hidden=8))
    latencies = [[1.0, 2.0], [1.0, 2.0]]
    latencies[1][host] = 9.0
    before, after = (after_each_step(network, batch_of(chain([1, 0.5, 0], [0, 0, 1], each))) for each in latencies)
    assert [changed(*states) for states in zip(before, after, strict=True)] == expected


# -- batches and numbering -----------------------------------------------------------------------------------------------------------------


def costs_of(network: Network, batch: Batch) -> list[float]:
    """1 + each cost, whose logarithm the network computes."""
    found: list[float] = np.exp(computed(network, batch)).tolist()
    return found


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_a_batch_of_one_gives_what_a_batch_of_64_gives(architecture: Architecture, many: list[JointGraph]) -> None:
    encoder = Encoder.fitted(many)
    network, packed = random_network(architecture, encoder), Packed(many, encoder)
    together = costs_of(network, packed.batch())
    assert np.std(together) > 0.001
    assert [costs_of(network, packed.batch([n]))[0] for n in range(0, 64, 4)] == pytest.approx(together[::4], rel=1e-5)


def renumbered(graph: JointGraph, random: np.random.Generator) -> JointGraph:
    """The same graph with its operators in another order, senders still before receivers, and its hosts in another one."""
    operators = len(graph.placed_on)
    order: list[int] = []
    while len(order) < operators:
        ready = [n for n in range(operators) if n not in order and all(a in order for a, b in graph.flow if b == n)]
        order.append(int(random.choice(ready)))
    order += (operators + random.permutation(len(graph.nodes) - operators)).tolist()
    number = {old: new for new, old in enumerate(order)}
    flow, placed_on = (
        tuple((number[a], number[b]) for a, b in random.permutation(edges).tolist()) for edges in (graph.flow, graph.placed_on)
    )
    return JointGraph(tuple(graph.nodes[old] for old in order), flow, placed_on)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_isomorphic_graphs_cost_the_same(architecture: Architecture, many: list[JointGraph]) -> None:
    random = np.random.default_rng(1)
    others = [renumbered(graph, random) for graph in many]
    assert sum(graph.nodes != other.nodes for graph, other in zip(many, others, strict=True)) > 32
    encoder = Encoder.fitted(many)
    network = random_network(architecture, encoder)
    costs, again = (costs_of(network, Packed(part, encoder).batch()) for part in (many, others))
    assert np.std(costs) > 0.001
    assert again == pytest.approx(costs, rel=1e-5)


# -- without torch -------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classifies", [False, True])
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_numpy_predicts_what_torch_predicts(architecture: Architecture, classifies: bool, many: list[JointGraph]) -> None:
    """Also of types that training did not have."""
    encoder = Encoder.fitted([graph for graph in many if all(node.type != "agg" for node in graph.nodes)])
    architecture = replace(architecture, classifies=classifies)
    network = random_network(architecture, encoder)
    with torch.no_grad():
        network.out[-1].bias.fill_(0 if classifies else 2)  # costs of 0 would be alike
    model = Model(METRICS["flows" if classifies else "throughput"], 1, architecture, encoder, network)
    trained: Trained = model.trained()
    assert "agg" not in encoder.scales
    assert np.std(model.predict(many)) > 0.001
    assert (1 + trained.predict(many)).tolist() == pytest.approx((1 + model.predict(many)).tolist(), rel=1e-5)
    assert trained.predict([]).tolist() == []
    assert {name: weights.shape for name, weights in trained.weights.items()} == shapes(
        {type: encoder.width(type) for type in encoder.scales}, architecture
    )


# -- ablations -----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_hosts_and_placements_count_as_the_architecture_says(architecture: Architecture) -> None:
    """Only with their features do hosts differ; without host nodes even a placement counts for nothing."""
    network = random_network(architecture)
    usual = chain([1, 0.5, 0], [0, 0, 1], [1, 2])
    faster = chain([1, 0.5, 0], [0, 0, 1], [3, 0.5])
    moved = chain([1, 0.5, 0], [0, 1, 1], [1, 2])
    together = chain([1, 0.5, 0], [0, 0, 0], [1])
    cost, *others = computed(network, batch_of(usual, faster, moved, together))
    assert np.isfinite([cost, *others]).all()
    differ = {"features": [True, True, True], "nodes": [False, True, True], "none": [False, False, False]}
    assert [other != pytest.approx(cost, rel=1e-6) for other in others] == differ[architecture.hosts]


def test_rounds_carry_a_change_as_many_edges_far_when_all_neighbours_are_heard() -> None:
    for rounds in (1, 2, 3):
        network = random_network(Architecture(hidden=8, hosts="none", passing="traditional", rounds=rounds))
        apart = range(7)
        with torch.no_grad():
            before, after = (network.states(batch_of(chain([1, 0.1, 0.2, middle, 0.4, 0.5, 0], apart, [1.0] * 7))) for middle in (0.3, 0.9))
        assert changed(before, after) == set(range(3 - rounds, 4 + rounds))


def test_a_type_that_training_did_not_have_counts_as_nothing() -> None:
    known = Encoder({type: scales for type, scales in RAW.scales.items() if type != "filter"}, {})
    for hosts in ("features", "none"):
        network = random_network(Architecture(hidden=8, hosts=hosts), known)
        batch = Packed([chain([1, 0.5, 0], [0, 0, 0], [1])], known).batch()
        assert not network.states(batch)[FILTER].any()
        assert np.isfinite(computed(network, batch)).all()

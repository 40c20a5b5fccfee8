"""Features of joint graphs: Table I of the source and nothing else; and their encoding."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from engine.corpus.selectivities import estimated
from engine.corpus.traces import trace
from engine.costmodels.description import Aggregate, Filter, Host, Join, Query, Sink, Source, Window, WindowedAggregate
from engine.costmodels.encoding import Encoder, Outside
from engine.costmodels.features import CATEGORICAL, NUMERIC, JointGraph, Node, joint_graph, widths_of

EDGE = Host(cpu_percent=100, ram_mb=1000, mbit_per_s=25, latency_ms=160)
CLOUD = Host(cpu_percent=800, ram_mb=32000, mbit_per_s=10000, latency_ms=1)
WINDOW = Window("sliding", "time", 4000, 1200)
CHAIN = Query(
    (
        Source(800, ints=3, doubles=4, strings=5),
        Filter("<", "int", 3),
        WindowedAggregate("mean", "double", "string", WINDOW),
        Sink(),
    ),
    ((0, 1), (1, 2), (2, 3)),
)
JOIN = Query(
    (Source(50, 3, 3, 3), Filter("!=", "string", "a"), Source(100, 4, 4, 4), Join("int", WINDOW), Aggregate("max", "int", None), Sink()),
    ((0, 1), (1, 3), (2, 3), (3, 4), (4, 5)),
)


def graphs(count: int, namespace: str = "training") -> list[JointGraph]:
    found = []
    for index in range(count):
        one = trace(namespace, 1, index)
        found.append(joint_graph(one.query, one.hosts, one.placed, estimated(one.query, index)))
    return found


def test_features_are_table_1_of_the_source() -> None:
    """The window's stand with its operator's."""
    window = {"window_type", "window_policy", "window_size", "window_slide"}
    assert {name: {*NUMERIC[name], *CATEGORICAL[name]} for name in NUMERIC} == {
        "source": {"event_rate", "n_int", "n_double", "n_string", "width_out"},
        "filter": {"filter_function", "literal_dtype", "selectivity", "width_in", "width_out"},
        "join": {"key_dtype", *window, "selectivity", "width_in", "width_out"},
        "windowed_agg": {"agg_function", "agg_dtype", "group_by_dtype", *window, "selectivity", "width_in", "width_out"},
        "agg": {"agg_function", "agg_dtype", "group_by_dtype", "selectivity", "width_in", "width_out"},
        "sink": {"dummy"},
        "host": {"cpu", "ram", "bandwidth", "latency"},
    }


def test_every_node_has_the_features_of_its_type() -> None:
    for graph in graphs(100):
        for node in graph.nodes:
            assert set(node.features) == {*NUMERIC[node.type], *CATEGORICAL[node.type]}
            assert all(isinstance(node.features[name], float | int) for name in NUMERIC[node.type])
            assert all(isinstance(node.features[name], str) for name in CATEGORICAL[node.type])


def test_a_graph_in_full() -> None:
    graph = joint_graph(CHAIN, [CLOUD, EDGE, EDGE], [1, 1, 0, 0], [1.0, 0.6, 0.01, 1.0])
    assert graph.flow == CHAIN.edges
    assert graph.placed_on == ((0, 4), (1, 4), (2, 5), (3, 5))  # the third host holds nothing
    source, filter, aggregate, sink, edge, cloud = graph.nodes
    assert source == Node("source", {"event_rate": 800, "n_int": 3, "n_double": 4, "n_string": 5, "width_out": 14})
    assert filter == Node("filter", {"filter_function": "<", "literal_dtype": "int", "selectivity": 0.6, "width_in": 14, "width_out": 14})
    assert aggregate.type == "windowed_agg"
    assert (aggregate.features["window_size"], aggregate.features["window_slide"]) == (4000, 1200)
    assert (aggregate.features["width_in"], aggregate.features["width_out"], aggregate.features["group_by_dtype"]) == (14, 4, "string")
    assert sink == Node("sink", {"dummy": 0})
    assert edge == Node("host", {"cpu": 100, "ram": 1000, "bandwidth": 25, "latency": 160})
    assert cloud.features["latency"] == 1


def test_a_join_takes_the_mean_of_its_inputs_and_gives_their_sum() -> None:
    assert widths_of(JOIN) == [11, 11, 14, 25, 3, 3]
    join = joint_graph(JOIN, [CLOUD], [0] * 6, [1.0] * 6).nodes[3]
    assert (join.features["width_in"], join.features["width_out"]) == (12.5, 25)


def test_literals_bins_and_numbers_of_hosts_are_no_features() -> None:
    one = trace("training", 1, 3)
    selectivities = estimated(one.query, 1)
    graph = joint_graph(one.query, one.hosts, one.placed, selectivities)
    operators = [dataclasses.replace(of, literal="?") if isinstance(of, Filter) else of for of in one.query.operators]
    hosts = [dataclasses.replace(host, bin=4 - host.bin) for host in one.hosts]
    other = joint_graph(
        Query(tuple(operators), one.query.edges), hosts[::-1], [len(hosts) - 1 - host for host in one.placed], selectivities
    )
    assert other == graph


# -- encoding ------------------------------------------------------------------------------------------------------------------------


def test_numbers_are_scaled_by_median_and_quartiles_and_categories_are_one_hot() -> None:
    nodes = [Node("filter", dict(zip(("filter_function", "literal_dtype", "selectivity", "width_in", "width_out"), values, strict=True)))
             for values in (("<", "int", 0.0, 10.0, 10.0), (">", "int", 0.2, 12.0, 10.0), ("<", "double", 0.4, 20.0, 10.0))]  # fmt: skip
    encoder = Encoder.fitted([JointGraph(tuple(nodes), (), ())])
    assert encoder.width("filter") == 3 + 2 + 2
    found = encoder.encoded("filter", nodes)
    assert found[:, :3].tolist() == [[pytest.approx(-1), pytest.approx(-0.4), 0], [0, 0, 0], [pytest.approx(1), pytest.approx(1.6), 0]]
    assert found[:, 3:].tolist() == [[1, 0, 0, 1], [0, 1, 0, 1], [1, 0, 1, 0]]  # < or >, double or int
    unseen = Node("filter", nodes[0].features | {"filter_function": "contains"})
    assert encoder.encoded("filter", [unseen])[0, 3:].tolist() == [0, 0, 0, 1]
    assert encoder.outside(JointGraph((unseen,), (), ())) == [Outside("filter", "filter_function", "contains")]


def test_what_lies_outside_of_training_is_named_once() -> None:
    encoder = Encoder.fitted(graphs(300))
    weak = Host(cpu_percent=10, ram_mb=1000, mbit_per_s=25, latency_ms=500)
    outside = encoder.outside(joint_graph(CHAIN, [weak, weak], [0, 1, 1, 1], [1.0, 0.6, 0.01, 1.0]))
    assert outside == [Outside("host", "cpu", 10, 50, 800), Outside("host", "latency", 500, 1, 160)]
    assert not encoder.outside(graphs(1)[0])


def test_an_encoder_is_that_of_its_training_graphs_and_is_kept_as_json() -> None:
    encoder = Encoder.fitted(graphs(50))
    assert encoder == Encoder.fitted(graphs(50)) == Encoder.from_json(encoder.as_json())
    assert encoder != Encoder.fitted(graphs(51))
    for graph in graphs(20, "unseen"):
        for node in graph.nodes:
            assert np.isfinite(encoder.encoded(node.type, [node])).all()
            assert encoder.encoded(node.type, [node]).shape == (1, encoder.width(node.type))

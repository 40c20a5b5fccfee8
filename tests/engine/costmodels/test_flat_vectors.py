"""Flat vectors: their numbers, and what each cannot know."""

from __future__ import annotations

from engine.corpus.selectivities import estimated
from engine.corpus.traces import trace
from engine.costmodels.description import Host
from engine.costmodels.features import joint_graph
from engine.costmodels.flat import VECTORS, authors_success

from .test_features import CHAIN, CLOUD, EDGE, JOIN, graphs

SHARES = [1.0, 0.6, 0.01, 1.0]
APART = joint_graph(CHAIN, [EDGE, CLOUD], [0, 0, 1, 1], SHARES)
TOGETHER = joint_graph(CHAIN, [EDGE, CLOUD], [1, 1, 1, 1], SHARES)


def test_each_has_the_same_numbers_for_every_graph() -> None:
    for name, count in (("authors", 11), ("paper", 14), ("strong", 48)):
        names = {tuple(VECTORS[name](graph)) for graph in graphs(200)}
        assert len(names) == 1
        assert len(names.pop()) == count
    assert len(authors_success(APART)) == 8


def test_that_of_the_authors_counts_nodes() -> None:
    found = VECTORS["authors"](joint_graph(JOIN, [CLOUD], [0] * 6, [1, 0.5, 1, 0.05, 0.1, 1]))
    assert found["source nodes"] == 2
    assert found["host nodes"] == found["join nodes"] == found["agg nodes"] == 1
    assert (found["mean selectivity, filter"], found["mean selectivity, windowed_agg"]) == (0.5, 0)


def test_only_the_strong_one_knows_hosts_and_placements() -> None:
    slow = Host(cpu_percent=50, ram_mb=1000, mbit_per_s=25, latency_ms=160)
    other = joint_graph(CHAIN, [slow, CLOUD], [0, 0, 1, 1], SHARES)
    crossed = joint_graph(CHAIN, [EDGE, CLOUD], [0, 1, 1, 1], SHARES)
    for name in ("authors", "paper"):
        assert VECTORS[name](APART) == VECTORS[name](other) == VECTORS[name](crossed)
    assert VECTORS["strong"](APART) != VECTORS["strong"](other)
    assert VECTORS["strong"](APART) != VECTORS["strong"](crossed)


def test_the_strong_one_measures_the_way() -> None:
    apart, together = VECTORS["strong"](APART), VECTORS["strong"](TOGETHER)
    assert (apart["hops"], apart["latency of the slowest way"], apart["least bandwidth of a hop"]) == (1, 160, 25)
    assert (together["hops"], together["latency of the slowest way"], together["least bandwidth of a hop"]) == (0, 0, 10000)
    assert (apart["least cpu of an operator"], apart["greatest cpu of an operator"]) == (50, 400)
    assert apart["uses of string"] == 1  # groups
    one = trace("training", 1, 1)
    assert VECTORS["strong"](joint_graph(one.query, one.hosts, one.placed, estimated(one.query, 1)))["hops"] >= 0

"""Advice: candidates, their order, and what is refused. Models are stand-ins that read one thing of the graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from engine.advice.suggest import PRESENT, Advice, NoAdvice, suggest
from engine.corpus.experiments import experiment
from engine.corpus.traces import Trace, trace
from engine.costmodels.encoding import Encoder, Floats
from engine.costmodels.features import JointGraph, joint_graph
from engine.costmodels.metrics import METRICS, Metric
from engine.spec import load

from .test_describe import no_files

OF = next(of for index in range(100) if len((of := trace("tests", 1, index)).hosts) == 4)


def graph(of: Trace) -> JointGraph:
    return joint_graph(of.query, of.hosts, of.placed, (0.5,) * len(of.query.operators))


@dataclass
class Member:
    metric: Metric
    says: Callable[[JointGraph], float]
    encoder: Encoder

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        return np.array([self.says(graph) for graph in graphs])


def used(graph: JointGraph) -> float:
    return float(sum(node.type == "host" for node in graph.nodes))


def members(
    cost: Callable[[JointGraph], float] = used,
    delivers: Callable[[JointGraph], float] = lambda _: 1.0,
    keeps_up: Callable[[JointGraph], float] = lambda _: 1.0,
    of: Trace = OF,
) -> dict[str, list[Member]]:
    encoder = Encoder.fitted([graph(of)])
    says = {"processing_latency": cost, "throughput": cost, "success": delivers, "flows": keeps_up}
    return {name: [Member(METRICS[name], one, encoder)] * 3 for name, one in says.items()}


def advice(goal: str = "processing_latency", models: dict[str, list[Member]] | None = None, **options: Any) -> Advice:
    return suggest(load(experiment(OF, seed=1, horizon_s=5)), no_files, models or members(), goal, **options)


def test_the_lowest_latency_and_the_highest_throughput_come_first() -> None:
    assert len(set(advice().best.hosts.values())) == 1
    spread_out = advice("throughput")
    assert len(set(spread_out.best.hosts.values())) == max(len(set(one.hosts.values())) for one in spread_out.candidates)


def test_the_present_placement_is_a_candidate_and_none_occurs_twice() -> None:
    found = advice()
    present = [one for one in found.candidates if one.origin == PRESENT]
    assert [list(one.placed) for one in present] == [list(OF.placed)]
    assert len({one.placed for one in found.candidates}) == len(found.candidates) > 10
    assert sorted(found.choice.order) == list(range(len(found.candidates)))
    assert all(one.broken is None for one in found.candidates if one.origin == "drawn")


def test_what_is_pinned_and_forbidden_is_obeyed_by_all_but_the_present_placement() -> None:
    source = next(iter(advice().best.hosts))
    found = advice(pinned={source: "h2"}, forbidden=["h1"])
    drawn = [one for one in found.candidates if one.origin != PRESENT]
    assert drawn
    assert all(one.hosts[source] == "h2" and "h1" not in one.hosts.values() for one in drawn)


def test_candidates_that_fail_or_fall_behind_come_last_until_no_other_is_left() -> None:
    """Here a placement fails on two hosts and falls behind on one."""
    found = advice(models=members(delivers=lambda graph: float(used(graph) != 2), keeps_up=lambda graph: float(used(graph) != 1)))
    assert len(set(found.best.hosts.values())) == 3
    assert {found.choice.filtered.get(n) for n in found.choice.order[-3:]} <= {"fails", "falls behind"}
    everything_fails = advice(models=members(delivers=lambda _: 0.0))
    assert everything_fails.choice.relaxed == ("fails",)
    assert len(set(everything_fails.best.hosts.values())) == 1


def test_names_of_hosts_change_no_prediction() -> None:
    document = experiment(OF, seed=1, horizon_s=5)
    for host in document["cluster"]["hosts"]:
        host["name"] = f"rack-{host['name']}"
    document["faults"] = [fault | {"host": f"rack-{fault['host']}"} for fault in document["faults"]]
    document["placement"]["hosts"] = {id: [f"rack-{name}"] for id, (name,) in document["placement"]["hosts"].items()}
    renamed = suggest(load(document), no_files, members(), "processing_latency")
    assert [(one.placed, one.costs) for one in renamed.candidates] == [(one.placed, one.costs) for one in advice().candidates]


def test_values_outside_of_training_are_named() -> None:
    other = next(of for index in range(100, 200) if len((of := trace("tests", 1, index)).query.operators) == 4)
    found = advice(models=members(of=other))
    assert any(one.type == "host" and one.least is not None for one in found.outside)
    assert not found.cautions


def test_another_price_list_is_a_caution() -> None:
    document = experiment(OF, seed=1, horizon_s=5) | {"prices": "reference"}
    found = suggest(load(document), no_files, members(), "processing_latency")
    assert found.cautions == ("models were trained with the price list costream_2024, and this experiment has reference",)


def test_a_delay_that_no_model_knows_is_a_caution() -> None:
    document = experiment(OF, seed=1, horizon_s=5)
    first, *_ = document["workload"]["sources"]
    document["workload"]["sources"][first]["disorder"] = {"kind": "exponential", "mean_ms": 500}
    (caution,) = suggest(load(document), no_files, members(), "processing_latency").cautions
    assert caution.startswith(f"records of {first} are delayed")


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"goal": "cost"}, "goal is 'cost'; it must be one of throughput"),
        ({"goal": "end_to_end_latency"}, "there is no model of end-to-end latency; train one"),
        ({"pinned": {"nobody": "h1"}}, "nobody is pinned, but the query has no such operator"),
        ({"pinned": {"sink": "h9"}}, "sink is pinned to h9, which the cluster does not have"),
        ({"forbidden": ["h9"]}, "h9 is forbidden, but the cluster has no such host"),
        ({"forbidden": ["h1", "h2", "h3", "h4"]}, "every host is forbidden; allow at least one"),
    ],
)
def test_what_cannot_be_suggested_says_why(options: dict[str, Any], why: str) -> None:
    with pytest.raises(NoAdvice, match=why):
        advice(**options)


def test_one_host_leaves_nothing_to_choose() -> None:
    document = experiment(OF, seed=1, horizon_s=5)
    document["cluster"]["hosts"], document["faults"] = document["cluster"]["hosts"][:1], document["faults"][:1]
    document["placement"]["hosts"] = {id: ["h1"] for id in document["placement"]["hosts"]}
    with pytest.raises(NoAdvice, match="the cluster has one host, h1, so there is nothing to choose; add hosts"):
        suggest(load(document), no_files, members(), "processing_latency")

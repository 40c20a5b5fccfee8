"""Runs too long for the oracle, judged by checkers that know nothing of the engine (`tests/checkers.py`).

What this catches: loss, duplication and overtaking that need long queues, many growths of the arrays or many closed panes to appear.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from engine.spec import Experiment
from tests import checkers
from tests.oracle.build import build_hosts, pin, place
from tests.strategies import documents

from .agreement import TEMPLATES, template, traced, with_params


def processors(experiment: Experiment) -> list[int]:
    """The processor that each instance is pinned to, as the oracle numbers them."""
    hosts = build_hosts(experiment)
    instances = place(experiment, hosts)
    pin(hosts, instances)
    return [instance.processor.number for instance in instances]


def judge(document: dict[str, Any]) -> Any:
    simulation = traced(document)
    topology = checkers.Topology.of(simulation.experiment)
    trace = checkers.services(simulation.service_trace(with_trigger=True).tolist())
    checkers.check_services(topology, trace)
    checkers.check_processors(topology, trace, processors(simulation.experiment))
    checkers.check_causality(topology, trace)
    checkers.check_fifo(topology, trace)
    for operator in simulation.experiment.query.operators:
        if operator.kind == "sink":
            checkers.check_latencies(simulation.sink_records(operator.id), trace)
    if simulation.drained:
        summary = simulation.summary()
        checkers.check_conservation(topology, summary["operators"])
        checkers.check_every_input_is_served_once(topology, trace, summary["records_in"])
        assert summary["backlog"] == 0
    return simulation


@given(document=documents())
def test_random_experiments_keep_the_invariants(document: dict[str, Any]) -> None:
    judge(document)


@pytest.mark.slow
@pytest.mark.parametrize("flow_control", [{"kind": "unbounded"}, {"kind": "credits", "per_channel": 8}], ids=["unbounded", "credits"])
@pytest.mark.parametrize("name", TEMPLATES)
def test_long_overloaded_templates_keep_the_invariants(name: str, flow_control: dict[str, Any]) -> None:
    """Some 40,000 records; the hosts fall behind by ten seconds and more, then the run drains."""
    document = template(name, horizon_s=2.0 if name != "flights" else 8.0, drain=True, drain_limit_s=600.0)
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.1 if name != "flights" else 0.02
    document["policies"]["flow_control"] = flow_control
    simulation = judge(document)
    assert simulation.drained
    assert simulation.summary()["records_in"] > 30_000


@pytest.mark.parametrize("clock", ["event", "processing"])
def test_panes_close_once(clock: str) -> None:
    """Many late records: what is dropped must not reopen its pane."""
    params = {"window": {"kind": "sliding", "size_s": 0.02, "slide_s": 0.005, "clock": clock}, "emit": "on_close"}
    document = with_params(template("nexmark_q12", horizon_s=0.5, drain=True), "count", **params)
    document["workload"]["sources"]["bids"] |= {
        "disorder": {"kind": "uniform", "max_ms": 30},
        "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 2},
    }
    simulation = judge(document)
    rows = simulation.outputs("sink").to_pylist()
    assert len(rows) > 1000
    checkers.check_panes_close_once(rows, "bidder")
    assert (simulation.summary()["late"] > 100) == (clock == "event")

"""Runs too long for the oracle, judged by checkers that know nothing of the engine (`tests/checkers.py`).

What this catches: loss, duplication and overtaking that need long queues, many growths of the arrays or many closed panes to appear.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import engine
from engine.spec import Experiment
from engine.telemetry.frames import Counters
from tests import checkers
from tests.corner_cases import CORNER_CASES
from tests.death_cases import DEATH_CASES
from tests.loss_cases import LOSS_CASES
from tests.oracle.build import build_hosts, pin, place
from tests.strategies import documents
from tests.tiers import spread

from .agreement import TEMPLATES, template, traced, with_params


def processors(experiment: Experiment) -> list[list[int]]:
    """The processors that may serve each instance, as the oracle numbers them."""
    hosts = build_hosts(experiment)
    instances = place(experiment, hosts)
    pin(experiment, hosts, instances)
    return [[processor.number for processor in instance.processors] for instance in instances]


def check_accounts(simulation: engine.Simulation, trace: list[checkers.Service]) -> None:
    """Busy and stolen time are the time in service; with the blocked time they leave some of the time idle, or none."""
    now_ns = simulation.now_ns
    w = simulation._world.arrays
    accounts = Counters.read(w, now_ns, 0, np.zeros(len(w.inst), np.int64))
    served_ns = np.zeros(len(accounts.busy_ns), np.int64)
    for service in trace:
        served_ns[service.instance] += min(service.end_ns, now_ns) - service.start_ns
    assert (accounts.busy_ns + accounts.stolen_ns == served_ns).all()
    for part in (accounts.busy_ns, accounts.stolen_ns, accounts.blocked_ns, now_ns - served_ns - accounts.blocked_ns):
        assert (part >= 0).all()


def judge(document: dict[str, Any]) -> Any:
    simulation = traced(document)
    topology = checkers.Topology.of(simulation.experiment)
    trace = checkers.services(simulation.service_trace(with_trigger=True).tolist())
    checkers.check_services(topology, trace, [round(death["at_s"] * 1e9) for death in simulation.deaths])
    checkers.check_processors(topology, trace, processors(simulation.experiment))
    check_accounts(simulation, trace)
    checkers.check_causality(topology, trace)
    checkers.check_fifo(topology, trace)
    for operator in simulation.experiment.query.operators:
        if operator.kind == "sink":
            checkers.check_latencies(simulation.sink_records(operator.id), trace)
    faults = simulation.experiment.faults
    heals = all(fault.kind != "partition" or fault.to_s is not None for fault in faults)
    returns = all(fault.kind != "host_loss" or fault.restart_after_s is not None for fault in faults)
    if simulation.drained and heals and returns:
        summary = simulation.summary()
        checkers.check_conservation(topology, summary["operators"])
        checkers.check_every_input_is_served_once(topology, trace, summary["records_in"])
        assert summary["backlog"] == 0
    return simulation


@given(document=documents())
def test_random_experiments_keep_the_invariants(document: dict[str, Any]) -> None:
    judge(document)


@pytest.mark.parametrize("case", LOSS_CASES + DEATH_CASES + CORNER_CASES, ids=lambda case: case.__name__)
def test_rare_moments_keep_the_invariants(case: Callable[[], dict[str, Any]]) -> None:
    judge(case())


@pytest.mark.slow
@pytest.mark.parametrize(("name", "flow"), spread([(name, flow) for name in TEMPLATES for flow in ("unbounded", "credits")], ci=4, first=1))
def test_long_overloaded_templates_keep_the_invariants(name: str, flow: str) -> None:
    """Some 40,000 records; the hosts fall behind by ten seconds and more, then the run drains."""
    document = template(name, horizon_s=2.0 if name != "flights" else 8.0, drain=True, drain_limit_s=600.0)
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.1 if name != "flights" else 0.02
    document["policies"]["flow_control"] = {"kind": flow} | ({"per_channel": 8} if flow == "credits" else {})
    simulation = judge(document)
    assert simulation.drained
    assert simulation.summary()["records_in"] > 30_000


@pytest.mark.slow
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

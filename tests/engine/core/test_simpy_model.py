"""The SimPy model that measures the engine's speed does the same work as the engine (`benchmarks/simpy_model.py`)."""

from __future__ import annotations

from collections import Counter

import pytest

import engine
from benchmarks.simpy_model import Model, ProcessCore, simpy_hops_per_s
from engine.spec import Experiment

from ...support.agreement import DATASETS, template


@pytest.mark.parametrize("name", ["nexmark_q1", "nexmark_q3", "nexmark_q8", "nexmark_q12"])
def test_both_serve_the_same_number_of_records(name: str) -> None:
    """Up to the services that the end cuts off (SimPy counts ends, the engine starts) and ties, which SimPy breaks by insertion."""
    document = template(name, horizon_s=0.3)
    model = Model(Experiment.model_validate(document), 4000, DATASETS)
    simulation = engine.Simulation(document, datasets=DATASETS)
    simulation.run_until(model.until_ns)
    hops, wall_s = simpy_hops_per_s(document, 4000, DATASETS)
    assert wall_s > 0
    assert hops == pytest.approx(simulation.summary()["hops"], rel=0.005)


PROCESSORS = {"credits": {"kind": "dedicated"}, "processor_sharing": {"kind": "processor_sharing"}}


@pytest.mark.parametrize("form", PROCESSORS)
@pytest.mark.parametrize("name", ["nexmark_q3", "nexmark_q12"])
def test_credits_and_shared_processors_in_textbook_form(name: str, form: str) -> None:
    """Overloaded, so that senders wait; equal services and waits make equal latencies of what is delivered in the same time."""
    document = template(name, horizon_s=0.3)
    for host in document["cluster"]["hosts"]:
        host |= {"processor": PROCESSORS[form], "cores": 8 if form == "credits" else 1, "speed": 0.1 if form != "credits" else 0.04}
    if form == "credits":
        document["policies"]["flow_control"] = {"kind": "credits", "per_channel": 2}
    model = Model(Experiment.model_validate(document), 4000, DATASETS, ProcessCore)
    simulation = engine.Simulation(document, datasets=DATASETS)
    simulation.run_until(model.until_ns)
    model.environment.run(until=model.until_ns)
    summary = simulation.summary()
    assert model.hops == pytest.approx(summary["hops"], rel=0.01)
    assert summary["backlog"] > 500
    assert model.latency_sum_ns / 1e6 == pytest.approx(summary["latency_ms"]["mean"] * summary["latency_ms"]["count"], rel=0.02)


def test_both_deliver_the_same_records() -> None:
    """Q1 has no ties that matter: what the sinks get is what the sources read, mapped."""
    document = template("nexmark_q1", horizon_s=0.2)
    model = Model(Experiment.model_validate(document), 3000, DATASETS)
    delivered: list[tuple[object, ...]] = []
    for instance in model.instances["sink"]:
        instance.work = lambda port, row: delivered.append(row) or []  # type: ignore[func-returns-value]
    model.environment.run(until=model.until_ns)
    simulation = engine.Simulation(document, datasets=DATASETS, keep_outputs=True, trace=True)
    simulation.run_until(model.until_ns)
    found = Counter(record["values"] for record in simulation.sink_records("sink"))
    assert len(delivered) > 2900
    assert not found - Counter(delivered)


def test_what_the_model_lacks_is_refused() -> None:
    document = template("nexmark_q1", horizon_s=0.2)
    document["policies"]["flow_control"] = {"kind": "credits", "per_channel": 4}
    with pytest.raises(ValueError, match="flow_control"):
        simpy_hops_per_s(document, 100)
    with pytest.raises(ValueError, match="own cores only"):
        simpy_hops_per_s(document, 100, textbook=True)

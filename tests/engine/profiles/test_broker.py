"""A broker between the driver and the engine (specification of the benchmark, B5e and B-48).

What this catches: a hop that costs nothing, results that change with the way records take, a broker that hides where records wait.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.profiles import under_engine
from engine.profiles.driver import APPENDED
from engine.spec import Experiment, validate

from ...support.agreement import assert_agreement
from ...support.engine_examples import windowed_sum
from ...support.strategies import documents

RECORD_BYTES = 104


def fed(kind: str, broker: bool, per_s: float = 50_000, **fields: Any) -> dict[str, Any]:
    scale = 10 if kind == "storm" else 100
    document = windowed_sum(per_s, sources=2, slots=4, horizon_s=16.0, engine=kind, scale=scale)
    document["policies"]["engine"]["driver"] = {"broker": broker} | fields
    return document


def run(document: dict[str, Any]) -> engine.Simulation:
    simulation = engine.Simulation(document, keep_outputs=True)
    simulation.run_until(simulation.end_ns)
    return simulation


def test_records_take_two_hops() -> None:
    """The executed experiment: topics on hosts of their own, as many as the driver has, and the trunk behind them."""
    executed = under_engine(Experiment.model_validate(fed("flink", True, hosts=3)))
    assert [spec.id for spec in executed.query.operators][:3] == ["purchases", "purchases-topic", "purchases-receiver"]
    assert [(host.name, host.count) for host in executed.cluster.hosts] == [("w", 2), ("driver", 3), ("broker", 3)]
    assert executed.placement.hosts["purchases-topic"] == ("broker1", "broker2")
    assert [(trunk.name, trunk.sources) for trunk in executed.cluster.trunks] == [("driver", ("broker",))]


def test_without_a_broker_a_document_keeps_its_hash() -> None:
    plain, said = windowed_sum(1e5), windowed_sum(1e5)
    said["policies"]["engine"]["driver"] = {"broker": False, "broker_us": 10}
    plain["policies"]["engine"]["driver"] = {}
    assert Experiment.model_validate(plain).hash == Experiment.model_validate(said).hash
    assert Experiment.model_validate(fed("flink", True)).hash != Experiment.model_validate(fed("flink", False)).hash


@pytest.mark.slow
def test_a_record_is_later_by_the_hop_and_otherwise_the_same() -> None:
    """B-48: the link's latency, the time on the link and that of the broker."""
    plain, hop = run(fed("flink", False)), run(fed("flink", True))
    rows = [sorted(record["values"] for record in simulation.sink_records("sink")) for simulation in (plain, hop)]
    assert rows[0] == rows[1]
    took_ms = 0.5 + 100 * (RECORD_BYTES * 8 / 1e6 + 0.010)
    late_ms = hop.summary()["latency_ms"]["mean"] - plain.summary()["latency_ms"]["mean"]
    assert late_ms == pytest.approx(took_ms, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["storm", "spark"])
def test_every_engine_pulls_through_the_broker(kind: str) -> None:
    """A broker slower than the engine limits it; what it does not take waits in the driver's queues."""
    simulation = run(fed(kind, True, per_s=40_000, broker_us=100))
    summary = simulation.summary()
    taken = summary["operators"]["purchases"]["in"] / 16
    assert taken == pytest.approx(2 / 100e-6, rel=0.03)  # two instances of the topic
    inside = summary["operators"]["purchases"]["in"] - summary["operators"]["purchases-topic"]["in"]
    assert inside <= 2 * (APPENDED + 1) * simulation.experiment.workload.scale


@pytest.mark.slow
@settings(max_examples=5)
@given(document=documents(), hosts=st.sampled_from((None, 2)))
def test_random_experiments_with_a_broker_agree_with_the_oracle(document: dict[str, Any], hosts: int | None) -> None:
    document = copy.deepcopy(document)
    document.pop("prices", None)
    flow = document.get("policies", {}).get("flow_control", {"kind": "unbounded"})
    document["policies"] = {"flow_control": flow, "engine": {"kind": "flink", "driver": {"hosts": hosts, "broker": True}}}
    assert_agreement(document)


@pytest.mark.parametrize(
    ("change", "where", "said"),
    [
        (lambda d: d["cluster"]["hosts"][0].update(name="broker"), "/cluster/hosts/0/name", "begins with 'broker'"),
        (
            lambda d: d["query"]["operators"][1].update(id="purchases-topic"),
            "/query/operators/1/id",
            "taken by the topic of source 'purchases'",
        ),
        (lambda d: d["policies"]["engine"]["driver"].update(broker_us=-1), "/policies/engine/driver/broker_us", "-1"),
    ],
)
def test_what_cannot_be_is_refused(change: Any, where: str, said: str) -> None:
    document = fed("flink", True)
    change(document)
    if where.endswith("/id"):
        for edge, end in ((0, "target"), (1, "source")):
            document["query"]["edges"][edge][end] = "purchases-topic"
    found = [(problem.pointer, problem.message) for problem in validate(document)]
    assert any(pointer == where and said in message for pointer, message in found), found


def test_hosts_may_be_named_broker_without_one() -> None:
    document = fed("flink", False)
    document["cluster"]["hosts"][0]["name"] = "broker"
    assert not validate(document)

"""Services that lose a share of their time to what runs beside them: what is busy, what is stolen, and what that does to true rates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Simulation
from engine.core import layout as L
from engine.spec.base.problems import InvalidExperiment
from engine.spec.rules.validation import load
from tests.support.corner_cases import bids, document, host
from tests.support.strategies import documents

from ...support.agreement import assert_agreement, simulated, traced

Document = dict[str, Any]


def chain(attainable: float, per_s: float, **parts: Any) -> Document:
    """A source, a map of 70 us at this share and a sink, each on a core of its own; channels of 8 records."""
    operators = [
        {"id": "bids", "kind": "source", "cost": {"record_us": 10}},
        {"id": "map", "kind": "map", "params": {"fields": [{"name": "price", "expression": "price"}]}},
        {"id": "sink", "kind": "sink", "cost": {"record_us": 1}},
    ]
    operators[1]["cost"] = {"record_us": 70, "output_us": 0, "attainable": attainable}
    edges = [{"source": "bids", "target": "map"}, {"source": "map", "target": "sink"}]
    made = document(operators, edges, [host("w", processor={"kind": "dedicated"}, cores=3)], {"bids": bids(per_s)}, horizon_s=2.0)
    made["workload"]["drain"] = False
    made["policies"] = {"flow_control": {"kind": "credits", "per_channel": 8}}
    return made | parts


@pytest.mark.parametrize("attainable", [0.7, 0.95, 0.05])
def test_a_saturated_operator_is_busy_for_its_attainable_share(attainable: float) -> None:
    """Its true rate, records by busy time, is the attained one divided by the share; the source behind it is blocked, and never idle."""
    simulation = Simulation(chain(attainable, 20_000))
    simulation.run_until(simulation.end_ns)
    told = simulation.summary()
    slow, source = told["operators"]["map"], told["operators"]["bids"]
    assert slow["busy"] == pytest.approx(attainable, abs=0.01)
    assert slow["busy"] + slow["stolen"] == pytest.approx(1, abs=0.01)
    attained_per_s = slow["in"] / 2.0
    assert attained_per_s == pytest.approx(attainable / 70e-6, rel=0.02)
    assert slow["in"] / (slow["busy"] * 2.0) * attainable == pytest.approx(attained_per_s, rel=0.01)
    assert 1 - source["busy"] - source["blocked"] - source["stolen"] < 0.02


def test_a_service_lasts_its_work_divided_by_the_share() -> None:
    simulation = traced(chain(0.7, 1000))
    rows = simulation.service_trace()
    mapped = rows[rows[:, 0] == 1]
    assert set((mapped[:, 2] - mapped[:, 1]).tolist()) == {(70_000 << 16) // round(0.7 * 65536)}
    assert set(simulation.trace().columns()["service_ns"][rows[:, 0] == 1].tolist()) == {70_000}


@pytest.mark.parametrize("kind", ["pause", "host_loss"])
def test_a_service_that_a_fault_meets_agrees(kind: str) -> None:
    fault: Document = {"kind": kind, "host": "w", "when": {"kind": "at", "at_s": 0.02}}
    fault |= {"for_ms": 3.0} if kind == "pause" else {"restart_after_s": 0.01}
    made = chain(0.35, 20_000, faults=[fault])
    made["workload"]["horizon_s"] = 0.05
    simulation = traced(made)
    assert_agreement(made, simulation)
    rows = simulation.trace().columns()
    met = (rows["start_ns"] < 20_000_000) & (rows["end_ns"] >= 20_000_000) & (rows["instance"] == 1)
    assert met.sum() == 1, "no service was met"


@st.composite
def moments_of_runs(draw: st.DrawFn) -> tuple[Document, list[int]]:
    made = draw(documents(records=(300, 100), budgets=("none",)))
    made["measurement"], made["policies"]["ingress"] = {}, {"kind": "read"}  # fewer loops to compile
    sharing = any(host["processor"]["kind"] == "processor_sharing" for host in made["cluster"]["hosts"])
    for operator in made["query"]["operators"]:
        cost = operator.setdefault("cost", {})
        cost["attainable"] = 1.0 if sharing else draw(st.sampled_from((0.7, 0.05, 0.333)))
    end_ns = round(made["workload"]["horizon_s"] * 1e9)
    return made, sorted(draw(st.lists(st.integers(1, end_ns), min_size=1, max_size=4)))


@settings(max_examples=30)
@given(moments_of_runs())
def test_busy_and_stolen_time_are_the_time_in_service(example: tuple[Document, list[int]]) -> None:
    """At any moment, by instance, to the ns; so with blocked time and idle time they are all of the time. At no moment less than before."""
    made, moments = example
    simulation = simulated(made)
    before = np.zeros((2, len(simulation._world.arrays.inst)), np.int64)
    for t_ns in moments:
        simulation.run_until(t_ns)
        counted = simulation._counters(simulation.now_ns)
        rows = simulation.service_trace()
        served = np.zeros(len(before[0]), np.int64)
        np.add.at(served, rows[:, 0], np.minimum(rows[:, 2], simulation.now_ns) - rows[:, 1])
        assert (counted.busy_ns + counted.stolen_ns).tolist() == served.tolist()
        found = np.stack([counted.busy_ns, counted.stolen_ns])
        assert (found >= before).all()
        before = found


@pytest.mark.usefixtures("own_loops")
def test_nothing_is_stolen_unless_the_document_says_so() -> None:
    made = chain(1.0, 1000)
    simulation = Simulation(made)
    assert "stolen" not in simulation._kernels.features
    assert (simulation._world.arrays.op[:, L.O_ATTAINABLE] == L.WHOLE).all()


def test_where_cores_are_shared_it_is_refused() -> None:
    made = chain(0.7, 1000)
    made["cluster"]["hosts"][0]["processor"] = {"kind": "processor_sharing"}
    with pytest.raises(InvalidExperiment) as refused:
        load(made)
    [problem] = refused.value.problems
    assert (problem.pointer, problem.code, problem.value) == ("/query/operators/1/cost/attainable", "shared_cores", 0.7)
    assert "'w'" in problem.message
    for attainable, says in ((0.04, "0.05"), (1.1, "1"), (None, "number")):
        made = chain(0.7, 1000)
        made["query"]["operators"][1]["cost"]["attainable"] = attainable
        with pytest.raises(InvalidExperiment) as refused:
            load(made)
        assert says in refused.value.problems[0].message

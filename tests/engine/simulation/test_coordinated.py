"""Coordinated generation, the flawed closed loop: a twin of one server, and the same overload measured both ways.

What it hides is why it is here: `test_the_same_overload_...` is the contrast that the figures about coordinated omission need.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Simulation
from engine.core.control.ranks import HELD, rank
from tests.support.corner_cases import bids, document, host

from ...support.agreement import TINY, assert_agreement, simulated, traced

MS, SECOND = 10**6, 10**9
COORDINATED = {"kind": "coordinated"}


def pipeline(generation: dict[str, Any], per_s: float, service_us: float, **source: Any) -> dict[str, Any]:
    """A source that takes a time for each record, and a sink that takes next to none."""
    operators = [
        {"id": "source", "kind": "source", "cost": {"record_us": service_us, "control_us": 1.0}},
        {"id": "sink", "kind": "sink", "cost": {"record_us": 0.001}},
    ]
    edges = [{"source": "source", "target": "sink"}]
    sources = {"source": bids(per_s, generation=generation, **source)}
    return document(operators, edges, [host("a")], sources, horizon_s=0.1, local_latency_ns=1)


def twin(appends_ns: list[int], service_ns: int, horizon_ns: int) -> list[int]:
    """When each record is taken: its gap after the last one was, or when the server is free again; none at the horizon or later."""
    taken: list[int] = []
    for n, append_ns in enumerate(appends_ns):
        ready_ns = append_ns if n == 0 else taken[-1] + append_ns - appends_ns[n - 1]
        start_ns = max(ready_ns, taken[-1] + service_ns if taken else 0)
        if start_ns >= horizon_ns:
            break
        taken.append(start_ns)
    return taken


@pytest.mark.slow
@settings(deadline=None)
@given(
    per_s=st.sampled_from([1000, 4000, 12345]),
    service_us=st.sampled_from([10, 100, 250, 251, 3000]),
    arrivals=st.sampled_from([{"kind": "even"}, {"kind": "poisson"}, {"kind": "bursts", "every_ms": 7.0}]),
    stretch_ns=st.sampled_from([SECOND, 3 * MS, 250_000]),
)
def test_each_record_counts_from_when_the_last_was_taken(per_s, service_us, arrivals, stretch_ns):
    """Also where the log is loaded in stretches much shorter than the delay."""
    experiment = pipeline(COORDINATED, per_s, service_us, arrivals=arrivals)
    simulation = simulated(experiment)
    appends = simulation._plan.feeds["source"].chunk(0, SECOND)
    simulation._logs._stretch_ns = stretch_ns
    simulation.run_until(simulation.end_ns)
    taken = twin(appends.append_ns.tolist(), service_us * 1000, 100 * MS)
    records = simulation.sink_records("sink")
    assert [r["latency_ns"] for r in records] == [service_us * 1000 + 2] * len(taken), "as if nothing ever waited"
    assert [r["end_ns"] - r["latency_ns"] for r in records] == taken
    assert [r["event_ns"] for r in records] == taken
    time = simulation.sink_schema("sink").index("time")
    assert [r["values"][time] for r in records] == taken, "the records themselves say so, too"
    summary = simulation.summary()
    assert (summary["backlog"], summary["drained"], summary["operators"]["source"]["attribution"]["driver_queue_ns"]) == (0, True, 0)


@pytest.mark.slow
@pytest.mark.parametrize("cores", [1, 3], ids=["shared core", "three cores"])
@pytest.mark.parametrize("processor", ["shared_fifo", "dedicated", "pool", "processor_sharing"])
def test_both_engines_agree_on_what_is_never_made(processor, cores):
    """The source is busy with a record, waits for a core, or for the time of its next record when the horizon comes; then the log ends."""
    for delay in ({"kind": "none"}, {"kind": "uniform", "max_ms": 5.0}):
        experiment = pipeline(COORDINATED, 3000, 500, disorder=delay, watermarks={"kind": "bounded", "lag_ms": 0, "period_ms": 9})
        experiment["cluster"]["hosts"] = [host("a", processor={"kind": processor}, cores=16 if processor == "dedicated" else cores)]
        for operator in experiment["query"]["operators"]:
            operator["parallelism"] = 4
        for tiny in (False, True):
            expected = assert_agreement(experiment, traced(experiment, capacity=TINY) if tiny else None)
            assert expected.drained
            assert sum(queue.total() for queue in expected.queued) == 0


def overload(generation: dict[str, Any]) -> dict[str, Any]:
    """10,000 records a second for a worker of 12,500; from one second on it has half of its speed."""
    operators = [
        {"id": "source", "kind": "source", "cost": {"record_us": 5.0}},
        {
            "id": "worker",
            "kind": "map",
            "cost": {"record_us": 80.0, "output_us": 0.0},
            "params": {"fields": [{"name": "a", "expression": "auction"}]},
        },
        {"id": "sink", "kind": "sink", "cost": {"record_us": 1.0}},
    ]
    edges = [{"source": "source", "target": "worker"}, {"source": "worker", "target": "sink"}]
    return document(
        operators,
        edges,
        [host("driver", egress_latency_ms=0.01), host("worker", egress_latency_ms=0.01)],
        {"source": bids(10_000, generation=generation)},
        placement={"kind": "explicit", "hosts": {"source": ["driver"], "worker": ["worker"], "sink": ["worker"]}},
        policies={"flow_control": {"kind": "credits", "per_channel": 8}},
        faults=[{"kind": "slow_host", "host": "worker", "when": {"kind": "at", "at_s": 1.0}, "for_ms": 2000.0, "factor": 0.5}],
        measurement={"frame_ms": 250, "latency": {"from": "event", "anchor": "trigger"}},
        horizon_s=3.0,
    )


def test_the_same_overload_grows_in_the_open_loop_and_is_hidden_by_coordination():
    """Karimov 2020, Figure 3.4: the coordinated generator makes as much as the system takes, and reports flat latencies."""
    frames = {}
    for kind in ("open", "coordinated"):
        simulation = Simulation(overload({"kind": kind}))
        frames[kind] = [frame for frame in iter(simulation.advance, None) if frame["t_s"] <= 3.0]
    before, last = 3, 11  # the quarters of a second before 1 s and 3 s
    medians = {kind: [frame["latency_ms"]["p50"] for frame in frames[kind]] for kind in frames}
    assert max(abs(frames["open"][n]["offered_per_s"] - 10_000) for n in range(12)) <= 8
    assert medians["open"][before] < 0.2
    grown_s = (medians["open"][last] - medians["open"][7]) / 1000
    assert grown_s == pytest.approx(1 - 0.625, rel=0.02), "a second's records take 1.6 s, so latency grows by 0.375 s per second"
    assert max(medians["coordinated"][5:12]) < 2.5, "eight credits and two services, however long it lasts"
    assert medians["coordinated"][11] == pytest.approx(medians["coordinated"][5], rel=0.02)
    assert frames["coordinated"][before]["offered_per_s"] == pytest.approx(10_000, rel=0.01)
    assert frames["coordinated"][last]["offered_per_s"] == pytest.approx(6250, rel=0.01)
    assert all(frame["backlog"] <= 12 for frame in frames["coordinated"])
    assert frames["open"][last]["backlog"] == pytest.approx(2 * 3750, rel=0.02)


def test_both_engines_agree_on_the_overload():
    experiment = overload(COORDINATED)
    experiment["workload"]["horizon_s"] = 0.2
    experiment["faults"][0]["when"]["at_s"] = 0.1
    assert assert_agreement(experiment).blocked_count > 100


@pytest.mark.parametrize("processor", ["dedicated", "shared_fifo"])
def test_a_source_that_is_held_back_makes_nothing(processor):
    class Hold:
        next_ns = 30 * MS

        def act(self, world, now_ns):
            rank(world, {0: HELD if now_ns == 30 * MS else 0}, now_ns)
            self.next_ns = 60 * MS if now_ns == 30 * MS else 1 << 62

        def state(self):
            return self.next_ns

        def restore(self, state):
            self.next_ns = state

    experiment = pipeline(COORDINATED, 1000, 100)
    experiment["cluster"]["hosts"][0]["processor"] = {"kind": processor}
    simulation = traced(experiment, controls=[Hold()])
    taken = [r["event_ns"] for r in simulation.sink_records("sink")]
    assert taken == [n * MS for n in (*range(31), *range(60, 100))]
    assert simulation.drained


def test_cut_saved_and_forked_it_goes_on_to_the_same(tmp_path):
    experiment = pipeline(COORDINATED, 4000, 300, arrivals={"kind": "poisson"}, watermarks={"kind": "bounded", "lag_ms": 0, "period_ms": 9})
    whole = traced(experiment)
    for stop_ns in (0, 33 * MS + 1, 100 * MS - 2, 100 * MS - 1, 100 * MS):
        cut = simulated(experiment)
        cut._logs._stretch_ns = 2 * MS
        cut.run_until(stop_ns)
        fork = cut.fork()
        cut.save(tmp_path / "snapshot")
        resumed = Simulation.resume(experiment, tmp_path / "snapshot", keep_outputs=True, trace=True)
        for simulation in (cut, fork, resumed):
            simulation.run_until(simulation.end_ns)
            assert simulation.digest() == whole.digest()

"""Storm's profile (specification of the benchmark, B1 and section 9).

What this catches: a switch that stops single spouts, that knows of a queue at once, or that acts on one mark only; bolts that do not read
their windows when these end; throughput that does not depend on the number of workers.
"""

from __future__ import annotations

import copy
import functools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.profiles import under_engine
from engine.spec import Experiment
from tests.oracle import simulate
from tests.oracle.environment import Phase
from tests.oracle.records import Kind
from tests.support.tiers import EXAMPLES, tier

from ...support.agreement import DATASETS, assert_agreement, cut_saved_and_forked, fingerprint, frames_of, traced
from ...support.engine_examples import windowed_sum
from ...support.strategies import documents

MS = 1_000_000


class Switch:
    """The throttle in the oracle: looks at all queues every check_ns, and acts on what it saw notify_ns ago."""

    def __init__(self, document: dict[str, Any]):
        experiment = Experiment.model_validate(document)
        self.about = experiment.policies.engine
        self.weight, self.end_ns = experiment.workload.scale, experiment.workload.end_ns
        self.on, self.due = False, list[tuple[int, bool]]()
        self.stops: list[list[int]] = []
        self.faults = len(experiment.faults)
        assert self.about.notify_ns % self.about.check_ns == 0
        self.orders = [(self.about.check_ns, self.look)]

    @property
    def holds(self) -> bool:
        return bool(self.due) or bool(self.stops and self.stops[-1][1] == L.FAR)

    def look(self, model: Any) -> None:
        now_ns = int(model.environment.now)
        queues = [
            sum(item.kind is Kind.RECORD for item in instance.queue) * self.weight
            for instance in model.network.instances
            if instance.operator.kind not in ("source", "receiver")
        ]
        was, full = self.on, max(queues) > int(self.about.high * self.about.queue)
        empty = max(queues) <= int(self.about.low * self.about.queue)
        self.on = full if not was else not empty
        if self.on != was:
            self.due.append((now_ns + self.about.notify_ns, self.on))
        while self.due and self.due[0][0] <= now_ns:
            _, stops = self.due.pop(0)
            if stops:
                self.stops.append([now_ns, L.FAR])
            else:
                self.stops[-1][1] = now_ns
            for instance in model.network.instances:
                if instance.operator.kind == "receiver" and (stops or now_ns < self.end_ns):  # nothing begins at the end of a run
                    model.hold(instance.number, stops)
        again = functools.partial(self.look, model)
        model.environment.at(now_ns + self.about.check_ns, Phase.CONTROL, (self.faults,), again, lambda: self.holds)


def storm(**fields: Any) -> dict[str, Any]:
    return {"kind": "storm", "check_ms": 1, "notify_ms": 3} | fields


def overloaded(**fields: Any) -> dict[str, Any]:
    """A filter that passes everything, with a slow sink behind it: 2,000 records/s of 1 ms on one core."""
    document = windowed_sum(2_000, hosts=2, sources=2, slots=2, horizon_s=1.5, scale=1)
    _, total, sink = document["query"]["operators"]
    total |= {"kind": "filter", "params": {"predicate": "True"}}
    sink |= {"parallelism": 2, "cost": {"record_us": 1500}}
    document["query"]["edges"] = [{"source": "purchases", "target": "sum"}, {"source": "sum", "target": "sink"}]
    document["policies"]["engine"] = storm(queue=50, **fields)
    return document


def throttle(simulation: engine.Simulation) -> Any:
    return simulation._engine[0]


@pytest.mark.slow
@settings(max_examples=tier(ci=20, all=EXAMPLES["all"]))
@given(document=documents(), queue=st.sampled_from((2, 3, 8)), notify_ms=st.sampled_from((0, 1, 5)))
def test_random_experiments_under_storm_agree_with_the_oracle(document: dict[str, Any], queue: int, notify_ms: int) -> None:
    document = copy.deepcopy(document)
    document.pop("prices", None)
    document["policies"] = {"engine": storm(queue=queue, notify_ms=notify_ms)}
    switch = Switch(document)
    simulation = traced(document)
    assert_agreement(document, simulation, simulate(Experiment.model_validate(document), DATASETS, orders=switch.orders))
    end_ns = simulation.now_ns
    assert throttle(simulation).stops == [stop for stop in switch.stops if stop[0] <= end_ns]


def test_one_queue_stops_all_spouts_and_later_lets_them_go_on() -> None:
    document = overloaded()
    switch = Switch(document)
    simulation = traced(document)
    assert_agreement(document, simulation, simulate(Experiment.model_validate(document), DATASETS, orders=switch.orders))
    stops = throttle(simulation).stops
    assert len(stops) > 5
    assert stops == switch.stops
    services = simulation.service_trace()
    begun = [start for i, start, _, kind in services.tolist() if i in (2, 3) and kind == 0]
    for start, end in stops[:-1]:
        assert not [at for at in begun if start < at < end], "no spout pulls while they are stopped"
    assert summary_of(simulation)["stops"] == len(stops)


def summary_of(simulation: engine.Simulation) -> dict[str, Any]:
    found: dict[str, Any] = simulation.summary()["engine"]
    return found


def test_the_switch_is_late_and_has_two_marks() -> None:
    """The longer a notification takes, the further queues grow beyond the mark, and the longer spouts stand still."""
    longest, held = [], []
    for notify_ms in (1, 20, 80):
        simulation = engine.Simulation(overloaded(notify_ms=notify_ms))
        w, most = simulation._world.arrays, 0
        for at_ms in range(1, 1500):
            simulation.run_until(at_ms * MS)
            most = max(most, int(w.inst[:, L.I_QUEUE_COUNT].max()))
        longest.append(most)
        start, end = throttle(simulation).stops[1]
        held.append(end - start)
    assert 45 < longest[0] < longest[1] < longest[2]
    assert held[0] < held[1] < held[2]
    assert held[0] > 10 * MS, "until every queue is below the low mark, not below the high one"


def test_frames_tell_when_spouts_were_stopped() -> None:
    simulation = engine.Simulation(overloaded())
    told = [stop for frame in frames_of(simulation) for stop in frame["engine"]["stopped_s"]]
    stopped_s = sum(end - start for start, end in told)
    assert stopped_s == pytest.approx(sum(min(end, simulation.now_ns) - start for start, end in throttle(simulation).stops) / 1e9)
    assert 0.1 < summary_of(simulation)["stopped"] < 0.9


def test_a_bolt_reads_its_windows_when_they_end() -> None:
    """Sums are those of the prices, and the time of a window's end grows with the records in it."""
    document = windowed_sum(4_000, sources=2, slots=2, horizon_s=9, size_s=2.0, slide_s=2.0, engine="storm", scale=1)
    simulation = engine.Simulation(document, keep_outputs=True, trace=True)
    simulation.run_until(simulation.end_ns)
    plain = engine.Simulation(document | {"policies": {}, "prices": "storm_2020"}, keep_outputs=True)
    plain.run_until(plain.end_ns)

    def rows(one: engine.Simulation) -> list[Any]:
        return sorted(record["values"] for record in one.sink_records("sink") if record["values"][2] <= 6 * 10**9)

    assert len(rows(simulation)) > 100
    assert rows(simulation) == rows(plain)
    longest = max(int(end - start) for _, start, end, kind in simulation.service_trace().tolist() if kind == 1)
    assert longest > 8_000 / 2 * 1.25e3, "8,000 records of a window in two slots"


def test_the_cost_of_a_tuple_grows_with_the_workers() -> None:
    """70.8 us, 2.9 for each other worker, and 0.28 for each connection between two."""

    def record_us(hosts: int) -> float:
        spout = under_engine(Experiment.model_validate(windowed_sum(1e5, hosts, engine="storm", scale=20))).operator("purchases-receiver")
        assert spout.cost is not None
        assert spout.cost.record_us is not None
        return spout.cost.record_us / 0.65 + 5

    assert [record_us(n) for n in (1, 2, 4, 8)] == pytest.approx([70.8, 74.26, 82.86, 106.78])
    document = windowed_sum(1e5, 2, engine="storm", scale=20)
    document["query"]["operators"][0]["cost"] = {"record_us": 10}
    spout = under_engine(Experiment.model_validate(document)).operator("purchases-receiver")
    assert spout.cost is not None
    assert spout.cost.record_us == 10, "a cost of the document stays"


@pytest.mark.parametrize(("hosts", "reported"), [(2, 400_000), (4, 690_000)])
def test_an_overloaded_cluster_pulls_what_the_benchmark_reports(hosts: int, reported: float) -> None:
    document = windowed_sum(1.3 * reported, hosts, sources=16 * hosts, slots=16 * hosts, horizon_s=16, engine="storm", scale=20)
    simulation = engine.Simulation(document)
    taken = []
    for at_ns in (simulation.end_ns // 4, simulation.end_ns):
        simulation.run_until(at_ns)
        taken.append(simulation.summary()["operators"]["purchases"]["in"])
    assert (taken[1] - taken[0]) / 12 == pytest.approx(reported, rel=0.05)
    assert 0.03 < summary_of(simulation)["stopped"] < 0.2


def test_runs_are_the_same_however_they_are_cut() -> None:
    document = overloaded()
    assert fingerprint(cut_saved_and_forked(document, 170 * MS)) == fingerprint(traced(document))

"""What autoscalers read of a run is what happened (docs/autoscaling.md, section 5).

What this catches: a gauge in another unit, over another span or of another instance; services and waits that are in progress at a scrape
and counted in full, or not at all; counters that do not begin at 0 with their instance; stolen time that counts as busy.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.autoscaling.metrics import NAMES
from engine.autoscaling.parts import graph_of, parts_of
from engine.autoscaling.scrapes import Scraped, Scrapes
from engine.core import layout as L
from engine.operators import OPERATORS
from engine.spec.experiment.scaling.looped import MetricTimes
from engine.spec.rules.max_layout import scaling_limits_of
from engine.spec.rules.validation import load

from ...support.agreement import MS

Document = dict[str, Any]
S = 1_000 * MS
EXACT = MetricTimes(scrape_s=0.002, window_s=0.006, meter_s=0.01, pending_floor_s=0, blocked_floor_ms=0)


class Job:
    """Runs as it began, or begins anew when a test says so."""

    def __init__(self, made: Document):
        self.parallelism = {operator["id"]: operator.get("parallelism", 1) for operator in made["query"]["operators"]}
        self.under_way: Any = None
        self.recovering = False
        self.starts: list[Start] = []

    @property
    def standing(self) -> set[str]:
        return set() if self.under_way is None else set(self.parallelism) if isinstance(self.under_way, str) else self.under_way


def watched(made: Document, times: MetricTimes = EXACT, keep_s: float = 1e6, **options: Any) -> tuple[engine.Simulation, Scrapes, Job]:
    """The run with a service that keeps all it reads."""
    experiment, job = load(made), Job(made)
    rooms = scaling_limits_of(experiment)
    metrics = Scraped(graph_of(experiment, rooms), job, int(keep_s * S))
    scrapes = Scrapes(metrics, job, parts_of(experiment, rooms), times, experiment.workload.horizon_ns)
    simulation = engine.Simulation(made, controls=[scrapes], trace=True, keep_outputs=True, kinds=OPERATORS, **options)
    return simulation, scrapes, job


def finished(simulation: engine.Simulation) -> engine.Simulation:
    simulation.run_until(simulation.end_ns)
    return simulation


def rows(scrapes: Scrapes) -> dict[tuple[str, int], list[tuple[int, dict[str, int]]]]:
    """Time and readings of each scrape, by vertex and index."""
    lines = scrapes.metrics.state()["lines"]
    return {
        (operator, index): [(at_ns, dict(zip(NAMES, row, strict=True))) for at_ns, row in zip(times, found, strict=True)]
        for operator, index, _, times, found in lines
    }


def line_of(
    parallelism: tuple[int, int, int],
    ways: tuple[str, str],
    costs_us: tuple[float, float, float],
    per_s: int,
    processor: str = "dedicated",
    credits: int | None = 4,
    scale: int = 1,
    horizon_s: float = 0.05,
    **cost: Any,
) -> Document:
    """Bids -> map -> sink."""
    ids = ("bids", "work", "sink")
    fields = [{"name": "bidder", "expression": "bidder"}, {"name": "price", "expression": "price * 2"}]
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": id, "kind": kind, "parallelism": p, "cost": {"record_us": us, "output_us": 0, **cost}}
                | ({"params": {"fields": fields}} if kind == "map" else {})
                for id, kind, p, us in zip(ids, ("source", "map", "sink"), parallelism, costs_us, strict=True)
            ],
            "edges": [
                {"source": a, "target": b, "partitioning": {"kind": way} | ({"key": "bidder"} if way == "hash" else {})}
                for a, b, way in (("bids", "work", ways[0]), ("work", "sink", ways[1]))
            ],
        },
        "cluster": {
            "local_latency_ns": 1000,
            "hosts": [{"name": "w", "count": 2, "cores": 8, "processor": {"kind": processor}, "egress_latency_ms": 0.05}],
        },
        "workload": {
            "horizon_s": horizon_s,
            "scale": scale,
            "sources": {"bids": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": per_s}}},
        },
        "policies": {"flow_control": {"kind": "credits", "per_channel": credits * scale} if credits else {"kind": "unbounded"}},
    }


@st.composite
def lines(draw: Callable[..., Any]) -> Document:
    first, second, third = (draw(st.integers(1, 3)) for _ in range(3))
    ways = draw(st.sampled_from(["forward", "hash", "rebalance"])), draw(st.sampled_from(["forward", "rebalance"]))
    second = first if ways[0] == "forward" else second
    third = second if ways[1] == "forward" else third
    scale = draw(st.sampled_from([1, 10]))
    costs = tuple(draw(st.sampled_from([0.1, 20.0, 150.0, 700.0])) / scale for _ in range(3))
    processor = draw(st.sampled_from(["dedicated", "shared_fifo", "pool"]))
    per_s = draw(st.sampled_from([200, 3000, 20_000])) * scale
    return line_of((first, second, third), ways, costs, per_s, processor, draw(st.sampled_from([None, 1, 5])), scale)  # type: ignore[arg-type]


class Twin:
    """All events of a run, and gauges from lists of them."""

    def __init__(self, simulation: engine.Simulation):
        self.simulation = simulation
        self.w = simulation._world.arrays
        self.trace = simulation.service_trace(True).tolist()
        self.operators = simulation._plan.operators
        feed = simulation._plan.feeds["bids"]
        chunk = feed.chunk(0, simulation.horizon_ns + 1)
        self.owner = simulation._logs.owners["bids"][chunk.partition].tolist()
        self.appended = chunk.append_ns.tolist()
        self.weight = simulation.experiment.workload.scale

    def number(self, operator: str, index: int) -> int:
        return int(self.w.op[self.operators.index(operator), L.O_FIRST]) + index

    def services(self, operator: str, index: int) -> list[tuple[int, int]]:
        """Start and end, of records."""
        i = self.number(operator, index)
        return [(start, end) for instance, start, end, kind, _ in self.trace if instance == i and kind == 0]

    def busy_ns(self, operator: str, index: int, from_ns: int, to_ns: int) -> int:
        i = self.number(operator, index)
        spans = [(start, end) for instance, start, end, _, _ in self.trace if instance == i]
        return sum(max(0, min(end, to_ns) - max(start, from_ns)) for start, end in spans)

    def taken(self, operator: str, index: int, t_ns: int) -> int:
        return self.weight * sum(start <= t_ns for start, _ in self.services(operator, index))

    def pending(self, index: int, t_ns: int) -> int:
        came = sum(at_ns <= t_ns and owner == index for at_ns, owner in zip(self.appended, self.owner, strict=True))
        return self.weight * came - self.taken("bids", index, t_ns)


@given(made=lines())
def test_gauges_are_what_a_list_of_all_events_says(made: Document) -> None:
    simulation, scrapes, _ = watched(made)
    twin = Twin(finished(simulation))
    found, graph = rows(scrapes), scrapes.metrics.graph()
    rooms = {room.operators[0]: room.operators for room in scaling_limits_of(simulation.experiment)}
    assert {vertex for vertex, _ in found} == set(graph.operators) == set(rooms)
    assert len(found["bids", 0]) == 25
    step_ns = 2 * MS
    for (vertex, index), readings in found.items():
        members = rooms[vertex]
        outs: list[tuple[int, int]] = []
        for at_ns, row in readings:
            busy = max(twin.busy_ns(member, index, at_ns - step_ns, at_ns) for member in members)
            assert row["busy_ns"] == busy * S // step_ns, (vertex, index, at_ns)
            assert row["busy_ns"] + row["idle_ns"] + row["blocked_ns"] == S
            assert min(row.values()) >= 0
            assert row["records_in"] == twin.taken(members[0], index, at_ns)
            sent = twin.taken(members[-1], index, at_ns) if members[-1] != "sink" else 0  # outputs are made as a service begins
            assert row["records_out"] == sent
            before = next((out for t_ns, out in reversed(outs) if t_ns <= at_ns - 10 * MS), 0)
            assert row["out_micro_per_s"] == (sent - before) * 10**6 * 100
            outs.append((at_ns, sent))
            assert row["pending"] == (twin.pending(index, at_ns) if "bids" in members else 0)
            report = min(10**6, busy * 10**6 // step_ns)
            assert abs(row["cpu_ppm"] - report) <= 1
            assert row["fill_ppm"] <= 10**6
    state = scrapes.metrics.state()["topics"]["bids"]
    assert state[1] == [[twin.weight * bisect_right(twin.appended, at_ns)] for at_ns in state[0]]


# -- what policies rely on ---------------------------------------------------------------------------------------------------------


def seconds(**changes: Any) -> MetricTimes:
    return MetricTimes(pending_floor_s=0, blocked_floor_ms=0, **changes)


def last(scrapes: Scrapes, vertex: str, name: str, first: int = 6) -> list[int]:
    """Readings of all instances, without those of the beginning."""
    return [row[name] for (operator, _), found in rows(scrapes).items() if operator == vertex for _, row in found[first:]]


@pytest.mark.parametrize("attainable", [0.7, 1.0])
def test_a_saturated_operator_is_busy_as_far_as_it_can_be_and_seems_faster_than_it_is(attainable: float) -> None:
    made = line_of((2, 2, 1), ("rebalance", "rebalance"), (10.0, 500.0, 10.0), 20_000, credits=20, horizon_s=3)
    made["query"]["operators"][1]["cost"]["attainable"] = attainable
    simulation, scrapes, _ = watched(made, seconds(scrape_s=0.1, window_s=0.3, meter_s=0.6))
    finished(simulation)
    busy = last(scrapes, "work", "busy_ns")
    assert len(busy) >= 40
    assert all(abs(each / S - attainable) <= 0.03 for each in busy)
    (first_ns, first), *_, (last_ns, final) = rows(scrapes)["work", 0][6:]
    throughput = (final["records_in"] - first["records_in"]) / ((last_ns - first_ns) / S)
    true_rate = throughput / (sum(busy) / len(busy) / S)
    assert true_rate * attainable == pytest.approx(throughput, rel=0.05)
    assert throughput == pytest.approx(2000 * attainable, rel=0.02)


def test_a_source_behind_a_slow_operator_is_not_idle() -> None:
    made = line_of((2, 1, 1), ("rebalance", "rebalance"), (10.0, 500.0, 10.0), 20_000, credits=20, horizon_s=3)
    simulation, scrapes, _ = watched(made, seconds(scrape_s=0.1, window_s=0.3, meter_s=0.6))
    finished(simulation)
    assert max(last(scrapes, "bids", "idle_ns")) < 0.02 * S
    assert min(last(scrapes, "bids", "blocked_ns")) > 0.9 * S
    assert set(last(scrapes, "bids", "blocked")) == {1}
    assert set(last(scrapes, "work", "blocked")) == {0}
    assert min(last(scrapes, "work", "fill_ppm")) > 900_000
    assert max(last(scrapes, "sink", "fill_ppm")) < 100_000
    pending = last(scrapes, "bids", "pending")
    assert pending[0] < pending[len(pending) // 2 - 1], "it grows without end"


@pytest.mark.parametrize(("stolen", "blocked_share", "idle_share"), [("blocked_first", 0.3, 0.0), ("idle", 1 / 6, 2 / 15)])
def test_time_that_is_stolen_from_a_source_held_back_counts_as_blocked(stolen: Any, blocked_share: float, idle_share: float) -> None:
    """The source is busy for 0.7 of the time. While it serves, 0.7 x 0.16 / 0.84 are stolen; for the sixth that is left it is blocked."""
    made = line_of((1, 1, 1), ("rebalance", "rebalance"), (350.0, 500.0, 10.0), 20_000, credits=20, horizon_s=3)
    made["query"]["operators"][0]["cost"]["attainable"] = 0.84
    simulation, scrapes, _ = watched(made, seconds(scrape_s=0.1, window_s=0.3, meter_s=0.6, stolen=stolen))
    finished(simulation)
    for name, share in (("busy_ns", 0.7), ("blocked_ns", blocked_share), ("idle_ns", idle_share)):
        assert max(abs(each / S - share) for each in last(scrapes, "bids", name)) < 0.02, name


def test_little_that_waits_and_little_blocking_are_not_told() -> None:
    made = line_of((1, 1, 1), ("rebalance", "rebalance"), (10.0, 330.0, 10.0), 2700, credits=1, horizon_s=3)
    made["workload"]["sources"]["bids"]["arrivals"] = {"kind": "poisson"}
    told = watched(made, seconds(scrape_s=0.1, window_s=0.3, meter_s=0.6))
    floors = watched(made, MetricTimes(scrape_s=0.1, window_s=0.3, meter_s=0.6, pending_floor_s=0.25, blocked_floor_ms=1000))
    for simulation, _, _ in (told, floors):
        finished(simulation)
    assert max(last(told[1], "bids", "pending")) > 0 == max(last(floors[1], "bids", "pending"))
    assert max(last(told[1], "bids", "blocked")) == 1 > max(last(floors[1], "bids", "blocked"))


def test_what_stands_still_reports_nothing_and_begins_anew() -> None:
    """Readings begin with the first scrape behind the start, counters at 0; topics go on meanwhile."""
    made = line_of((2, 2, 1), ("rebalance", "rebalance"), (10.0, 100.0, 10.0), 1000, horizon_s=2)
    simulation, scrapes, job = watched(made, seconds(scrape_s=0.1, window_s=0.3, meter_s=0.6))
    simulation.run_until(S)
    assert [series.since_ns for series in scrapes.metrics.instances("work")] == [0, 0]
    job.under_way = "a rescale"
    simulation.run_until(S + 450 * MS)
    assert {at_ns for found in rows(scrapes).values() for at_ns, _ in found if at_ns > S} == set()
    assert scrapes.metrics.state()["topics"]["bids"][0][-1] == S + 400 * MS
    job.under_way, job.parallelism["work"] = None, 1
    job.starts.append(Start(S + 440 * MS, None))
    assert scrapes.metrics.instances("work") == [], "what was read before is forgotten at once"
    assert scrapes.metrics.parallelism() == {"bids": 2, "work": 1, "sink": 1}
    simulation.run_until(S + 500 * MS)
    (series,) = scrapes.metrics.instances("work")
    assert series.since_ns == S + 440 * MS
    taken = [scrapes.metrics.last(each, "records_in") for each in scrapes.metrics.instances("bids")]
    assert sum(taken) == pytest.approx(100, abs=2), "what it took in since the last scrape before its start"
    finished(simulation)
    assert scrapes.metrics.rate(series, "records_in", 300 * MS) == pytest.approx(500, rel=0.05)


def test_what_goes_on_reports_while_others_stand_still() -> None:
    """In a rescale in place: its series go on, with all that they have counted."""
    made = line_of((2, 2, 1), ("rebalance", "rebalance"), (10.0, 100.0, 10.0), 1000, horizon_s=2)
    simulation, scrapes, job = watched(made, seconds(scrape_s=0.1, window_s=0.3, meter_s=0.6))
    simulation.run_until(S + 50 * MS)
    job.under_way = {"work"}
    simulation.run_until(S + 450 * MS)
    late = {key for key, found in rows(scrapes).items() for at_ns, _ in found if at_ns > S}
    assert late == {("bids", 0), ("bids", 1), ("sink", 0)}
    job.under_way, job.parallelism["work"] = None, 1
    job.starts.append(Start(S + 440 * MS, frozenset({"work"})))
    finished(simulation)
    assert [series.since_ns for series in scrapes.metrics.instances("bids")] == [0, 0]
    (series,) = scrapes.metrics.instances("work")
    assert series.since_ns == S + 440 * MS
    assert sum(scrapes.metrics.last(each, "records_in") for each in scrapes.metrics.instances("bids")) == pytest.approx(2000, abs=2)
    assert scrapes.metrics.last(series, "records_in") == pytest.approx(300, abs=52), (
        "since the last scrape before its start, half of what comes"
    )


class Start(NamedTuple):
    go_ns: int
    operators: frozenset[str] | None


def test_a_vertex_of_several_operators_is_read_as_one() -> None:
    made = line_of((2, 2, 2), ("forward", "rebalance"), (10.0, 900.0, 10.0), 1500, credits=8, horizon_s=2)
    simulation, scrapes, _ = watched(made, seconds(scrape_s=0.1, window_s=0.3, meter_s=0.6))
    finished(simulation)
    assert scrapes.metrics.graph().operators == ("bids", "sink")
    assert min(last(scrapes, "bids", "busy_ns")) > 0.5 * S, "the map's, not the source's"
    assert max(last(scrapes, "bids", "blocked_ns")) == 0, "that the map holds the source up stays inside"
    assert Fraction(sum(last(scrapes, "bids", "out_micro_per_s")), 10**6) > 0


def test_it_goes_on_from_its_state() -> None:
    made = line_of((2, 1, 1), ("hash", "rebalance"), (10.0, 300.0, 10.0), 5000, credits=8, horizon_s=1)
    times = seconds(scrape_s=0.1, window_s=0.3, meter_s=0.6)
    whole, scrapes, _ = watched(made, times, keep_s=0.3)
    finished(whole)
    cut, _, _ = watched(made, times, keep_s=0.3)
    cut.run_until(550 * MS)
    again, other, _ = watched(made, times, keep_s=0.3)
    again.restore(cut.snapshot())
    finished(again)
    assert again.digest() == whole.digest()
    assert json.dumps(other.state()) == json.dumps(scrapes.state())
    assert max(len(times_ns) for *_, times_ns, _ in scrapes.state()["metrics"]["lines"]) == 4

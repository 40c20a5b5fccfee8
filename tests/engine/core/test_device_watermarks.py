"""Watermarks that stand in the log: worked sequences of a thesis on schedulers, played from logs written by hand, and disorder.

Source of the sequences: Farhat 2020, Figures 2.2 and 3.1. A watermark W there says "no event at or before W", here "no record before W", so
its W is our W + 1 ns, and its windows (a, b] are our [a + 1 ns, b + 1 ns).
"""

from __future__ import annotations

from typing import Any

import numpy as np

import engine
from tests.support.corner_cases import bids, document, host, watermarks_that_overtake_one_another

from ...support.agreement import TINY, assert_agreement, traced
from ...support.written_logs import SECOND, TICK_S, Entry, device, figure_2_2, fired, write_logs

MS = 10**6


def test_the_sweeping_watermarks_of_figure_2_2(monkeypatch):
    stream: list[Entry] = [("W", 1), ("e", 2), ("e", 4), ("W", 3), ("e", 6), ("W", 5), ("W", 7)]
    write_logs(monkeypatch, {"source": stream})
    simulation = traced(figure_2_2())
    assert fired(simulation) == [(4, 3, 1), (7, 6, 2)], "W3 fires (0, 3] with e2, W5 nothing, W7 fires (3, 6] with e4 and e6"
    assert_agreement(figure_2_2(), simulation)


def test_a_watermark_that_overtakes_another_takes_its_place(monkeypatch):
    stream: list[Entry] = [("W", 1), ("e", 2), ("e", 4), ("W", 5), ("e", 6), ("W", 3), ("W", 7)]
    write_logs(monkeypatch, {"source": stream})
    simulation = traced(figure_2_2())
    assert fired(simulation) == [(4, 3, 1), (7, 6, 2)], "W5 fires (0, 3], W3 comes too late to do anything"
    marks = simulation.service_trace()
    assert np.count_nonzero((marks[:, 0] == 0) & (marks[:, 3] == 1)) == 4, "each is an item at the source"
    assert np.count_nonzero((marks[:, 0] == 1) & (marks[:, 3] == 1)) == 4, "W1, W5, W7 and the end of the log are sent on, W3 is not"
    assert_agreement(figure_2_2(), simulation)


def test_a_record_that_a_watermark_overtook_is_late(monkeypatch):
    stream: list[Entry] = [("e", 4), ("W", 3), ("e", 3), ("e", 3.5), ("W", 7)]
    write_logs(monkeypatch, {"source": stream})
    simulation = traced(figure_2_2())
    assert fired(simulation) == [(5, 6, 2)]
    assert [r["event_ns"] for r in simulation.sink_records("late")] == [3 * SECOND], "(0, 3] holds e3, and has ended"
    assert_agreement(figure_2_2(), simulation)


def test_the_join_of_figure_3_1(monkeypatch):
    """Windows of 1 s over two inputs with a pair in each. The entries of both logs come at the same times; fillers are late watermarks."""
    window = {"kind": "tumbling", "size_s": 1.0, "origin_s": TICK_S, "clock": "event"}
    join = {"id": "join", "kind": "window_join", "params": {"left_key": "auction", "right_key": "auction", "window": window}}
    operators = [{"id": id, "kind": "source"} for id in ("top", "bottom")] + [join, {"id": "sink", "kind": "sink"}]
    edges = [
        {"source": "top", "target": "join", "target_port": "left"},
        {"source": "bottom", "target": "join", "target_port": "right"},
        {"source": "join", "target": "sink"},
    ]
    sources = {id: bids(1.0, watermarks=device()) for id in ("top", "bottom")}
    experiment = document(operators, edges, [host("a")], sources, horizon_s=20.0)
    pairs: list[Entry] = [("e", 0.5), ("e", 1.5), ("e", 2.5)]
    nothing: Entry = ("W", -1)
    write_logs(
        monkeypatch,
        {
            "top": [*pairs, ("W", 1), nothing, ("W", 3), nothing],
            "bottom": [*pairs, ("W", 1), ("W", 2), nothing, ("W", 4)],
        },
    )
    simulation = traced(experiment)
    rows = [(r["end_ns"] // SECOND, r["event_ns"]) for r in simulation.sink_records("sink") if r["end_ns"] < 19 * SECOND]
    assert rows == [(4, SECOND // 2), (6, 3 * SECOND // 2), (7, 5 * SECOND // 2)], "the least of both inputs fires"
    assert_agreement(experiment, simulation)


def disordered(lag_ms: float = 5.0) -> dict[str, Any]:
    experiment = watermarks_that_overtake_one_another()
    experiment["workload"]["sources"]["source"]["watermarks"]["lag_ms"] = lag_ms
    return experiment


def test_both_engines_agree_over_channels_that_fill():
    experiment = disordered()
    experiment["policies"] = {"flow_control": {"kind": "credits", "per_channel": 1}}
    experiment["query"]["operators"][1]["cost"] = {"record_us": 60.0}
    expected = assert_agreement(experiment, traced(experiment, capacity=TINY))
    assert expected.late["window"] > 0 < expected.blocked_count


def test_a_late_watermark_never_lowers():
    marks = traced(disordered(), controls=[Rising()]).service_trace()
    at_source = np.count_nonzero((marks[:, 0] < 3) & (marks[:, 3] == 1))
    assert 100 < at_source < 150, "those on their way at the end never arrive"


class Rising:
    """Looks every millisecond whether an instance's watermark has fallen."""

    def __init__(self) -> None:
        self.next_ns, self.before = MS, None

    def act(self, world, now_ns):
        marks = world.arrays.inst[:, engine.core.layout.I_WATERMARK].copy()
        assert self.before is None or (marks >= self.before).all()
        self.before, self.next_ns = marks, now_ns + MS

    def state(self):
        return self.next_ns

    def restore(self, state):
        self.next_ns = state


def test_a_lag_as_long_as_the_longest_delay_lets_nothing_be_late():
    summary = traced(disordered(lag_ms=30.0)).summary()
    assert (summary["late"], summary["records_in"] > 1500, summary["drained"]) == (0, True, True)


def test_watermarks_that_the_log_drops_are_not_counted_as_records():
    experiment = disordered()
    experiment["query"]["operators"][0]["cost"] = {"record_us": 500.0}
    experiment["workload"]["sources"]["source"]["retention"] = {"kind": "time", "keep_s": 0.005, "check_s": 0.01}
    simulation = traced(experiment)
    summary = simulation.summary()
    offered = simulation._logs.offered(simulation.end_ns, simulation._world.arrays)
    assert (summary["records_in"] + summary["dropped"], summary["backlog"], summary["drained"]) == (offered, 0, True)
    assert summary["dropped"] > 500
    assert simulation.service_trace()[:, 3].tolist().count(3) == 3, "the end of the log stays"


def test_the_end_of_a_log_lets_watermarks_of_the_other_input_through():
    """One input has no watermark until its log ends. Then the other's last one sweeps: it has waited since the log was closed."""
    window = {"kind": "tumbling", "size_s": 0.002, "clock": "event"}
    join = {"id": "join", "kind": "window_join", "params": {"left_key": "auction", "right_key": "auction", "window": window}}
    operators = [{"id": id, "kind": "source"} for id in ("silent", "steady")] + [join, {"id": "sink", "kind": "sink"}]
    edges = [
        {"source": "silent", "target": "join", "target_port": "left"},
        {"source": "steady", "target": "join", "target_port": "right"},
        {"source": "join", "target": "sink"},
    ]
    of_steady = {"kind": "bounded", "lag_ms": 0, "period_ms": 1}
    sources = {"silent": bids(1000.0, watermarks=of_steady | {"period_ms": 1000}), "steady": bids(1000.0, watermarks=of_steady)}
    also = [{"name": name, "from": name, "to": "watermark"} for name in ("event", "append", "ingest")]
    made = document(operators, edges, [host("a")], sources, measurement={"also": also})
    simulation = traced(made)
    waits = simulation.summary()["latencies_ms"]
    assert [waits[name]["count"] for name in ("event", "append", "ingest")] == [1, 1, 1]
    assert 0 < waits["ingest"]["max"] <= waits["append"]["max"] == waits["event"]["max"] < 1
    assert_agreement(made, simulation)

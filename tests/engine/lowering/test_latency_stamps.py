"""Several latencies at once, and the worked examples of their definitions.

What this catches: a clock that takes the place of another, a contributor that does not count, clocks that are lost on the way through an
operator, clocks that are carried though nobody asks for them, a latency under the name of another.
"""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import engine
from engine.core import layout as L
from engine.core.weave import woven_text
from engine.operators import OPERATORS
from engine.spec.rules.validation import validate
from engine.workloads.datasets import lookup
from tests.support import corner_cases

from ...support.agreement import TEMPLATES, assert_agreement, template, traced

S = 1_000_000_000
CLOCKS, ANCHORS = ("event", "append", "ingest"), ("trigger", "newest", "oldest")
STATEFUL = {
    "incremental join": corner_cases.lateness_of_a_sliding_join,
    "window join, window": corner_cases.records_behind_the_firing_of_a_window_join,
    "window join, trigger": corner_cases.a_window_join_counts_from_what_came_last,
    "sessions": corner_cases.sessions_that_meet,
    "sessions at firing": corner_cases.sessions_that_meet_and_are_evaluated_at_firing,
    "panes": corner_cases.panes_with_late_updates,
    "panes at firing": corner_cases.panes_evaluated_at_firing,
}


def further(clock: str, anchor: str, to: str = "sink") -> dict[str, str]:
    return {"name": f"{clock}_{anchor}_{to}", "from": clock, "anchor": anchor, "to": to}


def busy(name: str) -> dict[str, Any]:
    document = template(name, horizon_s=2.0 if name == "flights" else 0.04, drain=True)
    for host in document["cluster"]["hosts"]:
        host["speed"] = 0.05
    return document


DOCUMENTS = {name: lambda name=name: busy(name) for name in TEMPLATES} | STATEFUL


@pytest.mark.slow
@pytest.mark.parametrize("name", DOCUMENTS)
def test_each_latency_is_what_it_would_be_alone(name: str) -> None:
    document = DOCUMENTS[name]()
    document["measurement"] = {
        "latency": {"from": "append", "anchor": "trigger"},
        "also": [further(clock, anchor) for clock in CLOCKS for anchor in ANCHORS if (clock, anchor) != ("append", "trigger")],
    }
    together = traced(document)
    summary = together.summary()
    sinks = {sink: together.outputs(sink) for sink in together.sinks}
    assert sum(len(rows) for rows in sinks.values()) > 50 or name == "nexmark_q2"
    for asked in document["measurement"]["also"]:
        alone = copy.deepcopy(document) | {"measurement": {"latency": {"from": asked["from"], "anchor": asked["anchor"]}}}
        simulation = traced(alone)
        assert simulation.summary()["latency_ms"] == summary["latencies_ms"][asked["name"]]
        for sink, rows in sinks.items():
            assert simulation.outputs(sink)["_latency_ns"].to_pylist() == rows[f"_{asked['name']}_ns"].to_pylist()


@pytest.mark.parametrize("name", DOCUMENTS)
def test_all_points_and_deadlines_agree_with_the_oracle(name: str) -> None:
    document = DOCUMENTS[name]()
    document["workload"]["horizon_s"] /= 4
    document["measurement"] = {
        "latency": {"from": "ingest", "anchor": "oldest"},
        "also": [
            further("event", "newest"),
            further("event", "oldest", "emit"),
            further("append", "trigger", "emit"),
            further("deadline", "newest", "emit"),
            further("ingest", "newest", "emit"),
            further("append", "trigger", "read"),
            further("event", "mixed"),
            further("ingest", "mixed"),
        ],
    }
    assert_agreement(document)


def test_no_clock_is_carried_that_nobody_asks_for() -> None:
    plain, _ = woven_text(OPERATORS)
    assert "G_STAMPS" not in plain
    assert "G_MEASURES" not in plain
    for also, stamps in (
        ([], 0),
        ([further("append", "newest"), further("append", "oldest", "emit"), further("deadline", "newest")], 0),
        ([further("event", "newest"), further("event", "newest", "emit"), further("ingest", "newest")], 2),
        ([further("append", "newest", "read")], 0),
        ([further("append", "mixed"), further("append", "oldest")], 1),
    ):
        document = template("nexmark_q3", horizon_s=0.01)
        document["measurement"] = {"latency": {"from": "ingest" if also and also[0]["to"] == "read" else "append"}, "also": also}
        world = engine.Simulation(document)._world.arrays
        assert world.g[L.G_STAMPS] == stamps


def test_frames_files_and_summary_have_each_latency_by_name(tmp_path: Path) -> None:
    document = template("nexmark_q3", horizon_s=0.5)
    document["measurement"] = {
        "frame_ms": 100,
        "latency": {"from": "event", "anchor": "newest"},
        "also": [{"name": "processing", "from": "ingest"}, {"name": "emission", "from": "ingest", "to": "emit"}],
    }
    run = engine.run(document, out=tmp_path, keep_outputs=True)
    outputs = run.outputs("sink")
    assert run.summary["latencies_ms"].keys() == {"processing", "emission"}
    waiting = np.array(outputs["_latency_ns"]) - np.array(outputs["_processing_ns"])
    assert (waiting >= 0).all()  # in the driver's queue
    assert (np.array(outputs["_processing_ns"]) > np.array(outputs["_emission_ns"])).all()
    for frame in run.frames:
        assert frame["latencies_ms"].keys() == {"processing", "emission"}
        assert {latency["count"] for latency in frame["latencies_ms"].values()} == {frame["latency_ms"]["count"]}
    table = pq.read_table(tmp_path / "latency").to_pylist()
    for name in ("", "processing", "emission"):
        assert sum(row["count"] for row in table if row["latency"] == name) == len(outputs)


@pytest.mark.parametrize("scale", [1, 10])
def test_the_wait_in_the_log_counts_every_record_that_is_read(scale: int) -> None:
    """Also those that lead to nothing; as real records, whatever the rows at the sinks stand for. A source at half of its rate falls behind
    for a second, so the wait of the last record is half a second."""
    window = {"kind": "tumbling", "size_s": 10.0, "clock": "event"}
    operators = [
        {"id": "bids", "kind": "source", "cost": {"record_us": 1000.0, "output_us": 0, "control_us": 1}},
        {"id": "none", "kind": "filter", "params": {"predicate": "price < 0"}},
        {"id": "count", "kind": "aggregate", "params": {"window": window, "emit": "on_close"}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": a, "target": b, "partitioning": {"kind": "rebalance"}}
        for a, b in (("bids", "none"), ("none", "count"), ("count", "sink"))
    ]
    sources = {"bids": corner_cases.bids(2000, watermarks=corner_cases.watermarks(100))}
    made = corner_cases.document(operators, edges, [corner_cases.host("w")], sources, horizon_s=1.0)
    made["workload"] |= {"scale": scale, "drain": False}
    made["measurement"] = {"also": [{"name": "wait", "from": "append", "to": "read"}], "frame_ms": 250}
    run = engine.run(made)
    waits = run.summary["latencies_ms"]["wait"]
    assert waits["count"] == run.summary["records_in"] == pytest.approx(1000, abs=2 * scale)
    assert run.summary["latency_ms"]["count"] == 0
    assert waits["max"] == pytest.approx(500, rel=0.01 * scale)
    assert waits["mean"] == pytest.approx(250, rel=0.01 * scale)
    assert sum(frame["latencies_ms"]["wait"]["count"] for frame in run.frames) == waits["count"]


def test_what_is_read_was_appended() -> None:
    document = template("nexmark_q3")
    document["measurement"] = {"also": [{"name": "wait", "to": "read"}]}
    (problem,) = validate(document)
    assert (problem.pointer, problem.code) == ("/measurement/also/0/from", "not_append")
    assert "give append" in problem.message


def test_a_latency_of_the_name_of_another_is_refused() -> None:
    document = template("nexmark_q3")
    document["measurement"] = {"also": [further("event", "newest"), further("event", "newest")]}
    (problem,) = validate(document)
    assert problem.pointer == "/measurement/also/1/name"
    assert "is used twice" in problem.message


# Worked examples of Karimov 2020 (Figs. 3.5 and 3.6): windows of ten minutes, whose last event has time 600. In the figures windows are
# closed on the right, ours are half-open, so here they are of 601 s.

FREE = {"record_us": 1, "output_us": 0, "control_us": 1}


def file(directory: Path, name: str, rows: list[tuple[int, int, int]]) -> None:
    """rows: (event time in s, key, value)."""
    times, keys, values = zip(*rows, strict=True)
    clock = pa.array([time * S for time in times], pa.timestamp("ns"))
    pq.write_table(pa.table({"time": clock, "key": pa.array(keys, pa.int64()), "value": pa.array(values, pa.int64())}), directory / name)


def replayed(name: str, steps: list[tuple[int, int]]) -> dict[str, Any]:
    return {
        "stream": {"kind": "file", "dataset": name, "timestamp": "time"},
        "rate": {"kind": "steps", "steps": [{"at_s": at_s, "per_s": per_s} for at_s, per_s in steps]},
        "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 1_000_000},  # none before the end of the log
    }


def ten_minutes(operators: list[dict[str, Any]], edges: list[dict[str, str]], sources: dict[str, Any]) -> dict[str, Any]:
    return {
        "format": 1,
        "query": {"operators": [{"cost": FREE, **operator} for operator in operators], "edges": edges},
        "cluster": {"hosts": [{"name": "w", "processor": {"kind": "dedicated"}, "cores": 8}], "local_latency_ns": 1000},
        "workload": {"horizon_s": 700, "drain": True, "sources": sources},
        "measurement": {"latency": {"from": "event", "anchor": "newest"}, "also": [{"name": "processing", "from": "ingest"}]},
    }


def test_the_aggregate_of_figure_3_5(tmp_path: Path) -> None:
    """Events of times 580, 590 and 600 and values that sum to 42, ingested at 601, come out at 610: latencies 10 and 9."""
    file(tmp_path, "purchases.parquet", [(0, 1, 5), (580, 7, 10), (590, 7, 12), (600, 7, 20)])
    # at 601 s the last record is read; 1 us for it and for the end of the log at the source, 1 us of way, 1 us in the filter, 1 of way,
    # the window's closing, 1 us of way, 1 us at the sink
    closing_us = 9_000_000 - 7
    document = ten_minutes(
        [
            {"id": "purchases", "kind": "source"},
            {"id": "us", "kind": "filter", "params": {"predicate": "key == 7"}},
            {
                "id": "sum",
                "kind": "aggregate",
                "params": {
                    "key": "key",
                    "window": {"kind": "tumbling", "size_s": 601, "clock": "event"},
                    "aggregates": [{"name": "sum", "function": "sum", "field": "value"}],
                    "emit": "on_close",
                },
                "cost": FREE | {"control_us": closing_us},
            },
            {"id": "sink", "kind": "sink"},
        ],
        [
            {"source": "purchases", "target": "us"},
            {"source": "us", "target": "sum", "partitioning": {"kind": "hash", "key": "key"}},
            {"source": "sum", "target": "sink"},
        ],
        {"purchases": replayed("purchases", [(0, 1), (1, 0), (599, 1)])},
    )
    document["measurement"]["also"] += [
        {"name": "emission", "from": "event", "to": "emit"},
        {"name": "mixed", "from": "event", "anchor": "mixed"},
    ]
    simulation = engine.Simulation(document, datasets=lookup([tmp_path]), keep_outputs=True, trace=True)
    simulation.run_until(simulation.end_ns)
    sources = simulation.trace().columns()
    assert max(sources["start_ns"][(sources["instance"] == 0) & (sources["kind"] == L.RECORD)]) == 601 * S
    (row,) = simulation.outputs("sink").to_pylist()
    assert row["sum"] == 42
    assert row["_end_ns"] == 610 * S
    assert row["_latency_ns"] == 10 * S
    assert row["_processing_ns"] == 9 * S
    assert row["_emission_ns"] == 10 * S - 2000
    assert row["_mixed_ns"] == row["_latency_ns"]  # an aggregate: of the newest


@pytest.mark.parametrize(("event_time", "events"), [("window", [600] * 4), ("newest", [590, 600, 590, 600])])
def test_the_join_of_figure_3_6(tmp_path: Path, event_time: str, events: list[int]) -> None:
    """Ads until 500 and purchases until 600: the result has time 600 over the window; over the pair, that of the newer one."""
    file(tmp_path, "ads.parquet", [(0, 1, 0), (400, 7, 1), (500, 7, 2)])
    file(tmp_path, "purchases.parquet", [(0, 2, 0), (590, 7, 3), (600, 7, 4)])
    closing_us = 9_000_000 - 5
    document = ten_minutes(
        [
            {"id": "ads", "kind": "source"},
            {"id": "purchases", "kind": "source"},
            {
                "id": "join",
                "kind": "window_join",
                "params": {
                    "left_key": "key",
                    "right_key": "key",
                    "window": {"kind": "tumbling", "size_s": 601, "clock": "event"},
                    "event_time": event_time,
                },
                "cost": FREE | {"control_us": closing_us},
            },
            {"id": "sink", "kind": "sink"},
        ],
        [
            {"source": side, "target": "join", "target_port": port, "partitioning": {"kind": "hash", "key": "key"}}
            for side, port in (("ads", "left"), ("purchases", "right"))
        ]
        + [{"source": "join", "target": "sink"}],
        {
            "ads": replayed("ads", [(0, 1), (1, 0), (500, 1)]),
            "purchases": replayed("purchases", [(0, 1), (1, 0), (600, 1)]),
        },
    )
    document["measurement"]["also"].append({"name": "mixed", "from": "event", "anchor": "mixed"})
    simulation = engine.Simulation(document, datasets=lookup([tmp_path]), keep_outputs=True)
    simulation.run_until(simulation.end_ns)
    rows = simulation.outputs("sink").to_pylist()
    assert len(rows) == 4
    oldest_s = [400] * 4 if event_time == "window" else [400, 400, 500, 500]
    for n, (row, event_s) in enumerate(zip(rows, events, strict=True)):
        assert row["_event_ns"] == event_s * S
        assert row["_end_ns"] == 610 * S + n * 1000  # the sink takes 1 us for each
        assert row["_latency_ns"] == (610 - event_s) * S + n * 1000
        assert row["_mixed_ns"] == (610 - oldest_s[n]) * S + n * 1000  # a join: of the older one of a pair, or of the whole window


def test_a_result_of_three_streams_counts_from_the_newest_of_the_three() -> None:
    """A join's result has the latest event time of all that contributed (AJoin, AStream), and the latest ingestion, each on its own."""
    disorder = {"kind": "uniform", "max_ms": 3}
    sides = ("a", "b", "c")
    operators: list[dict[str, Any]] = [{"id": side, "kind": "source", "cost": {"record_us": 150}} for side in sides]
    operators += [{"id": f"sink_{side}", "kind": "sink"} for side in sides]
    full = {"left_key": "auction", "right_key": "auction", "window": {"kind": "full_history"}}
    operators += [
        {"id": side, "kind": "map", "params": {"fields": [{"name": name, "expression": of} for name, of in fields]}}
        for side, fields in (
            ("a2", (("auction", "auction % 7"), ("a", "time"))),
            ("b2", (("auction", "auction % 7"), ("b", "time"))),
            ("c2", (("auction", "auction % 7"), ("c", "time"))),
        )
    ]
    operators += [
        {"id": "ab", "kind": "join", "params": full | {"select": ["auction", "a", "b"]}},
        {"id": "abc", "kind": "join", "params": full | {"select": ["a", "b", "c"]}},
        {"id": "sink", "kind": "sink"},
    ]
    by_key = {"kind": "hash", "key": "auction"}
    edges = [{"source": side, "target": f"{side}2"} for side in sides] + [{"source": side, "target": f"sink_{side}"} for side in sides]
    edges += [
        {"source": "a2", "target": "ab", "target_port": "left", "partitioning": by_key},
        {"source": "b2", "target": "ab", "target_port": "right", "partitioning": by_key},
        {"source": "ab", "target": "abc", "target_port": "left", "partitioning": by_key},
        {"source": "c2", "target": "abc", "target_port": "right", "partitioning": by_key},
        {"source": "abc", "target": "sink"},
    ]
    rates = {"a": 5_000, "b": 7_000, "c": 6_100}
    document = corner_cases.document(
        operators,
        edges,
        [corner_cases.host("w")],
        {side: corner_cases.bids(rate, disorder=disorder) for side, rate in rates.items()},
        horizon_s=0.01,
        measurement={"latency": {"from": "event", "anchor": "newest"}, "also": [{"name": "processing", "from": "ingest"}]},
    )
    simulation = traced(document)
    trace = simulation.trace().columns()
    read = (trace["instance"] < len(sides)) & (trace["kind"] == L.RECORD)
    ingest_of = dict(zip(trace["trigger"][read].tolist(), trace["start_ns"][read].tolist(), strict=True))
    ingested = {side: {row["time"]: ingest_of[row["_trigger"]] for row in simulation.outputs(f"sink_{side}").to_pylist()} for side in sides}
    rows = simulation.outputs("sink").to_pylist()
    assert len(rows) > 1000
    apart = 0
    for row in rows:
        assert row["_event_ns"] == max(row[side] for side in sides)
        assert row["_latency_ns"] == row["_end_ns"] - row["_event_ns"]
        assert row["_processing_ns"] == row["_end_ns"] - max(ingested[side][row[side]] for side in sides)
        apart += max(sides, key=lambda side: row[side]) != max(sides, key=lambda side: ingested[side][row[side]])
    assert apart > 100  # the newest event is often not the one ingested last

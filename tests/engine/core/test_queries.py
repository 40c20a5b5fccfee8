"""Named queries in a run: copies have records and starts of their own, and each query is measured (docs/queries.md)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import engine
from engine.spec import Experiment
from engine.spec.base.units import seconds_ns
from engine.spec.rules.copies import written_out
from tests.support.strategies import named_queries

from ...support.agreement import assert_agreement, fingerprint, finished, traced
from ...support.query_examples import by_hand, counting

SPREAD = {"copies": 3, "start_within_s": 2.0}


def starts_s(document: dict[str, Any]) -> list[float]:
    return [query.start_s for query in written_out(Experiment.model_validate(document)).query.queries]


def rows(simulation: engine.Simulation, sink: str) -> list[tuple[Any, ...]]:
    return [(row["end_ns"], row["event_ns"], row["trigger"], row["latency_ns"], *row["values"]) for row in simulation.sink_records(sink)]


@pytest.mark.slow
@given(document=named_queries())
def test_random_queries_agree_with_the_oracle(document: dict[str, Any]) -> None:
    assert_agreement(document)


def test_copies_are_the_queries_that_one_would_write_by_hand() -> None:
    document = counting(**SPREAD)
    drawn, written = finished(document), finished(by_hand(document, starts_s(document)))
    assert drawn.sinks == written.sinks
    for sink in drawn.sinks:
        assert rows(drawn, sink) == rows(written, sink)
    assert len({tuple(row[4:] for row in rows(drawn, sink)) for sink in drawn.sinks}) == 3  # each counted records of its own


def test_a_query_that_starts_later_is_the_same_query_later() -> None:
    """Records, watermarks, windows and the times in the records all move by the start, and nothing else changes."""
    later_s, later_ns = 1.2345, 1_234_500_000
    now, later = finished(counting(horizon_s=4)), finished(counting(horizon_s=4 + later_s, start_s=later_s))
    shifted = [(end + later_ns, event + later_ns, trigger, latency, *values) for end, event, trigger, latency, *values in rows(now, "sink")]
    names = now.sink_schema("sink").names
    bounds = [4 + names.index(name) for name in ("window_start", "window_end")]
    moved = [tuple(value + later_ns if c in bounds else value for c, value in enumerate(row)) for row in shifted]
    assert len(moved) > 100
    assert rows(later, "sink") == moved


def test_starts_are_spread_over_the_span_and_do_not_depend_on_the_number_of_copies() -> None:
    few, many = starts_s(counting(copies=5, start_within_s=2)), starts_s(counting(copies=400, start_within_s=2, per_s=1))
    assert many[:5] == few
    assert 0 <= min(many) < 0.05
    assert 1.95 < max(many) < 2
    counts, _ = np.histogram(many, bins=8, range=(0, 2))
    assert ((counts - 50) ** 2 / 50).sum() < 24.3  # chi-square with 7 degrees of freedom, 1 in 1,000
    assert starts_s(counting(copies=3, start_s=0.5)) == [0.5] * 3


def test_a_later_seed_draws_other_starts() -> None:
    document = counting(**SPREAD)
    document["workload"]["seed"] = 2
    assert starts_s(document) != starts_s(counting(**SPREAD))


@pytest.mark.parametrize("at_s", [0.7, 2.6])
def test_a_host_that_is_lost_before_or_after_the_starts_agrees(at_s: float) -> None:
    document = counting(copies=3, start_s=0.3, start_within_s=1.5)
    document["faults"] = [{"kind": "host_loss", "host": "w", "when": {"kind": "at", "at_s": at_s}, "restart_after_s": 0.4}]
    expected = assert_agreement(document)
    assert {instance for instance, start_ns, *_ in expected.services if start_ns > seconds_ns(at_s + 0.4)} == set(range(9))


def test_a_shared_source_feeds_every_copy() -> None:
    document = counting(copies=3)
    document["query"]["queries"][0]["operators"] = ["count", "sink"]
    simulation = traced(document)
    assert_agreement(document, simulation)
    values = {sink: [row[4:] for row in rows(simulation, sink)] for sink in simulation.sinks}
    assert values["sink-1"] == values["sink-2"] == values["sink-3"]
    assert len(values["sink-1"]) > 100
    assert simulation.summary()["queries"]["count-bids"]["throughput_in_per_s"] == 0  # its source is nobody's


def test_copies_may_run_on_several_hosts() -> None:
    document = counting(copies=5)
    document["cluster"]["hosts"] = [{"name": "w", "count": 2, "cores": 2, "processor": {"kind": "pool"}}]
    placement = written_out(Experiment.model_validate(document)).placement
    assert [placement.hosts[f"count-{n}"] for n in range(1, 6)] == [("w1",), ("w2",), ("w1",), ("w2",), ("w1",)]
    assert_agreement(document)


def test_cuts_resumes_and_forks_change_nothing(tmp_path: Any) -> None:
    document = counting(**SPREAD)
    whole = fingerprint(traced(document))
    cut = engine.Simulation(document, keep_outputs=True, trace=True)
    for t_s in (0.31, 1.0, 2.7):
        cut.run_until(seconds_ns(t_s))
        if t_s == 1.0:
            fork = cut.fork()
            cut.save(tmp_path / "run.npz")
            cut = engine.Simulation.resume(document, tmp_path / "run.npz", keep_outputs=True, trace=True)
    for simulation in (cut, fork):
        simulation.run_until(simulation.end_ns)
        found = fingerprint(simulation)
        assert found["digest"] == whole["digest"]
        assert found["summary"] == whole["summary"]


# -- what is measured ------------------------------------------------------------------------------------------------------------------


def test_latency_and_throughput_by_query_are_those_of_its_deliveries() -> None:
    document = counting(**SPREAD)
    document["measurement"] = {"also": [{"name": "event", "from": "event"}, {"name": "wait", "from": "append", "to": "read"}]}
    simulation = engine.Simulation(document, keep_outputs=True)
    frames = []
    while (frame := simulation.advance()) is not None:
        frames.append(frame)
    summary = simulation.summary()
    of_query, run_s = summary["queries"]["count-bids"], summary["virtual_s"]
    latencies_ms = [[row["latency_ns"] / 1e6 for row in simulation.sink_records(sink)] for sink in simulation.sinks]
    together = [ms for of_copy in latencies_ms for ms in of_copy]
    assert of_query["latency_ms"]["count"] == len(together) == summary["records_out"]
    assert of_query["latency_ms"] == summary["latency_ms"]
    assert of_query["latencies_ms"] == {"event": summary["latencies_ms"]["event"]}  # the wait in the log is no query's
    assert of_query["copies"]["mean_ms"] == pytest.approx([np.mean(of_copy) for of_copy in latencies_ms])
    assert of_query["copies"]["out_per_s"] == pytest.approx([len(of_copy) / run_s for of_copy in latencies_ms])
    assert of_query["fastest_copy_ms"] == min(of_query["copies"]["mean_ms"])
    assert of_query["slowest_copy_ms"] == max(of_query["copies"]["mean_ms"])
    assert of_query["throughput_in_per_s"] == summary["throughput_in_per_s"]
    assert of_query["served_per_s"] == pytest.approx(summary["hops"] / run_s)
    for frame in frames:
        live = frame["queries"]["count-bids"]
        assert live["latency_ms"] == frame["latency_ms"]
        assert (live["in_per_s"], live["out_per_s"]) == (frame["in_per_s"], frame["out_per_s"])
        assert list(live["copies"]) == ["count-bids-1", "count-bids-2", "count-bids-3"]
        assert sum(copy["out_per_s"] for copy in live["copies"].values()) == pytest.approx(live["out_per_s"])
        assert (
            live["queue"]
            == sum(copy["queue"] for copy in live["copies"].values())
            == sum(one["queue"] for one in frame["operators"].values())
        )


def test_queries_of_two_kinds_are_told_apart() -> None:
    """A query that serves ten times as much waits longer than the one beside it, on a core of its own."""
    document = counting(copies=2, cores=3)
    document["query"]["operators"] += [{"id": "clicks", "kind": "source"}, {"id": "end", "kind": "sink"}]
    document["query"]["edges"].append({"source": "clicks", "target": "end"})
    document["query"]["queries"].append({"name": "pass", "operators": ["clicks", "end"]})
    document["workload"]["sources"]["clicks"] = {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 100}}
    simulation = finished(document)
    queries = simulation.summary()["queries"]
    assert list(queries) == ["count-bids", "pass"]
    assert queries["pass"]["latency_ms"]["max"] < 1 < queries["count-bids"]["latency_ms"]["mean"]
    assert len(simulation.sink_records("end")) == 400
    assert queries["pass"]["throughput_out_per_s"] == pytest.approx(400 / simulation.summary()["virtual_s"])
    assert "copies" not in queries["pass"]


def test_files_name_the_query_of_each_instance(tmp_path: Any) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    simulation = engine.Simulation(counting(**SPREAD))
    while simulation.advance() is not None:
        pass
    simulation.telemetry.write(tmp_path)
    table = parquet.read_table(tmp_path / "telemetry").to_pylist()
    seen = Counter((row["scope"], row["name"], row["index"], row["query"]) for row in table)
    assert {key for key in seen if key[0] == "instance"} == {
        ("instance", operator, n, f"count-bids-{n + 1}") for operator in ("bids", "count", "sink") for n in range(3)
    }
    assert seen["host", "w", 0, ""] == len({row["frame"] for row in table})


def test_documents_without_queries_measure_as_before() -> None:
    document = counting()
    del document["query"]["queries"]
    simulation = engine.Simulation(document)
    assert "queries" not in (simulation.advance() or {})
    assert "queries" not in simulation.summary()
    assert "queries" not in simulation.experiment.canonical["query"]

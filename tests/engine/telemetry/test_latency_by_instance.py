"""Latencies at each instance of a sink, against the records that it delivered.

What this catches: latencies of one worker that count for another, a warm-up that counts.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import engine
from tests.support.agreement import cut_saved_and_forked
from tests.support.corner_cases import bids, document, host


def job(**parts: Any) -> dict[str, Any]:
    """A hot worker, and a sink for each worker."""
    operators = [
        {"id": "bids", "kind": "source"},
        {"id": "map", "kind": "map", "parallelism": 3, "params": {"fields": [{"name": "price", "expression": "auction % 3"}]}},
        {"id": "sink", "kind": "sink", "parallelism": 3, "params": {"by_instance": True} | parts.pop("sink", {})},
    ]
    edges = [
        {"source": "bids", "target": "map", "partitioning": {"kind": "hash", "key": "auction", "scheme": "modulo"}},
        {"source": "map", "target": "sink"},
    ]
    return document(operators, edges, [host("a"), host("b")], {"bids": bids(50_000)}, measurement={"frame_ms": 2}, **parts)


def of_rows(rows: dict[str, list[Any]], n: int, from_ns: int, to_ns: int) -> list[int]:
    """The latencies of instance n from one time, not included, to another."""
    return [
        latency_ns
        for instance, end_ns, latency_ns in zip(rows["_instance"], rows["_end_ns"], rows["_latency_ns"], strict=True)
        if instance == 4 + n and from_ns < end_ns <= to_ns
    ]


def assert_close(found: dict[str, Any], latencies: list[int]) -> None:
    """As many, and percentiles within a bucket."""
    each = np.sort(np.array(latencies, np.int64))
    assert found["count"] == len(each)
    for name, share in (("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("max", 1.0)):
        if len(each):
            assert found[name] * 1e6 == pytest.approx(each[max(int(np.ceil(share * len(each))) - 1, 0)], rel=1 / 64)
        else:
            assert found[name] is None


def test_frames_and_summary_have_the_latency_at_each_instance() -> None:
    made = job()
    made["workload"]["warmup_s"] = made["workload"]["horizon_s"] / 4
    run = engine.run(made, keep_outputs=True)
    rows = run.outputs("sink").to_pydict()
    ends_ns = [-1, *(round(frame["t_s"] * 1e9) for frame in run.frames)]
    assert len(ends_ns) > 4
    for n in "012":
        for frame, (from_ns, to_ns) in zip(run.frames, pairwise(ends_ns), strict=True):
            assert_close(frame["operators"]["sink"]["latency_by_instance"][n], of_rows(rows, int(n), from_ns, to_ns))
        begin_ns = round(made["workload"]["warmup_s"] * 1e9)
        assert_close(run.summary["operators"]["sink"]["latency_by_instance"][n], of_rows(rows, int(n), begin_ns, 1 << 62))


def test_a_run_cut_saved_and_forked_measures_the_same() -> None:
    whole, cut = engine.Simulation(job()), cut_saved_and_forked(job(), 3_000_011)
    whole.run_until(whole.end_ns)
    assert cut.summary()["operators"] == whole.summary()["operators"]


def test_nothing_is_measured_unless_it_is_asked_for() -> None:
    made = job(sink={"by_instance": False})
    assert "latency_by_instance" not in engine.run(made).summary["operators"]["sink"]
    assert made["query"]["operators"][2]["params"] == {"by_instance": False}


def test_percentiles_are_those_of_results_not_means_of_percentiles() -> None:
    """One result in ten is late, far from the others. The means over frames lie between the two, where no result does (specification of the
    benchmark, section 9, 13)."""
    operators = [
        {"id": "bids", "kind": "source"},
        {"id": "few", "kind": "filter", "params": {"predicate": "auction % 10 == 0"}},
        {"id": "most", "kind": "filter", "params": {"predicate": "auction % 10 != 0"}},
        {"id": "slow", "kind": "union", "cost": {"record_us": 4000}},
        {"id": "fast", "kind": "union", "cost": {"record_us": 20}},
        {"id": "sink", "kind": "sink"},
    ]
    ways = (("bids", "few"), ("bids", "most"), ("few", "slow"), ("most", "fast"), ("slow", "sink"), ("fast", "sink"))
    edges = [{"source": source, "target": target} for source, target in ways]
    made = document(operators, edges, [host("a", cores=8)], {"bids": bids(200)}, measurement={"frame_ms": 20}, horizon_s=10)
    run = engine.run(made, keep_outputs=True)
    latencies_ms = np.array(run.outputs("sink").to_pydict()["_latency_ns"]) / 1e6
    found = run.summary["latency_ms"]
    late = (latencies_ms > 4).mean()
    assert 0.05 < late < 0.2
    for name, share in (("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)):
        at = np.quantile(latencies_ms, share, method="inverted_cdf")
        assert found[name] == pytest.approx(at, rel=1 / 64)
        assert found[name] < 1 or found[name] > 4
    means = [frame["latency_ms"]["p95"] for frame in run.frames if frame["latency_ms"]["count"]]
    assert 1 < np.mean(means) < 4, "no result has the mean of the frames' percentiles"

"""Latency markers: what they measure, which ways they take, and that they change nothing but the time that their service takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core import layout as L
from engine.spec import InvalidExperiment
from tests.support.corner_cases import bids, document, host

from ...support.agreement import assert_agreement, cut_saved_and_forked, fingerprint, finished, rows_of, simulated, template, traced
from ...support.recovery_examples import PROTOCOLS, counting, loss, values, with_losses
from ...support.rescaling_examples import in_place, job_of, ordered, random_times, running
from ...support.strategies import documents

MARKERS = [{"name": "propagation", "from": "ingest", "to": "marker"}, {"name": "lag", "from": "append", "to": "marker"}]


def windowed(per_s: float = 200.0, parallelism: int = 1, **changes: Any) -> dict[str, Any]:
    """Windows of 5 s, in which records wait, and markers do not."""
    window = {"kind": "tumbling", "size_s": 5.0, "clock": "event"}
    params = {"key": "auction", "window": window, "emit": "on_close", "aggregates": [{"name": "n"}]}
    operators = [
        {"id": "source", "kind": "source", "parallelism": parallelism},
        {"id": "count", "kind": "aggregate", "parallelism": parallelism, "params": params},
        {"id": "sink", "kind": "sink", "parallelism": parallelism},
    ]
    edges = [
        {"source": "source", "target": "count", "partitioning": {"kind": "hash", "key": "auction"}},
        {"source": "count", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    watermarks = {"kind": "bounded", "lag_ms": 0, "period_ms": 500}
    made = document(operators, edges, [host("a")], {"source": bids(per_s, watermarks=watermarks)}, horizon_s=10.0)
    made["measurement"] = {"also": MARKERS}
    return made | changes


def latencies(simulation: engine.Simulation, name: str) -> tuple[int, int, int]:
    """Count, sum and maximum at the sink, ns."""
    further = [each.name for each in simulation.experiment.measurement.also]
    sums = simulation._world.arrays.latency_sums
    count, total, most = sums[(further.index(name) + 1) * (len(sums) // (len(further) + 1))].tolist()
    return count, total, most


def markers_by_instance(simulation: engine.Simulation) -> Counter[int]:
    trace = simulation.service_trace()
    return Counter(trace[trace[:, 3] == L.MARKER, 0].tolist())


def test_markers_pass_windows_that_have_not_fired() -> None:
    simulation = traced(windowed())
    count, total, most = latencies(simulation, "propagation")
    assert count == 49, "every 200 ms, and none at the horizon"
    assert most < 10_000_000, "records wait for seconds"
    assert latencies(simulation, "lag")[1] >= total
    assert_agreement(windowed(), simulation)


def test_a_period_of_ones_own() -> None:
    made = windowed()
    made["measurement"]["marker_ms"] = 1500
    assert latencies(traced(made), "propagation")[0] == 6


def test_they_take_all_ways_equally_often() -> None:
    """Two hops of all to all: 3 x 49 markers, about a third of them for each instance, and a ninth for each channel."""
    made = windowed(parallelism=3)
    simulation = traced(made)
    served = markers_by_instance(simulation)
    assert [served[i] for i in range(3)] == [49] * 3
    assert sum(served[i] for i in range(3, 6)) == sum(served[i] for i in range(6, 9)) == 3 * 49
    assert max(abs(served[i] - 49) for i in range(3, 9)) <= 9
    columns = simulation.trace().columns()
    chosen = np.flatnonzero(simulation.service_trace()[:, 3] == L.MARKER)
    pairs = Counter(zip(columns["sender"][chosen].tolist(), simulation.service_trace()[chosen, 0].tolist(), strict=True))
    hops = {pair: count for pair, count in pairs.items() if pair[0] >= 0}
    assert len(hops) == 18
    assert max(hops.values()) - min(hops.values()) <= 6
    assert_agreement(made, simulation)


def test_results_are_those_without_markers() -> None:
    """Their service takes time, so only times differ."""
    made = windowed(parallelism=2)
    plain = windowed(parallelism=2, measurement={})
    rows = [sorted(repr(record["values"]) for record in traced(each).sink_records("sink")) for each in (made, plain)]
    assert rows[0] == rows[1]
    assert len(rows[0]) > 10


def test_a_marker_waits_behind_records() -> None:
    """A source that takes 10 ms for each of 200 records a second: markers wait in the log, and not behind it."""
    made = windowed()
    made["query"]["operators"][0]["cost"] = {"record_us": 10_000, "output_us": 0, "control_us": 1}
    simulation = traced(made)
    assert latencies(simulation, "lag")[2] > 5e9
    assert latencies(simulation, "propagation")[2] < 1e8
    assert_agreement(made, simulation)


def test_none_comes_when_the_log_has_closed() -> None:
    """A file that ends after 1.13 s of a run of 2 s."""
    made = template("flights", horizon_s=2.0)
    (source,) = made["workload"]["sources"].values()
    source["rate"] = {"kind": "constant", "per_s": 100_000}
    made["measurement"] = {"also": MARKERS, "marker_ms": 100}
    simulation = simulated(made, trace=False)
    feed = next(iter(simulation._plan.feeds.values()))
    assert 1.1e9 < feed.closes_ns < 1.2e9
    chunk = feed.chunk(0, 2_000_000_000)
    marks = chunk.append_ns[chunk.trigger <= L.LOG_MARKER]
    assert marks.tolist() == [n * 100_000_000 for n in range(1, 12) for _ in range(feed.partitions)]


def test_a_run_may_be_cut_saved_or_forked() -> None:
    made = windowed(parallelism=2)
    assert fingerprint(cut_saved_and_forked(made, 4_300_000_001)) == fingerprint(traced(made))


@given(document=documents(), period=st.sampled_from((5, 20, 41)))
def test_random_experiments_with_markers_agree(document: dict[str, Any], period: int) -> None:
    for source in document["workload"]["sources"].values():
        source.pop("generation", None)
    marker_ms = max(document["workload"]["horizon_s"] * 1000 / period, 0.001)
    document["measurement"] = {"also": MARKERS, "marker_ms": round(marker_ms, 6)}
    assert_agreement(document, traced(document))


MEASURED = {"also": MARKERS, "marker_ms": 2.5}


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda protocol: protocol.__name__)
def test_each_record_counts_just_once_beside_markers(protocol: Callable[..., dict[str, Any]]) -> None:
    """They wait behind barriers like records, and are not logged: after a loss only those come again that the sources read again."""
    made = counting(protocol=protocol(interval_s=0.05, detect_ms=1.0)) | {"measurement": MEASURED}
    lost = finished(with_losses(made, [loss("w2", 0.13), loss("w3", 0.21)]))
    assert lost.drained
    assert values(lost).keys() == values(finished(made)).keys()
    assert latencies(lost, "propagation")[0] > 200


@pytest.mark.parametrize("name", ["window_join", "session_aggregate"])
def test_rescales_in_place_beside_markers(name: str) -> None:
    """Markers take the channels of the instances that are active."""
    made = running(name) | {"measurement": MEASURED}
    simulation = simulated(in_place(made, ordered(made, random_times(3), 3)), trace=False)
    simulation.run_until(simulation.end_ns)
    assert sum(action.outcome == "done" for action in job_of(simulation).actions) >= 3
    assert simulation.drained
    assert rows_of(simulation) == rows_of(finished(running(name)))
    assert latencies(simulation, "propagation")[0] > 50


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"measurement": {"marker_ms": 100}}, "/measurement/marker_ms", "no_marker"),
        ({"measurement": {"also": MARKERS, "marker_ms": 0}}, "/measurement/marker_ms", "out_of_range"),
        ({"measurement": {"also": MARKERS, "marker_ms": 0.001}}, "/measurement/marker_ms", "budget"),
        ({"measurement": {"also": [MARKERS[0] | {"from": "deadline"}]}}, "/measurement/also/0/from", "no_deadline"),
    ],
)
def test_what_cannot_be_measured(changes: dict[str, Any], pointer: str, code: str) -> None:
    with pytest.raises(InvalidExperiment) as refused:
        engine.Simulation(windowed(parallelism=4, **changes))
    assert (refused.value.problems[0].pointer, refused.value.problems[0].code) == (pointer, code)


def test_a_generator_that_waits_has_no_markers() -> None:
    made = windowed()
    made["workload"]["sources"]["source"]["generation"] = {"kind": "coordinated"}
    with pytest.raises(InvalidExperiment, match="markers, which come at fixed times"):
        engine.Simulation(made)

"""Logs that drop what they have kept for too long, against a twin of one server and its log."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Simulation

from ...support.agreement import MS, frames_of

SERVICE_NS, HORIZON_NS, RECORDS_PER_S = 2 * MS, 1000 * MS, 1000


def document(retention: dict[str, Any], **workload: Any) -> dict[str, Any]:
    """A source that takes 2 ms for each of 1,000 records a second."""
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "source", "kind": "source", "cost": {"record_us": 2000.0, "output_us": 0.0, "control_us": 0.0}},
                {"id": "sink", "kind": "sink", "cost": {"record_us": 1.0, "output_us": 0.0, "control_us": 0.0}},
            ],
            "edges": [{"source": "source", "target": "sink"}],
        },
        "cluster": {"hosts": [{"name": "w", "processor": {"kind": "dedicated"}, "cores": 2}]},
        "workload": {
            "horizon_s": 1.0,
            "drain": True,
            "sources": {
                "source": {"stream": {"kind": "synthetic"}, "rate": {"kind": "constant", "per_s": RECORDS_PER_S}, "retention": retention}
            },
            **workload,
        },
        "measurement": {"frame_ms": 100},
    }


def twin(keep_ns: int, check_ns: int) -> tuple[list[int], int]:
    """(numbers of the records served, how many were dropped): instant by instant, the check after all else."""
    waiting, served, dropped, free_ns = [number * MS for number in range(1000)], [], 0, 0
    check_at_ns = check_ns
    while waiting:
        start_ns = max(free_ns, waiting[0])
        if start_ns <= check_at_ns:
            served.append(waiting.pop(0) // MS)
            free_ns = start_ns + SERVICE_NS
        else:
            old = sum(append_ns < check_at_ns - keep_ns for append_ns in waiting)
            dropped += old
            del waiting[:old]
            check_at_ns += check_ns
    return served, dropped


def ran(retention: dict[str, Any], **options: Any) -> Simulation:
    simulation = Simulation(document(retention), keep_outputs=True, **options)
    simulation.run_until(simulation.end_ns)
    return simulation


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(keep_ms=st.integers(1, 600), check_ms=st.integers(1, 400))
def test_what_is_too_old_is_gone_as_in_the_twin(keep_ms, check_ms):
    simulation = ran({"kind": "time", "keep_s": keep_ms / 1000, "check_s": check_ms / 1000})
    served, dropped = twin(keep_ms * MS, check_ms * MS)
    assert simulation.outputs("sink")["number"].to_pylist() == served
    summary = simulation.summary()
    assert (summary["records_in"], summary["dropped"], summary["backlog"], summary["drained"]) == (len(served), dropped, 0, True)
    assert len(served) + dropped == 1000


def test_the_backlog_does_not_grow_beyond_what_the_log_keeps():
    simulation = Simulation(document({"kind": "time", "keep_s": 0.1, "check_s": 0.01}))
    frames = frames_of(simulation)
    assert max(frame["backlog"] for frame in frames) <= 112
    assert sum(frame["dropped"] for frame in frames) == simulation.summary()["dropped"] > 300
    everything = ran({"kind": "all"}).summary()
    assert (everything["dropped"], everything["records_in"]) == (0, 1000)


@pytest.mark.parametrize("stop_ms", [0, 99, 100, 555])
def test_saved_and_forked_it_goes_on_to_the_same(tmp_path, stop_ms):
    retention = {"kind": "time", "keep_s": 0.05, "check_s": 0.1}
    whole = ran(retention)
    cut = Simulation(document(retention), keep_outputs=True)
    cut.run_until(stop_ms * MS)
    fork = cut.fork()
    cut.save(tmp_path / "snapshot")
    resumed = Simulation.resume(document(retention), tmp_path / "snapshot", keep_outputs=True)
    for simulation in (cut, fork, resumed):
        simulation.run_until(simulation.end_ns)
        assert simulation.digest() == whole.digest()
        assert simulation.summary()["dropped"] == whole.summary()["dropped"] > 0


def test_the_end_of_the_log_stays():
    source = document({"kind": "time", "keep_s": 0.01, "check_s": 0.05})
    source["workload"]["sources"]["source"]["watermarks"] = {"kind": "bounded", "lag_ms": 0, "period_ms": 10}
    simulation = Simulation(source, trace=True)
    simulation.run_until(simulation.end_ns)
    assert simulation.drained
    kinds = simulation.service_trace()[:, 3].tolist()
    assert kinds.count(3) == 1

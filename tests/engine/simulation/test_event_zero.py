"""Event time of several files counts from one zero (docs/event-core.md, section 5), so records meet at the times that the files give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

import engine
from engine.spec import Context, Experiment, validate
from engine.spec.rules.forking import Fork
from engine.workloads import lookup, preview
from tests.oracle import simulate
from tests.support.corner_cases import bids, document, host, watermarks

from ...support.agreement import assert_agreement, traced

S = 1_000_000_000
NOON_NS = 1_767_268_800 * S  # 2026-01-01T12:00:00Z
LATER_S = 10
RATES: dict[str, dict[str, Any]] = {"recorded": {"kind": "recorded", "speed": 1000}, "constant": {"kind": "constant", "per_s": 500}}


def write(folder: Path, name: str, seconds: Sequence[float], **columns: Sequence[float]) -> None:
    """A file with a record at each of these seconds after noon. columns: further columns of such times."""
    given = {"time": seconds, **columns}
    times = {of: pa.array([NOON_NS + round(at * S) for at in of_records], pa.timestamp("ns")) for of, of_records in given.items()}
    parquet.write_table(pa.table({**times, "key": [1] * len(seconds), "number": range(len(seconds))}), folder / f"{name}.parquet")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A hundred records, one a second, in each file; the second one begins ten seconds after the first."""
    write(tmp_path, "early", range(100))
    write(tmp_path, "late", range(LATER_S, LATER_S + 100))
    return tmp_path


def stream(dataset: str, timestamp: str = "time", rate: str = "recorded") -> dict[str, Any]:
    return {
        "stream": {"kind": "file", "dataset": dataset, "timestamp": timestamp},
        "rate": RATES[rate],
        "watermarks": watermarks(20, lag_ms=LATER_S * 1000),
    }


def joined(left: dict[str, Any], right: dict[str, Any], fields: Sequence[str] = ("time", "number"), **more: Any) -> dict[str, Any]:
    """Pairs of the same event time."""
    select = [*fields, *(f"right_{field}" for field in fields)]
    params = {"left_key": "key", "right_key": "key", "lower_s": 0, "upper_s": 0, "select": select}
    return document(
        [
            {"id": "left", "kind": "source"},
            {"id": "right", "kind": "source"},
            {"id": "join", "kind": "interval_join", "params": params},
            {"id": "sink", "kind": "sink"},
        ],
        [
            {"source": "left", "target": "join", "target_port": "left"},
            {"source": "right", "target": "join", "target_port": "right"},
            {"source": "join", "target": "sink"},
        ],
        [host("w")],
        {"left": left, "right": right},
        horizon_s=0.3,
        **more,
    )


def times(folder: Path, name: str, column: str = "time") -> list[int]:
    """As they stand in the file, in ns since 1970."""
    found: list[int] = parquet.read_table(folder / f"{name}.parquet")[column].cast(pa.int64()).to_pylist()
    return found


def pairs(simulation: engine.Simulation) -> list[tuple[Any, ...]]:
    return sorted(record["values"] for record in simulation.sink_records("sink"))


@pytest.mark.parametrize("rate", RATES)
def test_records_of_two_files_meet_at_the_times_that_the_files_give(data: Path, rate: str) -> None:
    made, datasets = joined(stream("early", rate=rate), stream("late", rate=rate)), lookup([data])
    simulation = traced(made, datasets=datasets)
    early, late = times(data, "early"), times(data, "late")
    truth = sorted((a, n, b, m) for n, a in enumerate(early) for m, b in enumerate(late) if a == b)
    assert len(truth) == 90
    assert [(a + NOON_NS, n, b + NOON_NS, m) for a, n, b, m in pairs(simulation)] == truth
    expected = simulate(Experiment.model_validate(made), datasets)
    assert_agreement(made, simulation, expected)
    assert sorted(delivery.values for delivery in expected.outputs["sink"]) == pairs(simulation)


def test_what_is_replayed_at_its_own_times_keeps_the_distance_of_the_files(data: Path) -> None:
    simulation = traced(joined(stream("early"), stream("late")), datasets=lookup([data]))
    feeds = simulation._plan.feeds
    for id, first_s in (("left", 0), ("right", LATER_S)):
        chunk = feeds[id].chunk(0, S)
        assert chunk.event_ns.tolist() == [(first_s + n) * S for n in range(100)]
        assert (chunk.append_ns * 1000).tolist() == chunk.event_ns.tolist()
    shown = preview(simulation.experiment.workload.sources["right"], 20_000_000, 4, lookup([data]), simulation.event_zero_ns)
    assert [per_s for _, per_s in shown] == [0, 0, 1000, 1000]


def test_the_zero_is_told(data: Path) -> None:
    datasets = lookup([data])
    both, one = joined(stream("late"), stream("early")), joined(stream("late"), bids(1000, watermarks=watermarks(20)))
    one["query"]["operators"][2]["params"] |= {"right_key": "auction", "select": ["time", "right_time"]}
    assert traced(both, datasets=datasets).summary()["event_zero"] == "2026-01-01T12:00:00Z"
    assert traced(one, datasets=datasets).summary()["event_zero"] == "2026-01-01T12:00:10Z"
    generated = joined(bids(1000), bids(1000))
    generated["query"]["operators"][2]["params"] |= {"left_key": "auction", "right_key": "auction", "select": ["time", "right_time"]}
    assert "event_zero" not in traced(generated).summary()


def test_generated_streams_do_not_move_the_zero(data: Path) -> None:
    """A file beside a generated stream begins with the run, as it does alone."""
    made = joined(stream("late"), bids(1000, watermarks=watermarks(20)))
    made["query"]["operators"][2]["params"] |= {"right_key": "auction", "select": ["time", "right_time"]}
    feeds = traced(made, datasets=lookup([data]))._plan.feeds
    assert feeds["left"].chunk(0, S).event_ns.tolist() == [n * S for n in range(100)]
    assert feeds["right"].chunk(0, S).event_ns[:3].tolist() == [0, 1_000_000, 2_000_000]


def test_two_columns_of_one_file_have_one_zero(tmp_path: Path) -> None:
    """Departures and arrivals of the same trips: who arrives as another departs meets it."""
    write(tmp_path, "trips", range(100), arrival=[n + 7 for n in range(100)])
    made = joined(stream("trips", "time"), stream("trips", "arrival"), ["number"])
    assert pairs(traced(made, datasets=lookup([tmp_path]))) == [(n + 7, n) for n in range(93)]


def test_dates_are_known_where_two_files_meet(data: Path) -> None:
    made = joined(stream("early"), stream("late"))
    dates = {"fields": [{"name": "seconds", "expression": "hour(time) * 3600 + minute(time) * 60 + second(right_time)"}]}
    made["query"]["operators"].insert(3, {"id": "dates", "kind": "map", "params": dates})
    made["query"]["edges"][2:] = [{"source": "join", "target": "dates"}, {"source": "dates", "target": "sink"}]
    found = Counter(value for (value,) in pairs(traced(made, datasets=lookup([data]))))
    assert found == Counter(12 * 3600 + second // 60 * 60 + second % 60 for second in range(LATER_S, 100))


def test_a_fork_has_the_zero_of_its_run(data: Path) -> None:
    datasets = lookup([data])
    made = joined(stream("early", rate="constant"), stream("late", rate="constant"))
    whole = traced(made, datasets=datasets)
    changed = Fork.model_validate({"at_s": 0.1, "load": 2}).applied(Experiment.model_validate(made), made)
    forked = traced(changed, datasets=datasets)
    assert forked.event_zero_ns == whole.event_zero_ns == NOON_NS
    assert pairs(forked) == pairs(whole)
    cut = engine.Simulation(made, datasets=datasets, keep_outputs=True, trace=True)
    cut.run_until(100_000_000)
    copy = cut.fork()
    copy.run_until(copy.end_ns)
    assert copy.digest() == whole.digest()


FAR: dict[str, tuple[Sequence[float], str, str, list[str]]] = {
    "all comes after the horizon": (
        [3600, 3601],
        "/workload/sources/right/rate/kind",
        "no_records",
        ["'far' begins at 2026-01-01T13:00:00Z", "3,600 s after the zero", "2026-01-01T12:00:00Z", "horizon_s (0.3)", "above 3.6 s"],
    ),
    "in another age": (
        [80 * 365 * 86400],
        "/workload/sources/right/stream/timestamp",
        "too_far_apart",
        ["'far' begins at 2105-12-13T12:00:00Z", "2026-01-01T12:00:00Z", "within 73 years"],
    ),
}


@pytest.mark.parametrize("what", FAR)
def test_files_that_are_too_far_apart_are_refused(data: Path, what: str) -> None:
    seconds, pointer, code, words = FAR[what]
    write(data, "far", seconds)
    rate = "recorded" if code == "no_records" else "constant"
    problems = validate(joined(stream("early", rate=rate), stream("far", rate=rate)), Context(datasets=lookup([data])))
    assert [(problem.pointer, problem.code) for problem in problems] == [(pointer, code)]
    assert [word for word in words if word not in problems[0].message] == []
    if code == "no_records":
        assert validate(joined(stream("early"), stream("far", rate="constant")), Context(datasets=lookup([data]))) == []

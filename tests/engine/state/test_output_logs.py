"""Operators recover from their output logs and from what senders keep: every window is as without a crash, and comes once.

What this catches: a record that counts twice because its window was checkpointed after it, or not at all because it was before; a window
that is lost, reopened, or given twice; what a service in progress has written; a bound that does not hold; logs that grow without end; a
recovery that depends on how the run was cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.control import instance_checkpoint
from engine.simulation.simulation import Simulation
from engine.spec.experiment.metrics import SUMMARY
from engine.state.output_log import Bounds, OutputLog
from engine.state.output_logs import OutputLogs
from engine.state.windows_log import Sizes, WindowsLog
from tests.support.agreement import frames_of
from tests.support.cuts import assert_cuts_leave_no_trace, ended
from tests.support.stored import SECOND, in_memory, losing, replayed
from tests.support.tiers import tier

SLIDING = {"kind": "sliding", "size_s": 1, "slide_s": 0.25, "clock": "event"}


def logs(simulation: Simulation) -> OutputLogs:
    assert isinstance(simulation._stores, OutputLogs)
    return simulation._stores


def results(simulation: Simulation) -> list[tuple[Any, ...]]:
    """Key, start, end and revenue, of each result."""
    return sorted(tuple(row["values"]) for row in simulation.sink_records("output"))


def still_open(simulation: Simulation) -> list[tuple[int, int, int, int]]:
    """Key, start, number of purchases and revenue of the windows that are open at the end."""
    world = simulation._world
    found: list[tuple[int, int, int, int]] = []
    for i in np.flatnonzero(world.arrays.inst[:, L.I_OP] == 1).tolist():
        state = instance_checkpoint.capture(world, i).state
        assert state is not None
        found += map(tuple, state.entries[:, [L.S_KEY, L.S_PANE, L.S_COUNT, L.S_VALUES]].tolist())
    return sorted(found)


def assert_as_without_a_crash(document: dict[str, Any]) -> Simulation:
    crashed, whole = ended(document), ended({**document, "faults": []})
    assert results(crashed) == results(whole)
    assert still_open(crashed) == still_open(whole)
    return crashed


INSTANTS = np.sort(np.random.default_rng(7).uniform(0.02, 4.2, 200)).tolist()


@pytest.mark.parametrize("kind", ["continuous_eventual", "upstream_backup"])
def test_a_crash_at_a_random_instant_changes_nothing(kind: str) -> None:
    """A-31."""
    bounds = {"records_max": 25, "replay_max": 60} if kind == "continuous_eventual" else {}
    document = replayed(kind=kind, **bounds)
    cost = {"record_us": 900, "control_us": 30_000, "output_us": 500}  # so that most crashes are amid a service
    document["query"]["operators"][1]["cost"] = cost
    whole = ended(document)
    for at_s in INSTANTS[:: tier(8, 1)]:
        crashed = ended(losing(document, at_s))
        assert results(crashed) == results(whole), at_s
        assert still_open(crashed) == still_open(whole), at_s


@settings(max_examples=tier(25, 200))
@given(
    crashes=st.lists(st.floats(0.01, 2.9), min_size=1, max_size=4),
    restart_after_s=st.sampled_from([0.001, 0.2, 0.9]),
    senders=st.sampled_from([1, 3]),
    tasks=st.sampled_from([1, 2]),
    records_max=st.sampled_from([None, 5, 30, 300]),
    replay_max=st.sampled_from([None, 1, 50, 700]),
    window=st.sampled_from([None, SLIDING]),
    cost_us=st.sampled_from([0, 300, 1900]),
    latency_ms=st.sampled_from([0.1, 40.0]),
    delays=st.booleans(),
    sink_us=st.sampled_from([0, 20_000]),
)
def test_each_window_is_as_without_crashes(
    crashes: list[float],
    restart_after_s: float,
    senders: int,
    tasks: int,
    records_max: int | None,
    replay_max: int | None,
    window: dict[str, Any] | None,
    cost_us: float,
    latency_ms: float,
    delays: bool,
    sink_us: float,
) -> None:
    """Whatever crashes when, overlapping, amid a recovery or amid a replay."""
    bounds = {"records_max": records_max, "replay_max": replay_max}
    state = bounds if records_max or replay_max else {"kind": "upstream_backup"}
    document = replayed(12.0, 300.0, senders, tasks, until_s=3.0, **state)
    document["query"]["operators"][1]["cost"] = {"record_us": cost_us, "control_us": 10 * cost_us}
    document["query"]["operators"][2]["cost"] = {"record_us": sink_us}
    for host in document["cluster"]["hosts"]:
        host["egress_latency_ms"] = latency_ms
    if window:
        document["query"]["operators"][1]["params"]["window"] = window
    if delays:  # event times out of order, and none late
        document["workload"]["sources"]["purchases"]["disorder"] = {"kind": "uniform", "max_ms": 300}
        document["workload"]["sources"]["purchases"]["watermarks"]["lag_ms"] = 300
    crashed = assert_as_without_a_crash(losing(document, *crashes, restart_after_s=restart_after_s))
    assert not logs(crashed).open


def test_a_window_whose_result_has_not_left_comes_again() -> None:
    """The service that closes windows is in progress: what it has written has not come to the log."""
    document = replayed(replay_max=60)
    document["query"]["operators"][1]["cost"] = {"record_us": 100, "control_us": 200_000}
    document["workload"]["sources"]["purchases"]["watermarks"]["period_ms"] = 500
    for late_ms in (20, 520, 590, 690, 1050):
        simulation = assert_as_without_a_crash(losing(document, 1 + late_ms / 1000))
        assert len(results(simulation)) == 20


@pytest.mark.parametrize("latency_ms", [0.1, 40.0])
@pytest.mark.parametrize("late_ms", [1, 20, 60])
def test_results_that_wait_at_the_sink_do_not_come_twice(latency_ms: float, late_ms: float) -> None:
    """They have left the lost host, and are on the way or in the queue of a slow sink while the host recovers."""
    document = replayed(replay_max=60)
    document["query"]["operators"][2]["cost"] = {"record_us": 30_000}
    document["cluster"]["hosts"][1]["egress_latency_ms"] = latency_ms
    first_ns = min(row["end_ns"] for row in ended(document).sink_records("output"))
    assert_as_without_a_crash(losing(document, first_ns / 1e9 - 0.03 + late_ms / 1000, restart_after_s=0.001))


@pytest.mark.parametrize(("cost_ms", "late_ms"), [(30, 1), (30, 45), (30, 95), (30, 160), (300, 290), (300, 590)])
def test_a_lost_sink_gets_its_results_again(cost_ms: float, late_ms: float) -> None:
    """Those that it had not delivered, the one in service included; and no other one twice."""
    document = replayed(9.0, until_s=3.0, replay_max=60)
    document["query"]["operators"][2]["cost"] = {"record_us": 1000 * cost_ms}
    first_ns = min(row["end_ns"] for row in ended(document).sink_records("output"))
    document = losing(document, first_ns / 1e9 + late_ms / 1000)
    document["faults"][0]["host"] = "out"
    assert_as_without_a_crash(document)


def test_results_that_have_not_left_the_host_are_sent_again() -> None:
    """They wait for a slow link, and are in the log already."""
    document = replayed(replay_max=60)
    document["cluster"]["hosts"][1]["egress_mbit_per_s"] = 1
    first_ns = min(row["end_ns"] for row in ended(document).sink_records("output"))
    for late_us in (0, 400, 900, 1500):
        crashed = assert_as_without_a_crash(losing(document, first_ns / 1e9 + late_us / 1e6))
        sink = crashed._world.arrays.inst[-1]
        assert sink[L.I_LOST] > 0


@pytest.mark.parametrize("at_s", np.linspace(1.3, 2.6, 14).round(6).tolist())
def test_what_a_long_service_has_taken_in_is_kept_for_a_crash_amid_it(at_s: float) -> None:
    """Senders forget a record only when the service that served it has ended."""
    document = replayed(9.0, per_s=4.0, until_s=3.0, replay_max=1)
    document["query"]["operators"][1]["cost"] = {"record_us": 400_000}
    assert_as_without_a_crash(losing(document, at_s))


@pytest.mark.parametrize("after_ms", [4, 10, 20, 35, 60, 90])
def test_a_crash_amid_a_replay_counts_nothing_twice(after_ms: float) -> None:
    """A window that is checkpointed meanwhile includes what it was restored with, although the replay is not as far."""
    document = replayed(9.0, per_s=300.0, until_s=3.0, replay_max=90, records_max=12)
    document["query"]["operators"][1]["cost"] = {"record_us": 1000}
    assert_as_without_a_crash(losing(document, 1.8, 2.0 + after_ms / 1000, restart_after_s=0.2))


@pytest.mark.parametrize(("at_s", "after_ms"), [(1.6, 100), (1.6, 130), (1.8, 140)])
def test_a_window_that_a_replay_checkpoints_includes_what_it_was_restored_with(at_s: float, after_ms: float) -> None:
    """One sender is far away. The other's records come again first and make the replay too long, so a window is checkpointed that includes
    more of the far one than has come again. Then comes the second crash."""
    document = replayed(9.0, per_s=300.0, senders=2, until_s=3.0, replay_max=30)
    hosts = document["cluster"]["hosts"]
    hosts.append({**hosts[0], "name": "far", "egress_latency_ms": 150.0})
    document["placement"]["hosts"]["purchases"] = ["in", "far"]
    assert_as_without_a_crash(losing(document, at_s, at_s + 0.05 + after_ms / 1000, restart_after_s=0.05))


@pytest.mark.parametrize("at_s", [1.25, 1.5, 1.7])
def test_what_comes_while_a_log_is_read_is_served_in_its_turn(at_s: float) -> None:
    """Half a second of records and watermarks comes before the windows are loaded. All of it is sent again, behind what was missing."""
    document = losing(replayed(7.0, until_s=4.0, replay_max=60, costs={"load_us": 50_000}), at_s)
    (outage,) = logs(assert_as_without_a_crash(document)).outages
    assert outage.ready_ns - outage.started_ns > 0.3 * SECOND


def test_logs_are_read_by_as_many_threads_as_the_host_has_cores() -> None:
    document = losing(replayed(tasks=2), 1.77)
    document["cluster"]["hosts"][1]["cores"] = 1
    (outage,) = logs(ended(document)).outages
    first, second = (restored.took_ns for restored in outage.restored.values())
    assert outage.ready_ns - outage.started_ns == first + second > first > 0


def test_without_a_crash_a_log_changes_no_result() -> None:
    document = replayed(senders=2, tasks=2)
    assert results(ended(document)) == results(ended(in_memory(document)))


@pytest.mark.parametrize(("records_max", "replay_max"), [(None, 80), (25, None), (40, 120)])
def test_the_bounds_hold_at_any_time(records_max: int | None, replay_max: int | None) -> None:
    """A-29."""
    simulation = Simulation(replayed(records_max=records_max, replay_max=replay_max))
    (task,) = logs(simulation).tasks
    extents, replays = [], []
    for now_ns in range(0, 3 * SECOND, 7_000_000):
        simulation.run_until(now_ns)
        logs(simulation).take(simulation._world)
        extents.append(task.output.log.extent)
        replays.append(task.output.replay)
    assert task.output.log.checkpoints > 5
    shares = [max(values) / most for values, most in ((extents, records_max), (replays, replay_max)) if most is not None]
    assert 0.9 <= max(shares) <= 1


def checkpoints_per_record(replay_max: int) -> float:
    """Of ten windows that stay open."""
    document = replayed(7.0, 2000.0, until_s=5.0, replay_max=replay_max)
    document["query"]["operators"][1]["params"]["window"]["size_s"] = 60
    (task,) = logs(ended(document)).tasks
    return task.output.log.checkpoints / (10_000 - replay_max)


def test_checkpoints_follow_from_the_bound() -> None:
    """A-28: N windows and a bound of U take N / U checkpoints for each record of the input."""
    rates = [checkpoints_per_record(replay_max) for replay_max in (200, 400, 800)]
    assert rates == pytest.approx([10 / 200, 10 / 400, 10 / 800], rel=0.05)


def read_after(horizon_s: float) -> int:
    """Records that a recovery reads after a crash near the end of the load, in the middle of a window."""
    document = losing(replayed(horizon_s, per_s=200.0, records_max=30, replay_max=100), horizon_s - 2.45)
    (outage,) = logs(ended(document)).outages
    (restored,) = outage.restored.values()
    return restored.records


def test_a_recovery_reads_no_more_after_a_longer_history() -> None:
    """A-30."""
    assert read_after(20.0) == pytest.approx(read_after(8.0), abs=2)


def test_more_windows_than_records_are_told() -> None:
    """Q* below the open windows: the extent cannot be that short, and the other bound still holds."""
    simulation = Simulation(replayed(records_max=6, replay_max=50))
    frames = [frame["output_logs"] for frame in frames_of(simulation)]
    assert simulation.summary()["output_logs"]["infeasible"] > 100
    assert any(frame["infeasible"] for frame in frames)
    assert max(frame["replay"] for frame in frames) <= 50


def test_the_last_record_stays_and_says_what_is_closed() -> None:
    """Where no window is open, a recovery still knows up to where windows are closed, and how much of the input has been processed."""
    log = WindowsLog(OutputLog(Bounds(replay_max=10)), Sizes(0, 4, 20, SECOND), np.zeros(1, np.int64))
    changes = np.zeros((2, L.CHANGE_COLUMNS), np.int64)
    changes[:, [L.CHANGE_KIND, L.CHANGE_KEY, L.CHANGE_CHANNEL, L.CHANGE_SEQUENCE]] = (L.CHANGE_FOLD, 7, 0, 3), (L.CHANGE_CLEAR, 7, -1, 0)
    log.take(changes, np.zeros(2, np.int64), None)
    log.trim(log.log.end)
    log.crash(None)
    assert [record.kind for record in log.log.records] == ["out"]
    assert (log.closed_ns, log.recover(), log.seen.tolist()) == (SECOND, (0, 0), [4])


def test_what_no_recovery_needs_is_forgotten() -> None:
    """A-9, trimming: of the log, and of what the sender keeps."""
    document = losing(replayed(12.0, per_s=1000.0, replay_max=200), 9.9)
    simulation = Simulation(document)
    simulation.run_until(9 * SECOND)
    (task,) = logs(simulation).tasks
    w = simulation._world.arrays
    assert task.output.log.end > 300
    assert len(task.output.log.records) < 150
    kept = w.carried[: len(w.chan), L.SEQ_SENT]
    into = np.flatnonzero(w.chan[:, L.C_RECEIVER] == task.instance)
    oldest = w.msg[w.gate[into, L.Q_KEPT], L.M_SEQUENCE]
    assert (kept[into] - oldest < 200 + 600).all()


def test_a_recovery_reads_then_replays() -> None:
    """It takes the time for the records read and the windows loaded, and nothing is served before."""
    simulation = Simulation(losing(replayed(replay_max=100), 1.77), trace=True)
    while simulation.advance():
        pass
    (outage,) = logs(simulation).outages
    (restored,) = outage.restored.values()
    assert outage.started_ns == outage.lost_ns + 200_000_000
    assert outage.ready_ns == outage.started_ns + restored.took_ns
    assert 10 * 700 < restored.took_ns < restored.records * 1500 + 10 * 1943
    assert restored.way == "output_log"
    (task,) = logs(simulation).tasks
    trace = simulation.service_trace()
    starts = trace[trace[:, 0] == task.instance][:, 2]
    assert not ((starts > outage.lost_ns) & (starts <= outage.ready_ns)).any()
    assert 0 < outage.again <= 100 + 0.21 * 400 + 2


@pytest.mark.parametrize("senders", [1, 3])
def test_a_recovery_does_not_depend_on_how_the_run_is_cut(senders: int, tmp_path: Any) -> None:
    document = losing(replayed(senders=senders, tasks=2, records_max=30, replay_max=70), 1.31, 2.02)
    assert_cuts_leave_no_trace(document, (0.3, 0.31, 0.7004, 1.3, 1.4, 1.51, 1.511, 1.6), tmp_path, "output_logs")


def test_summaries_have_the_numbers_that_are_offered() -> None:
    found = ended(losing(replayed(), 1.5)).summary()["output_logs"]
    offered = {name.removeprefix("output_logs.") for name in SUMMARY if name.startswith("output_logs.")}
    assert offered == set(found) - {"lost_changes", "results_again"}  # which are of stores


def test_the_host_works_for_what_is_written() -> None:
    """Each record about a window takes the CPU time that the document says."""

    def busy_ns(write_us: float) -> float:
        simulation = ended(replayed(replay_max=20, costs={"write_us": write_us}))
        return float(simulation._world.arrays.host[1, L.H_BACKGROUND_NS])

    about = ended(replayed(replay_max=20)).summary()["output_logs"]["about_windows"]
    assert busy_ns(0) == 0
    assert busy_ns(30) == pytest.approx(30_000 * about, rel=0.02)

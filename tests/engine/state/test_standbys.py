"""Standbys take over with their state: every result comes once, whichever host is lost when.

What this catches: a result that comes twice because both have sent it, or not at all because neither has; a standby that is behind or ahead
when it takes over; a lost operator that comes back empty and goes on sending; a log of results that grows without end; a takeover that
depends on how the run was cut.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.core import layout as L
from engine.simulation.simulation import Simulation
from engine.spec.experiment.metrics import SUMMARY
from engine.state.standbys import Standbys
from tests.support.agreement import frames_of
from tests.support.cuts import assert_cuts_leave_no_trace, ended
from tests.support.stored import SECOND, in_memory, losing, mirrored, replayed
from tests.support.tiers import tier

WINDOWS = {
    "tumbling": {"window": {"kind": "tumbling", "size_s": 1, "clock": "event"}},
    "sliding": {"window": {"kind": "sliding", "size_s": 1, "slide_s": 0.25, "clock": "event"}},
    "updated": {"window": {"kind": "tumbling", "size_s": 1, "clock": "event"}, "emit": "on_update"},
    "late": {"window": {"kind": "tumbling", "size_s": 0.5, "clock": "event"}, "lateness_ms": 150},
}


def standbys(simulation: Simulation) -> Standbys:
    assert isinstance(simulation._stores, Standbys)
    return simulation._stores


def results(simulation: Simulation) -> list[tuple[Any, ...]]:
    return sorted(tuple(row["values"]) for row in simulation.sink_records("output"))


def losing_host(document: dict[str, Any], host: str, *at_s: float, restart_after_s: float | None = None) -> dict[str, Any]:
    made = losing(document, *at_s)
    for fault in made["faults"]:
        fault |= {"kind": "host_loss", "host": host, "restart_after_s": restart_after_s}
    return made


def with_params(document: dict[str, Any], **params: Any) -> dict[str, Any]:
    """The same, with these parameters of the operator and its standby."""
    for operator in document["query"]["operators"]:
        if operator["kind"] == "aggregate":
            operator["params"] = {**operator["params"], **params}
    return document


INSTANTS = np.sort(np.random.default_rng(7).uniform(0.02, 4.2, 200)).tolist()


@pytest.mark.parametrize("host", ["work", "spare"])
def test_a_crash_at_a_random_instant_changes_nothing(host: str) -> None:
    document = mirrored()
    for operator in document["query"]["operators"][1:4:2]:  # so that most crashes are amid a service
        operator["cost"] = {"record_us": 900, "control_us": 30_000, "output_us": 500}
    whole = results(ended(in_memory(replayed())))
    for at_s in INSTANTS[:: tier(8, 1)]:
        assert results(ended(losing_host(document, host, at_s))) == whole, at_s


@settings(max_examples=tier(25, 200))
@given(
    crashes=st.lists(st.floats(0.01, 2.9), min_size=1, max_size=3),
    host=st.sampled_from(["work", "spare"]),
    restart_after_s=st.sampled_from([None, 0.001, 0.2, 0.9]),
    takeover_ms=st.sampled_from([0, 3, 200, 900]),
    tasks=st.sampled_from([1, 2]),
    sinks=st.sampled_from([1, 3]),
    window=st.sampled_from(sorted(WINDOWS)),
    costs_us=st.tuples(*[st.sampled_from([0, 300, 1900])] * 2),
    latencies_ms=st.tuples(*[st.sampled_from([0.1, 40.0])] * 3),
    disorder_ms=st.sampled_from([0, 300]),
    sink_us=st.sampled_from([0, 20_000]),
)
def test_each_result_comes_once(
    crashes: list[float],
    host: str,
    restart_after_s: float | None,
    takeover_ms: float,
    tasks: int,
    sinks: int,
    window: str,
    costs_us: tuple[int, int],
    latencies_ms: tuple[float, float, float],
    disorder_ms: int,
    sink_us: float,
) -> None:
    """Standbys that are slower or faster than their operators, slow sinks and links, records out of order, hosts that come back."""
    if window == "updated":
        sink_us = min(sink_us, 100)
    document = with_params(mirrored(9.0, 300.0, tasks, until_s=3.0, takeover_ms=takeover_ms), **WINDOWS[window])
    operators = document["query"]["operators"]
    for operator, cost_us in zip(operators[1:4:2], costs_us, strict=True):
        operator["cost"] = {"record_us": cost_us, "control_us": 10 * cost_us}
    operators[2] |= {"cost": {"record_us": sink_us}, "parallelism": sinks}
    document["placement"]["hosts"]["output"] = ["out"] * sinks
    for one, latency_ms in zip(("in", "work", "spare"), latencies_ms, strict=True):
        next(each for each in document["cluster"]["hosts"] if each["name"] == one)["egress_latency_ms"] = latency_ms
    if disorder_ms:
        document["workload"]["sources"]["purchases"]["disorder"] = {"kind": "uniform", "max_ms": disorder_ms}
    crashed = ended(losing_host(document, host, *crashes, restart_after_s=restart_after_s))
    assert results(crashed) == results(ended(document))
    assert standbys(crashed).pairs[0].active == int(host == "work")


def test_without_a_crash_nothing_of_a_standby_is_sent() -> None:
    simulation = ended(mirrored(tasks=2))
    world = simulation._world
    assert results(simulation) == results(ended(in_memory(replayed(tasks=2))))
    for pair in standbys(simulation).pairs:
        sent, held = world.arrays.carried[pair.out_of[0], L.SEQ_SENT], world.arrays.carried[pair.out_of[1], L.SEQ_SENT]
        assert sent.tolist() == held.tolist()
        assert sent.sum() > 5
        assert world.arrays.carried[pair.out_of[1], L.SEQ_PROCESSED].sum() == 0
    assert world.arrays.host[3, L.H_OUT_BYTES] == 0  # of the host `spare`
    of = simulation.summary()["operators"]
    assert of["standby"]["busy"] == pytest.approx(of["revenue"]["busy"], rel=0.01)


def test_a_takeover_takes_its_time_and_no_more() -> None:
    """Results stop when the host is lost, and come again when the standby takes over, with those that it had held back."""
    document = losing_host(with_params(mirrored(takeover_ms=500), **WINDOWS["updated"]), "work", 1.5)
    simulation = ended(document)
    (takeover,) = standbys(simulation).takeovers
    assert takeover.at_ns - takeover.lost_ns == SECOND // 2
    ends = np.array([row["end_ns"] for row in simulation.sink_records("output")])
    gap = ends[(ends > 1.501 * SECOND) & (ends < 1.999 * SECOND)]
    assert not len(gap)
    assert takeover.again == pytest.approx(0.5 * 400, abs=2)
    assert np.count_nonzero((ends >= 2 * SECOND) & (ends < 2.01 * SECOND)) >= takeover.again


def test_a_standby_that_is_ahead_sends_what_sinks_miss_and_one_behind_sends_nothing_twice() -> None:
    """The one operator has served half of what the other one has when its host is lost."""
    for slow, again in (("revenue", True), ("standby", False)):
        document = with_params(mirrored(9.0, 400.0, until_s=2.0), **WINDOWS["updated"])
        next(one for one in document["query"]["operators"] if one["id"] == slow)["cost"] = {"record_us": 4000}
        crashed = ended(losing_host(document, "work", 2.0))
        assert results(crashed) == results(ended(document))
        assert (standbys(crashed).takeovers[0].again > 300) == again


def test_standbys_forget_what_sinks_have_had() -> None:
    document = with_params(mirrored(8.0, 1000.0), **WINDOWS["updated"])
    simulation = Simulation(document)
    simulation.run_until(5 * SECOND)
    w = simulation._world.arrays
    (pair,) = standbys(simulation).pairs
    (c,) = pair.out_of[1].tolist()
    assert w.carried[c, L.SEQ_SENT] > 4900
    assert w.carried[c, L.SEQ_SENT] - w.msg[w.gate[c, L.Q_KEPT], L.M_SEQUENCE] < 300


@pytest.mark.parametrize("host", ["work", "spare"])
def test_a_lost_host_that_comes_back_is_no_standby(host: str) -> None:
    """It is empty. It sends nothing, keeps nothing, and the summary says that nobody would take over."""
    simulation = ended(losing_host(mirrored(), host, 0.7, restart_after_s=0.1))
    w = simulation._world.arrays
    (pair,) = standbys(simulation).pairs
    assert (w.gate[np.concatenate(pair.out_of), L.Q_KEPT] == -1).all()
    assert simulation.summary()["standbys"] == {"takeovers": int(host == "work"), "sent_again": 0, "unprotected": 1}
    assert simulation.summary()["operators"][{"work": "revenue", "spare": "standby"}[host]]["in"] > 700


def test_a_takeover_does_not_depend_on_how_the_run_is_cut(tmp_path: Any) -> None:
    document = losing_host(with_params(mirrored(tasks=2, horizon_s=4.0), **WINDOWS["updated"]), "work", 1.31, restart_after_s=0.1)
    document["cluster"]["hosts"][1]["egress_latency_ms"] = 40
    assert_cuts_leave_no_trace(document, (0.3, 0.31, 1.3, 1.31, 1.33, 1.51, 1.511, 1.6), tmp_path, "standbys")


def test_sinks_keep_a_watermark() -> None:
    """Marks of an operator that is lost, on their way while its standby takes over, do not hold its sinks back for ever."""
    for latency_ms in (0.1, 400.0):
        document = losing_host(mirrored(takeover_ms=10), "work", 1.5)
        document["cluster"]["hosts"][1]["egress_latency_ms"] = latency_ms
        crashed, whole = ended(document), ended({**document, "faults": []})
        at = [simulation._world.arrays.inst[2, L.I_WATERMARK] for simulation in (crashed, whole)]
        assert at[0] == at[1] > 2 * SECOND


def test_a_record_held_back_has_its_way_through_the_standby() -> None:
    """Where its time went: it was served there, and held back until the takeover."""
    document = losing_host(with_params(mirrored(takeover_ms=300), **WINDOWS["updated"]), "work", 1.5)
    simulation = ended(document, trace=True)
    (takeover,) = standbys(simulation).takeovers
    ways = simulation.trace().waterfalls(simulation.deliveries())
    held = [way for way in ways if any(part.part == "blocked" for part in way.parts)]
    assert len(held) == takeover.again > 100
    for way in held:
        served = [part.operator for part in way.parts if part.part == "service"]
        (blocked,) = (part for part in way.parts if part.part == "blocked")
        assert served == ["purchases", "standby", "output"]
        assert (blocked.operator, blocked.end_ns) == ("standby", takeover.at_ns)


def test_frames_tell_of_pairs_and_takeovers() -> None:
    simulation = Simulation(losing_host(with_params(mirrored(takeover_ms=700), **WINDOWS["updated"]), "work", 1.5))
    frames = [frame["standbys"] for frame in frames_of(simulation)]
    first, last = frames[0], frames[-1]
    assert first["instances"] == [{"names": ["revenue[0]", "standby[0]"], "hosts": ["work", "spare"]}]
    assert [(one["pairs"]["revenue[0]"]["active"], one["pairs"]["revenue[0]"]["lost"]) for one in frames[:3]] == [(0, -1), (0, 0), (1, 0)]
    assert (first["ready"], last["ready"]) == (1, 0)
    told = [takeover for frame in frames for takeover in frame["takeovers"]]
    assert {(one["host"], one["lost_s"], one["at_s"]) for one in told} == {("work", 1.5, 2.2)}
    assert told[-1]["again"] == standbys(simulation).takeovers[0].again > 190
    assert "again" not in told[0]


def test_summaries_have_the_numbers_that_are_offered() -> None:
    found = ended(losing_host(mirrored(), "work", 1.5)).summary()["standbys"]
    assert {name.removeprefix("standbys.") for name in SUMMARY if name.startswith("standbys.")} == set(found)

"""Cycles through feedback edges: how runs over them end, and what is said of a deadlock (docs/event-core.md, sections 6 and 9)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine
from tests.support.corner_cases import a_cycle_drains_when_nothing_goes_round, a_cycle_that_stands_still

from ...support.agreement import assert_agreement, traced

FRAME_NS = 1_700_000  # of the deadlock below


def endless() -> dict[str, Any]:
    """The same cycle, in which every record goes round for ever."""
    document = a_cycle_drains_when_nothing_goes_round()
    again = next(operator for operator in document["query"]["operators"] if operator["id"] == "again")
    again["params"]["predicate"] = "True"
    document["workload"]["drain_limit_s"] = 0.0123
    return document


def test_a_deadlock_ends_the_run_and_names_its_channels() -> None:
    simulation = traced(a_cycle_that_stands_still())
    assert simulation.finished
    assert not simulation.drained
    assert simulation.now_ns == 3 * FRAME_NS
    for part in ("0.0051 s", "step[0] -> again[1]", "again[1] -> step[1]", "per_channel"):
        assert part in simulation.deadlock
    assert simulation.summary()["deadlock"] == simulation.deadlock
    assert "bids" not in simulation.deadlock.split(" are full")[0]  # blocked behind the cycle, not on it
    assert simulation.service_trace()[-1, 2] < 3 * FRAME_NS


def test_a_deadlock_ends_the_run_at_the_same_moment_however_it_is_cut(tmp_path: Path) -> None:
    document = a_cycle_that_stands_still()
    document["workload"]["warmup_s"] = 0.0007
    whole = traced(document)
    cut = engine.Simulation(document, trace=True, keep_outputs=True)
    for moment in (1, FRAME_NS - 1, FRAME_NS + 1, 2 * FRAME_NS, 3 * FRAME_NS - 1, 3 * FRAME_NS + 1, 10 * FRAME_NS):
        cut.run_until(moment)
    assert (cut.now_ns, cut.digest()) == (whole.now_ns, whole.digest())
    framed = engine.Simulation(document, trace=True, keep_outputs=True)
    frames = 0
    while framed.advance() is not None:
        frames += 1
    assert (frames, framed.digest()) == (3, whole.digest())
    framed.save(tmp_path / "snapshot")
    resumed = engine.Simulation.resume(document, tmp_path / "snapshot", trace=True, keep_outputs=True)
    assert resumed.advance() is None
    assert resumed.deadlock == whole.deadlock


def test_records_that_a_deadlock_keeps_are_left_over() -> None:
    """Nothing happens any more, and yet the run has not drained."""
    document = a_cycle_that_stands_still()
    document["workload"]["drain"] = False
    simulation = traced(document)
    assert simulation.deadlock
    assert simulation.summary()["backlog"] > 0
    assert not simulation.drained


def test_what_a_waiting_generator_did_not_make_is_not_left_over() -> None:
    """The deadlock comes before the generators stop."""
    document = a_cycle_that_stands_still()
    for source in document["workload"]["sources"].values():
        source["generation"] = {"kind": "coordinated"}
    assert assert_agreement(document).deadlock


def test_a_deadlock_is_seen_before_the_logs_end() -> None:
    document = a_cycle_that_stands_still()
    document["workload"] |= {"horizon_s": 5.0, "drain": False}
    simulation = traced(document)
    assert simulation.now_ns == 3 * FRAME_NS
    assert simulation.deadlock


@pytest.mark.parametrize("per_channel", [1000, None], ids=["enough credits", "unbounded"])
def test_room_enough_resolves_it(per_channel: int | None) -> None:
    document = a_cycle_that_stands_still()
    document["policies"]["flow_control"] = {"kind": "unbounded"} if per_channel is None else {"kind": "credits", "per_channel": per_channel}
    simulation = traced(document)
    assert simulation.drained
    assert simulation.summary()["deadlock"] is None


def test_a_run_drains_when_nothing_goes_round_any_more() -> None:
    document = a_cycle_drains_when_nothing_goes_round()
    simulation = traced(document)
    last_ns = int(simulation.service_trace()[-1, 2])
    assert simulation.drained
    assert last_ns > simulation.horizon_ns + 10_000_000
    assert simulation.now_ns == -(-last_ns // 1_000_000) * 1_000_000
    counts = simulation.summary()["operators"]
    assert counts["step"]["in"] == 40 * counts["enter"]["in"]


def test_records_that_go_round_for_ever_end_at_the_limit() -> None:
    simulation = traced(endless())
    assert (simulation.now_ns, simulation.drained) == (simulation.end_ns, False)
    assert simulation.summary()["deadlock"] is None


def test_watermarks_do_not_go_back() -> None:
    """With the loop's own watermark in the minimum none would ever rise: each instance of the cycle would wait for itself."""
    summary = traced(a_cycle_drains_when_nothing_goes_round()).summary()
    assert summary["operators"]["sink"]["in"] > 0  # panes closed
    assert summary["late"] > 0  # while their records still went round

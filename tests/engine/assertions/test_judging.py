"""Verdicts on runs: what a person claims about a run is compared with what the run measured, and never passes unseen.

What this catches: an assertion that holds although nothing was measured, a recovery that counts as quick because the run ended first,
verdicts that differ between memory and files, and results that change because somebody asserts something about them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import engine
from engine.assertions.evaluation import NotEvaluated, evaluate
from engine.assertions.judging import judge
from engine.assertions.series import AtLeast, Number, Series
from engine.spec.experiment.assertion import Verdict, overall
from engine.spec.experiment.metrics import QUANTITIES, flat, quantities
from engine.spec.expressions.assertions import parse_of_run
from engine.spec.rules.validation import load
from engine.telemetry.recorded import Recorded
from tests.support.corner_cases import a_cycle_that_stands_still, bids, host
from tests.support.rescaling_examples import running, scaled
from tests.support.study_examples import queue, sink

PAUSE = {"kind": "pause", "host": "a", "when": {"kind": "at", "at_s": 20.0}, "for_ms": 5000}


def claimed(*checks: str, **parts: Any) -> dict[str, Any]:
    """A queue with room to spare, and claims about it, each named by its check."""
    document = queue(sink(2000), machine=host("a"), horizon_s=40.0, **parts)
    return {**document, "assertions": [{"name": check[:100], "check": check} for check in checks]}


def verdicts(*checks: str, **parts: Any) -> list[Verdict]:
    return list(engine.run(claimed(*checks, **parts)).verdicts)


def test_numbers_and_series_of_a_run_are_compared() -> None:
    found = verdicts(
        "latency_ms.p99 < 1000",
        "lost == 0 and dropped == 0 and late == 0",
        "operators.sink.in >= 5000",
        "all(between(frames.latency_ms.p99, 10, 20) < 3)",
        "latency_ms.p99-latency_ms.p50 < 0",
    )
    assert [verdict.state for verdict in found] == ["holds", "holds", "fails", "holds", "fails"]
    (side,) = found[0].measured
    assert (side.text, side.unit, side.least) == ("latency_ms.p99", "ms", side.most)
    assert 2 <= side.least < 3
    assert [side.text for side in found[1].measured] == ["lost", "dropped", "late"]


def test_what_cannot_be_judged_says_why() -> None:
    checks = {
        "checkpointing.restart_time_ms < 1": "checkpointing is 'none'; choose a protocol",
        "memory.a.peak_bytes < 1": "the host's memory is only counted",
        "rescales.longest_s < 1": "scaling is 'none'",
        "recovery.longest_s < 1": "the experiment has no fault; add one",
        "records_out / lost > 1": "division by zero: lost is 0",
        "mean(between(frames.latency_ms.p99, 90, 99)) < 1": "has no points",
    }
    for verdict, why in zip(verdicts(*checks), checks.values(), strict=True):
        assert verdict.state == "cannot be judged"
        assert why in verdict.reason


def test_a_run_without_deliveries_has_no_latency() -> None:
    document = claimed("latency_ms.p99 < 1000", "latencies_ms.sent.p50 < 1")
    document["measurement"]["also"] = [{"name": "sent", "to": "emit"}]
    document["workload"] |= {"warmup_s": 5.0, "sources": {"bids": bids(0.001)}}  # one record, at the start
    for verdict in engine.run(document).verdicts:
        assert (verdict.state, verdict.measured) == ("cannot be judged", ())
        assert "no record with this latency was delivered" in verdict.reason


def test_recovery_is_the_time_until_latency_and_queue_are_back() -> None:
    holds, quick, faults = verdicts("recovery.longest_s <= 20", "recovery.longest_s <= 5", "recovery.faults == 1", faults=[PAUSE])
    assert (holds.state, quick.state, faults.state) == ("holds", "fails", "holds")
    assert 5 < holds.measured[0].least < 8, "it stands for 5 s, then catches up at four times the load"


@pytest.mark.parametrize(("limit_s", "state"), [(5, "fails"), (9, "fails"), (15, "cannot be judged")])
def test_a_recovery_that_the_end_cuts_off_is_judged_as_far_as_it_was_seen(limit_s: int, state: str) -> None:
    """From 30 s to the end at 40 s it does not recover: more than 9 s for certain, 15 s perhaps."""
    late = {**PAUSE, "when": {"kind": "at", "at_s": 30.0}, "for_ms": 60_000}
    (verdict, none) = verdicts(f"recovery.longest_s <= {limit_s}", "recovery.unrecovered == 0", faults=[late])
    assert (verdict.state, none.state) == (state, "fails")
    assert (verdict.measured[0].least, verdict.measured[0].most) == (10.0, None)
    assert "the fault at 30 s (10 s later)" in verdict.reason


def test_random_faults_have_no_known_time() -> None:
    often = {**PAUSE, "when": {"kind": "random", "mean_s": 10.0}, "for_ms": 100}
    (verdict,) = verdicts("recovery.longest_s <= 20", faults=[often])
    assert verdict.state == "cannot be judged"
    assert "random" in verdict.reason


@pytest.mark.parametrize(
    ("check", "holds"),
    [("a < 5", False), ("a <= 12", None), ("a > 5", True), ("5 > a", False), ("4 <= a <= 20", None), ("a == 12", None), ("a != 3", None)],
)
def test_a_number_known_from_below_decides_what_it_can(check: str, holds: bool | None) -> None:
    tree = parse_of_run(check, {"a": "number"}).tree
    values = {"a": Number(AtLeast(10.0, "still growing"))}
    if holds is None:
        with pytest.raises(NotEvaluated, match="still growing"):
            evaluate(tree, values)
    else:
        assert evaluate(tree, values) is holds


@pytest.mark.parametrize("check", ["a + 1 > 0", "max(a, 3) > 1", "abs(a) > 1", "within(a, 10, 5)", "all(s + 9 > a)", "all(s + a > 0)"])
def test_a_number_known_from_below_is_not_computed_with(check: str) -> None:
    values = {"a": Number(AtLeast(10.0, "still growing")), "s": Series((1.0,), (2.0,))}
    tree = parse_of_run(check, {"a": "number", "s": "series"}).tree
    with pytest.raises(NotEvaluated, match="still growing"):
        evaluate(tree, values)


def test_a_series_may_hold_numbers_known_from_below() -> None:
    values = {"a": Number(AtLeast(10.0, "still growing")), "b": Number(1.0)}

    def found(check: str) -> object:
        return evaluate(parse_of_run(check, {"a": "number", "b": "number"}).tree, values)

    assert found("all(points(1, b, 2, a) > points(1, 0, 2, 9))") is True
    assert found("all(points(1, b, 2, a) < points(1, 2, 2, 9))") is False
    assert found("at(points(1, b, 2, a), 2) > 9") is True
    for open_end in ("all(points(1, b, 2, a) > points(1, 0, 2, 12))", "mean(points(1, b, 2, a)) > 0", "max(points(1, b, 2, a)) > 0"):
        with pytest.raises(NotEvaluated, match="still growing"):
            found(open_end)


def test_rescales_are_timed_from_their_order() -> None:
    made = running("aggregate, sliding")
    (counts,) = (one["id"] for one in made["query"]["operators"] if one["kind"] == "aggregate")
    rescaled = scaled(made, [{"at_s": 0.05, "parallelism": {counts: 1}}])
    document = {**rescaled, "assertions": [{"name": "quick", "check": "0 < rescales.longest_s <= 60 and scaling.actions == 1"}]}
    done = engine.run(document)
    (verdict,) = done.verdicts
    assert verdict.state == "holds", verdict
    (action,) = {action["number"]: action for frame in done.frames for action in frame["scaling"]["actions"]}.values()
    assert verdict.measured[0].least == pytest.approx(action["ended_s"] - action["ordered_s"])


def test_files_give_the_same_verdicts_and_nothing_changes_the_result(tmp_path: Path) -> None:
    checks = ("latency_ms.p99 > 1000", "recovery.longest_s <= 20", "max(frames.operators.sink.queue) > 1", "any(frames.out_per_s > 100)")
    document = claimed(*checks, faults=[PAUSE])
    done, plain = engine.run(document, out=tmp_path), engine.run({**document, "assertions": []})
    assert (done.digest, flat(done.summary)[:-1]) == (plain.digest, flat(plain.summary)[:-1])
    assert done.verdicts == judge(load(document), done.summary, lambda: Recorded.read(tmp_path))
    assert [verdict.state for verdict in done.verdicts] == ["holds"] * 4


def test_a_run_that_ends_early_is_not_judged() -> None:
    document = {**a_cycle_that_stands_still(), "assertions": [{"name": "none lost", "check": "lost == 0"}]}
    (verdict,) = engine.run(document).verdicts
    assert verdict.state == "cannot be judged"
    assert "ended early: deadlock" in verdict.reason


def test_the_names_are_those_that_runs_measure() -> None:
    """Numbers of summaries are held against runs in tests/engine/studies; here the fields of frames."""
    document = {**claimed(), "measurement": {"also": [{"name": "emitted", "to": "emit"}]}}
    done = engine.run(document)
    of_others = ("frames.scaling.", "frames.state.", "frames.output_logs.", "frames.standbys.")  # of runs that have such
    known = {name for name in quantities(load(document)) if name.startswith("frames.") and not name.startswith(of_others)}
    measured = {f"frames.{name}" for frame in done.frames for name, _ in flat(frame)}
    assert known - measured == {"frames.operators.bids.watermark_lag_ms", "frames.operators.sink.watermark_lag_ms"}
    assert all(quantity.about.endswith(".") for quantity in QUANTITIES.values())


def test_the_worst_verdict_counts() -> None:
    assert overall([]) is None
    assert overall(["holds", "holds"]) == "holds"
    assert overall(["holds", "cannot be judged"]) == "cannot be judged"
    assert overall(["cannot be judged", "fails", "holds"]) == "fails"

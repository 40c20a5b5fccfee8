"""Studies: the verdict on a load, the search for the largest, and planning.

What this catches: a verdict that takes a slow system for an overloaded one or a creeping one for steady, a search that depends on who
answers first, and one that misses the capacity of queues whose capacity is known.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core.random import RandomStream
from engine.simulation.local_study import run_study
from engine.spec import InvalidExperiment
from engine.spec.study.study import Sustained, load_study
from engine.studies import (
    Bracket,
    Difference,
    Interval,
    Measured,
    TrialId,
    difference,
    follow,
    interval,
    judge,
    left,
    narrow,
    plan,
    strands,
)
from engine.studies.statistics import _p
from tests.support.corner_cases import bids, host
from tests.support.tiers import spread

from ...support.study_examples import FREE, SMALL, SOURCE, queue, searched, sink

LIMITS = Sustained()


# The verdict


def frames(**series: Any) -> list[dict[str, Any]]:
    """A frame a second for 100 s. series: functions of the time: offered, taken, queue (in the logs), latency (ms), count."""
    made = []
    usual = {
        "offered": lambda t: 1000.0,
        "taken": lambda t: 1000.0,
        "queue": lambda t: 5,
        "latency": lambda t: 20.0,
        "count": lambda t: 1000,
    }
    of = usual | series
    for n in range(100):
        t = n + 1.0
        latency = {"count": of["count"](t), "mean": of["latency"](t)}
        waiting = 7
        made.append(
            {"t_s": t, "offered_per_s": of["offered"](t), "in_per_s": of["taken"](t), "backlog": of["queue"](t) + waiting}
            | {"operators": {"sink": {"queue": waiting}}, "latency_ms": latency, "deaths": []}
        )
    return made


def reasons(**series: Any) -> str:
    return "; ".join(judge(frames(**series), {}, LIMITS).reasons)


def test_what_is_slow_but_steady_is_sustained() -> None:
    assert reasons() == ""
    assert reasons(latency=lambda t: 20_000.0) == ""
    assert reasons(queue=lambda t: 4000 + 3000 * (t % 7 < 3)) == ""
    assert reasons(queue=lambda t: 20 * t if t < 40 else 800, latency=lambda t: min(t, 40) * 20) == ""
    assert reasons(latency=lambda t: 0.1 + t / 1000) == ""  # grows, but by a millisecond


def test_what_creeps_is_not() -> None:
    assert "latency grows" in reasons(latency=lambda t: 100 + 49 * t)
    assert "queue grows" in reasons(queue=lambda t: 50 * t)
    assert "no results for" in reasons(count=lambda t: 0 if 50 < t <= 81 else 1000)
    assert "no results for" in reasons(count=lambda t: 0)
    assert "has waited for" in reasons(queue=lambda t: 40_000)
    assert "more than arrive in 60 s" in reasons(queue=lambda t: 61_000)


def test_what_broke_is_not() -> None:
    dead = frames()
    dead[50]["deaths"] = [{"host": "w1", "at_s": 50.2}]
    assert judge(dead, {}, LIMITS).reasons == ("host 'w1' died at 50.2 s",)
    assert judge(frames(), {"dropped": 1200, "deadlock": "they wait"}, LIMITS).reasons == ("1,200 records were dropped", "they wait")
    assert "too short" in judge(frames()[:2], {}, LIMITS).reasons[0]
    assert "too short" in judge([], {}, LIMITS).reasons[0]


def test_latency_that_cannot_be_judged_is_not_taken_for_steady() -> None:
    """As when the first job of a system in batches takes longer than the rest of the run."""
    assert "results in fewer than three bins" in reasons(count=lambda t: 1000 * (t in (50, 75)))
    assert reasons(count=lambda t: 1000 * (t in (40, 60, 80))) == ""


def test_warm_up_is_a_share_of_the_input() -> None:
    """Three quarters of the input come in the last 25 s; what happens before the first quarter has come does not count."""
    wild = {"latency": lambda t: 9e6 if t < 60 else 20.0, "offered": lambda t: 100.0 if t <= 75 else 900.0}
    assert reasons(**wild, taken=wild["offered"]) == ""


# The search


def tried(search: Any, sustains: Callable[[float], bool]) -> tuple[Bracket, dict[float, bool]]:
    """Carry out a search on a system that sustains these loads; what was found, and each load tried with its verdict."""
    verdicts: dict[float, bool] = {}
    while (bracket := narrow(search, verdicts)).wanted is not None:
        assert bracket.wanted not in verdicts
        verdicts[bracket.wanted] = sustains(bracket.wanted)
    return bracket, verdicts


def search_from(start: str, **parts: Any) -> Any:
    return load_study(searched(queue(sink(1), machine=host("a"), horizon_s=1), 1, 1000, start=start, **parts)).search


@given(capacity=st.floats(0.5, 2000), down=st.floats(0.3, 0.95), precision=st.floats(0.001, 0.2))
def test_the_search_narrows_down_to_the_capacity_from_either_end(capacity: float, down: float, precision: float) -> None:
    searches = [search_from(start, step_down=down, precision=precision) for start in ("top", "bottom")]
    (bracket, verdicts), (from_bottom, upward) = (tried(search, lambda load: load <= capacity) for search in searches)
    assert from_bottom == bracket
    assert len(verdicts) < 200
    if capacity < 1:
        assert (bracket.sustained, bracket.failed) == (None, 1)
        assert set(upward) == set(verdicts), "the whole ladder"
        return
    assert max(upward) <= max(2, 1 / down) * capacity + 1e-9, "no load is far above what is sustained"
    if capacity >= 1000:
        assert (bracket.sustained, bracket.failed) == (1000, None)
    else:
        assert bracket.sustained is not None
        assert bracket.failed is not None
        assert bracket.sustained <= capacity < bracket.failed <= bracket.sustained * (1 + precision) + 1e-9


@given(silent=st.floats(1, 900), width=st.floats(1, 20))
def test_a_run_that_fails_at_low_loads_for_want_of_results_hides_no_load(silent: float, width: float) -> None:
    searches = [search_from(start) for start in ("top", "bottom")]
    (bracket, _), (from_bottom, _) = (tried(search, lambda load: silent < load <= silent * width) for search in searches)
    assert (from_bottom.sustained is None) == (bracket.sustained is None)
    assert bracket.sustained is None or from_bottom == bracket


@pytest.mark.parametrize("capacity", [3, 10, 17, 40])
def test_from_the_bottom_few_runs_are_overloaded_and_none_much(capacity: float) -> None:
    overloads = {}
    for start in ("top", "bottom"):
        _, verdicts = tried(search_from(start), lambda load: load <= capacity)
        overloads[start] = [load for load, sustained in verdicts.items() if not sustained]
    assert len(overloads["bottom"]) < len(overloads["top"]) / 2
    assert sum(overloads["bottom"]) < sum(overloads["top"]) / 20


def test_a_ladder_without_end_is_refused() -> None:
    with pytest.raises(InvalidExperiment, match="step_down is 1, which gives more than 1,000 loads from 1 to 1000"):
        search_from("bottom", step_down=0.9999999)


QUEUES = {
    "one server": queue(sink(2000), machine=host("a")),
    "two servers": queue({**sink(4000), "parallelism": 2}, machine=host("a")),
    "two operators on one core": queue(
        {"id": "filter", "kind": "filter", "params": {"predicate": "true"}, "cost": {**FREE, "record_us": 500}},
        sink(1500),
        machine=host("a", cores=1, processor={"kind": "shared_fifo"}),
    ),
    "half a core": queue(sink(1000), machine=host("a", cores=0.5, processor={"kind": "processor_sharing"})),
    "exponential service": queue(sink(2000, noise={"kind": "exponential"}), machine=host("a")),
    "held back by credits": queue(
        sink(2000), machine=host("a"), policies={"flow_control": {"kind": "credits", "per_channel": 10}}
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", spread(list(QUEUES), ci=3))
def test_the_capacity_of_simple_queues(name: str) -> None:
    """All of them serve 500 records/s."""
    study = load_study(searched(QUEUES[name], 50, 1000, precision=0.01))
    (found,) = run_study(study).found
    assert found.bracket.sustained == pytest.approx(500, rel=0.02)
    assert all(sustained == (load <= found.bracket.sustained) for load, sustained, _ in found.tried)


@pytest.mark.slow
@pytest.mark.deep
def test_what_else_is_served_lowers_the_capacity() -> None:
    """A second source sends to the same server; what is left of its 500 records/s is found. And the same again."""
    found = []
    for beside_per_s in (50, 200, 350):
        made = copy.deepcopy(QUEUES["one server"])
        made["query"]["operators"].append({**SOURCE, "id": "others"})
        made["query"]["edges"].append({**made["query"]["edges"][0], "source": "others"})
        made["workload"]["sources"]["others"] = bids(beside_per_s)
        study = load_study(searched(made, 25, 1000))
        answers = [run_study(study).found[0].bracket.sustained for _ in range(2)]
        assert answers[0] == answers[1]
        found.append(answers[0])
        assert found[-1] == pytest.approx(500 - beside_per_s, rel=0.02, abs=8)
    assert found == sorted(found, reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two servers", "exponential service"])
def test_a_load_above_one_that_is_not_sustained_is_not_either(name: str) -> None:
    study = load_study(searched(QUEUES[name], 50, 1000))
    (strand,) = strands(study)
    verdicts = []
    for load in range(300, 1000, 75):
        run = engine.run(strand.trial(float(load)).document)
        verdicts.append(judge(run.frames, run.summary, LIMITS).sustained)
    assert verdicts == sorted(verdicts, reverse=True)
    assert set(verdicts) == {True, False}


# Chance


def test_an_interval_covers_the_mean_as_often_as_it_says() -> None:
    values = RandomStream(1, "test").below(np.arange(20 * 1000), 1000).reshape(1000, 20)
    intervals = [interval(row, draws=400) for row in values.tolist()]
    covered = sum(found.low <= 499.5 <= found.high for found in intervals if found.low is not None and found.high is not None)
    assert 900 <= covered <= 970  # 95 %, somewhat fewer for 20 values
    assert interval([3.0]) == Interval(3.0, None, None, 1)
    assert interval([2.0, 2.0, 2.0]) == Interval(2.0, 2.0, 2.0, 3)
    with pytest.raises(ValueError, match="no values"):
        interval([])


@pytest.mark.parametrize(
    ("t", "freedom", "p"),
    [(12.7062, 1, 0.05), (2.77645, 4, 0.05), (4.60409, 4, 0.01), (2.22814, 10, 0.05), (1.95996, 1e7, 0.05), (0.0, 3, 1.0)],
)
def test_the_t_test_has_the_probabilities_of_the_tables(t: float, freedom: float, p: float) -> None:
    """Abramowitz and Stegun 1964, table 26.10."""
    assert _p(t, 1.0, freedom) == pytest.approx(p, rel=1e-4)


@pytest.mark.parametrize("paired", [True, False])
def test_sides_that_differ_by_chance_alone_are_told_apart_as_seldom_as_it_says(paired: bool) -> None:
    draws = RandomStream(2, "test").below(np.arange(2 * 5 * 1000), 1000).reshape(1000, 2, 5).astype(float)
    seeds = range(5) if paired else range(5, 10)
    found = [difference(dict(enumerate(one)), dict(zip(seeds, other, strict=True))) for one, other in draws.tolist()]
    assert {one.pairs for one in found} == {5 if paired else 0}
    assert 30 <= sum(one.p < 0.05 for one in found if one.p is not None) <= 70
    assert all(one.distinguishable == (one.p is not None and one.p < 0.05) for one in found), "the interval says the same as the test"


def test_the_same_seeds_are_held_against_each_other() -> None:
    """What a seed does to both sides cancels out, and a small difference is seen."""
    base = {seed: 100.0 * seed for seed in range(5)}
    other = {seed: value + 1 + seed % 2 / 10 for seed, value in base.items()}
    paired, apart = difference(base, other), difference(base, {seed + 10: value for seed, value in other.items()})
    assert (paired.pairs, apart.pairs) == (5, 0)
    assert paired.difference == pytest.approx(1.04) == pytest.approx(apart.difference)
    assert paired.p is not None
    assert apart.p is not None
    assert paired.p < 1e-5 < 0.9 < apart.p
    assert paired.low is not None
    assert paired.high is not None
    assert (paired.low, paired.high) == pytest.approx((1.04 - 2.77645 * 0.054772 / 5**0.5, 1.04 + 2.77645 * 0.054772 / 5**0.5), rel=1e-4)
    assert (paired.distinguishable, apart.distinguishable) == (True, False)
    assert difference(base, {0: 0.0, 1: 100.0, 7: 5.0}).pairs == 0, "two of five are less than half"
    assert difference(base, base) == Difference(0.0, 0.0, 0.0, 1.0, 5, False)
    single = difference({1: 2.0}, base)
    assert (single.difference, single.low, single.p, single.distinguishable) == (198.0, None, None, None)
    with pytest.raises(ValueError, match="no values"):
        difference({}, base)


# Planning


def measured(study: Any) -> Any:
    """As if 500 records/s were the capacity."""

    def of(trial: Any) -> Measured:
        load = trial.document["workload"]["sources"]["bids"]["rate"]["per_s"]
        summary = {"latency_ms": {"p99": load / 10 + trial.strand.seed}}
        made = frames(offered=lambda t: load, queue=lambda t: max(0.0, load - 500) * t)
        return Measured.of(study, summary, lambda: made)

    return of


@pytest.mark.parametrize("order", range(5))
def test_the_answer_does_not_depend_on_who_is_first(order: int) -> None:
    axes = [{"name": "cores", "fields": ["/cluster/hosts/0/cores"], "values": {"kind": "list", "of": [2, 4]}}]
    study = load_study(searched(SMALL, 50, 1000, shares=[0.9, 0.5]) | {"axes": axes, "seeds": [3, 4, 5]})
    results: dict[TrialId, Measured] = {}
    expected = carry_out_with(study, {}, measured(study))
    chance = random.Random(order)
    while (now := plan(study, results)).answer is None:
        trial = chance.choice(now.wanted)
        results[trial.id] = measured(study)(trial)
    assert now.answer == expected
    assert len(expected.found) == 6
    assert [row.share for row in expected.rows] == [0.9, 0.5] * 6
    least, middle = expected.sustained(1) or (0, 0)
    assert 490 < least <= middle <= 510
    assert plan(study, results | {(99, 3, 50.0): results[trial.id]}).answer == expected


def test_the_experiment_may_be_another_at_the_shares() -> None:
    """A run at a share of 1 has the load of one that the search has made, and is made all the same."""
    longer = [{"fields": ["/workload/horizon_s"], "value": 50.0}]
    study = load_study(searched(SMALL, 50, 1000, shares=[1.0, 0.5], changes_at_shares=longer))
    plain = load_study(searched(SMALL, 50, 1000, shares=[1.0, 0.5]))
    ends = {}
    for each in (study, plain):
        known: dict[str, Measured] = {}
        answer = run_study(each, known=known)
        ends[each is study] = [row.metrics["virtual_s"] for row in answer.rows]
        assert answer.found == (expected := run_study(plain)).found
        assert len(known) == len(expected.found[0].tried) + (2 if each is study else 1)
    assert ends == {True: [50.0, 50.0], False: [SMALL["workload"]["horizon_s"]] * 2}


def carry_out_with(study: Any, results: dict[TrialId, Measured], measure: Any) -> Any:
    while (now := plan(study, results)).answer is None:
        results |= {trial.id: measure(trial) for trial in now.wanted}
    return now.answer


def test_a_run_that_failed_ends_its_search_and_no_other() -> None:
    study = load_study(searched(SMALL, 50, 1000, shares=[0.5]) | {"seeds": [3, 4]})
    results: dict[TrialId, Measured] = {(0, 3, 800.0): Measured({}, failure="the disk was full")}
    answer = carry_out_with(study, results, measured(study))
    assert [found.failure for found in answer.found] == ["at load 800: the disk was full", ""]
    assert [row.seed for row in answer.rows] == [4]
    assert answer.sustained(0) is None


@pytest.mark.parametrize("start", ["top", "bottom"])
def test_how_many_trials_a_search_still_takes(start: str) -> None:
    """The estimate is near what it takes in the end, and nearer with each trial."""
    study = load_study(searched(SMALL, 50, 1000, shares=[0.5, 0.9], start=start))
    (strand,) = strands(study)
    results: dict[TrialId, Measured] = {}
    estimates = []
    while (followed := follow(strand, results)).wanted:
        estimates.append(followed.left)
        results |= {trial.id: measured(study)(trial) for trial in followed.wanted[:1]}
    taken = len(estimates)
    assert all(abs(estimate - (taken - n)) <= 4 for n, estimate in enumerate(estimates)), estimates
    assert estimates[-3:] == [3, 2, 1]
    _, verdicts = tried(study.search, lambda _: True)
    assert left(study.search, verdicts) == 0  # type: ignore[arg-type]


def test_a_run_that_is_known_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {"name": "rate", "fields": ["/workload/sources/bids/rate/per_s"], "values": {"kind": "list", "of": [10, 20]}}
    study = load_study({"experiment": queue(sink(10), machine=host("a"), horizon_s=1.0), "axes": [rates], "seeds": [1, 2]})
    known: dict[str, Measured] = {}
    answer = run_study(study, known=known)
    assert [row.metrics["records_out"] for row in answer.rows] == [10, 10, 20, 20]
    assert answer.over_seeds("records_out", 1) == Interval(20.0, 20.0, 20.0, 2)
    assert answer.over_seeds("nothing", 1) is None
    another = load_study({**study.model_dump(by_alias=True), "name": "the same under another name"})
    monkeypatch.setattr(engine, "run", None)
    assert run_study(another, known=known).rows == answer.rows

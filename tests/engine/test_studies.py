"""Studies: the verdict on a load, the search for the largest, and planning.

What this catches: a verdict that takes a slow system for an overloaded one or a creeping one for steady, a search that depends on who
answers first, and one that misses the capacity of queues whose capacity is known.
"""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import engine
from engine.core.random import RandomStream
from engine.spec.study import Sustained, load_study
from engine.studies import Interval, Measured, carry_out, interval, judge, narrow, plan
from tests.corner_cases import bids, document, host

FREE = {"record_us": 0, "output_us": 0, "control_us": 0}
SOURCE = {"id": "bids", "kind": "source", "cost": FREE}
LIMITS = Sustained()


def sink(record_us: float, **more: Any) -> dict[str, Any]:
    return {"id": "sink", "kind": "sink", "cost": {**FREE, "record_us": record_us, **more}}


def queue(*operators: dict[str, Any], machine: dict[str, Any], horizon_s: float = 160.0, **parts: Any) -> dict[str, Any]:
    """A source and operators in a row, each by itself or on the same cores."""
    row = [SOURCE, *operators]
    edges = [{"source": one["id"], "target": other["id"], "partitioning": {"kind": "rebalance"}} for one, other in itertools.pairwise(row)]
    made = document(row, edges, [machine], {"bids": bids(100.0)}, horizon_s=horizon_s, measurement={"frame_ms": 500}, **parts)
    made["workload"]["drain"] = False
    return made


def searched(experiment: dict[str, Any], least: float, most: float, **parts: Any) -> dict[str, Any]:
    values = {"kind": "between", "from": least, "to": most}
    load = {"name": "load", "fields": ["/workload/sources/bids/rate/per_s"], "values": values}
    return {"experiment": experiment, "search": {"kind": "sustainable", "load": load, **parts}}


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
    assert "nothing came out" in reasons(count=lambda t: 0 if 50 < t <= 81 else 1000)
    assert "nothing came out" in reasons(count=lambda t: 0)
    assert "has waited for" in reasons(queue=lambda t: 40_000)
    assert "more than comes in 60 s" in reasons(queue=lambda t: 61_000)


def test_what_broke_is_not() -> None:
    dead = frames()
    dead[50]["deaths"] = [{"host": "w1", "at_s": 50.2}]
    assert judge(dead, {}, LIMITS).reasons == ("host 'w1' died at 50.2 s",)
    assert judge(frames(), {"dropped": 1200, "deadlock": "they wait"}, LIMITS).reasons == ("1,200 records were dropped", "they wait")
    assert "too short" in judge(frames()[:2], {}, LIMITS).reasons[0]
    assert "too short" in judge([], {}, LIMITS).reasons[0]


def test_warm_up_is_a_share_of_the_input() -> None:
    """Three quarters of the input come in the last 25 s; what happens before the first quarter has come does not count."""
    wild = {"latency": lambda t: 9e6 if t < 60 else 20.0, "offered": lambda t: 100.0 if t <= 75 else 900.0}
    assert reasons(**wild, taken=wild["offered"]) == ""


# The search


@given(capacity=st.floats(0.5, 2000), down=st.floats(0.3, 0.95), precision=st.floats(0.001, 0.2))
def test_the_search_narrows_down_to_the_capacity(capacity: float, down: float, precision: float) -> None:
    study = load_study(searched(queue(sink(1), machine=host("a"), horizon_s=1), 1, 1000, step_down=down, precision=precision))
    verdicts: dict[float, bool] = {}
    while (bracket := narrow(study.search, verdicts)).wanted is not None:  # type: ignore[arg-type]
        assert bracket.wanted not in verdicts
        verdicts[bracket.wanted] = bracket.wanted <= capacity
    assert len(verdicts) < 200
    if capacity < 1:
        assert (bracket.sustained, bracket.failed) == (None, 1)
    elif capacity >= 1000:
        assert (bracket.sustained, bracket.failed) == (1000, None)
    else:
        assert bracket.sustained is not None
        assert bracket.failed is not None
        assert bracket.sustained <= capacity < bracket.failed <= bracket.sustained * (1 + precision) + 1e-9


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
@pytest.mark.parametrize("name", QUEUES)
def test_the_capacity_of_simple_queues(name: str) -> None:
    """All of them serve 500 records/s."""
    study = load_study(searched(QUEUES[name], 50, 1000, precision=0.01))
    (found,) = carry_out(study).found
    assert found.bracket.sustained == pytest.approx(500, rel=0.02)
    assert all(sustained == (load <= found.bracket.sustained) for load, sustained, _ in found.tried)


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


# Planning

SMALL = queue(sink(2000), machine=host("a"), horizon_s=40.0)


def measured(study: Any) -> Any:
    """As if 500 records/s were the capacity."""

    def of(trial: Any) -> Measured:
        load = trial.document["workload"]["sources"]["bids"]["rate"]["per_s"]
        summary = {"latency_ms": {"p99": load / 10 + trial.seed}}
        made = frames(offered=lambda t: load, queue=lambda t: max(0.0, load - 500) * t)
        return Measured.of(study, summary, made)

    return of


@pytest.mark.parametrize("order", range(5))
def test_the_answer_does_not_depend_on_who_is_first(order: int) -> None:
    axes = [{"name": "cores", "fields": ["/cluster/hosts/0/cores"], "values": {"kind": "list", "of": [2, 4]}}]
    study = load_study(searched(SMALL, 50, 1000, shares=[0.9, 0.5]) | {"axes": axes, "seeds": [3, 4, 5]})
    results: dict[str, Measured] = {}
    expected = carry_out_with(study, {}, measured(study))
    chance, runs = random.Random(order), 0
    while (now := plan(study, results)).answer is None:
        trial = chance.choice(now.wanted)
        results[trial.key] = measured(study)(trial)
        runs += 1
        assert plan(study, results).done == runs
    assert now.answer == expected
    assert len(expected.found) == 6
    assert [row.share for row in expected.rows] == [0.9, 0.5] * 6
    least, middle = expected.sustained(1) or (0, 0)
    assert 490 < least <= middle <= 510
    assert plan(study, results | {"of another study": results[trial.key]}).answer == expected


def carry_out_with(study: Any, results: dict[str, Measured], measure: Any) -> Any:
    while (now := plan(study, results)).answer is None:
        results |= {trial.key: measure(trial) for trial in now.wanted}
    return now.answer


def test_a_run_that_is_known_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = {"name": "rate", "fields": ["/workload/sources/bids/rate/per_s"], "values": {"kind": "list", "of": [10, 20]}}
    study = load_study({"experiment": queue(sink(10), machine=host("a"), horizon_s=1.0), "axes": [rates], "seeds": [1, 2]})
    known: dict[str, Measured] = {}
    answer = carry_out(study, known=known)
    assert [row.metrics["records_out"] for row in answer.rows] == [10, 10, 20, 20]
    assert answer.over_seeds("records_out", 1) == Interval(20.0, 20.0, 20.0, 2)
    assert answer.over_seeds("nothing", 1) is None
    another = load_study({**study.model_dump(by_alias=True), "name": "the same under another name"})
    monkeypatch.setattr(engine, "run", None)
    assert carry_out(another, known=known).rows == answer.rows

"""Flink's autoscaler, step by step of the specification's appendix A, with numbers worked out by hand.

What this catches: action on metrics of a job that has just restarted, a backlog that counts twice or not at all, a busy time that is taken
for the whole truth where a source's own rate shows otherwise, a scale-down that does not wait.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from engine.autoscaling.flink import Flink
from engine.autoscaling.metrics import Graph
from engine.autoscaling.policy import Advice, NoAdvice
from engine.spec.experiment import scaling

from ...support.told_metrics import Told, values

S = 10**9
LINE = Graph(("source", "map"), (("source", "map"),), ("source",), {"source": None, "map": None})
PLAIN = {"window_s": 60, "stabilization_s": 30, "scale_down_interval_s": 0, "catch_up_s": 0}
"""Without a backlog or a restart that would count."""


def flink(**options: Any) -> Flink:
    return Flink(scaling.flink.Flink(**PLAIN | options))


class Steady:
    """A job whose vertices take in and put out at steady rates, per vertex; lag grows by a rate, too."""

    def __init__(self, parallelism: Mapping[str, int], rates: Mapping[str, Mapping[str, Any]], graph: Graph = LINE):
        self.graph, self.parallelism, self.rates, self.since_s = graph, dict(parallelism), rates, 0.0

    def at(self, now_s: float) -> Told:
        readings = {}
        for vertex, told in self.rates.items():
            p = self.parallelism[vertex]
            age_s = now_s - self.since_s
            readings[vertex] = {
                "records_in": Fraction(round(told.get("in", 0) * age_s), p),
                "records_out": Fraction(round(told.get("out", 0) * age_s), p),
                "busy_ms": told.get("busy_ms", 0),
                "blocked_ms": told.get("blocked_ms", 0),
                "pending": Fraction(round(told.get("lag", 0) + told.get("lag_per_s", 0) * now_s), p),
            }
        return Told(self.graph, self.parallelism, readings, now_s=now_s, since_s=self.since_s)


def asked(policy: Flink, job: Steady, until_s: float, from_s: float = 0, every_s: float = 15) -> Advice:
    """Its last answer of those at each iteration."""
    answer: Any = None
    now_s = from_s
    while now_s <= until_s:
        try:
            answer = policy.advise(job.at(now_s))
        except NoAdvice as nothing:
            answer = str(nothing)
        now_s += every_s
    return answer


def busy(source_ms: float, map_ms: float, rate: int = 1000) -> dict[str, dict[str, Any]]:
    return {"source": {"in": rate, "out": rate, "busy_ms": source_ms}, "map": {"in": rate, "busy_ms": map_ms}}


def test_it_waits_for_stable_metrics_and_for_a_whole_window() -> None:
    policy, job = flink(), Steady({"source": 1, "map": 1}, busy(700, 700))
    assert asked(policy, job, 15) == "metrics do not count yet: the job restarted too recently"
    assert asked(policy, job, 75, from_s=30) == "metrics do not fill a window yet"
    assert isinstance(asked(policy, job, 90, from_s=90), Advice)
    job.since_s = 100  # a restart: all anew
    assert asked(policy, job, 120, from_s=105) == "metrics do not count yet: the job restarted too recently"
    assert asked(policy, job, 180, from_s=135) == "metrics do not fill a window yet"
    assert isinstance(asked(policy, job, 195, from_s=195), Advice)


def test_within_the_band_nothing_is_done() -> None:
    """0.7 +- 0.3: with 0.5 two vertices of ten would have eight, but nobody is outside."""
    advice = asked(flink(), Steady({"source": 10, "map": 10}, busy(500, 500)), 120)
    assert values(advice, "tpr") == {"source": 2000, "map": 2000}
    assert advice.parallelism == {"source": 10, "map": 10}
    assert advice.why == "all vertices are within the band, or waiting to scale down"


def test_one_vertex_outside_the_band_takes_all_others_with_it() -> None:
    """map: 1,000 / 0.95 is less than 1,000 / 0.8; 1,429 are to be served, by 10 x 1,429 / 1,052.6 instances."""
    advice = asked(flink(utilization_max=0.8), Steady({"source": 10, "map": 10}, busy(500, 950)), 120)
    assert values(advice, "factor")["map"] == 1429 / Fraction(1000, 1) * Fraction(95, 100)
    assert list(advice.bottlenecks) == ["map"]
    assert advice.parallelism == {"source": 8, "map": 14}


def test_capacity_for_the_backlog_and_for_the_next_restart() -> None:
    """Source: 1,000 + 500 that wait more each second; 60,000 wait at the end and are to be gone after 300 s; a restart takes 60 s.
    200 + 1,500 x 60 / 300 + 1,500 / 0.6 = 3,000; true rate 2,000: 10 become 15. The same for the map, of which each record makes one."""
    rates = busy(500, 500)
    rates["source"] |= {"lag": 0, "lag_per_s": 500}
    job = Steady({"source": 10, "map": 10}, rates)
    advice = asked(flink(catch_up_s=300, restart_s=60, utilization_target=0.6, utilization_max=0.65, observed_lag_s=100), job, 120)
    assert values(advice, "target") == {"source": 1500, "map": 1500}
    assert values(advice, "catch_up") == {"source": 200, "map": 200}
    assert values(advice, "factor") == {"source": Fraction(3, 2), "map": Fraction(3, 2)}
    assert advice.parallelism == {"source": 15, "map": 15}


def test_while_a_backlog_is_worked_off_nothing_is_scaled_down() -> None:
    rates = busy(200, 200)
    rates["source"] |= {"lag": 299_000}
    assert asked(flink(observed_lag_s=1000), Steady({"source": 10, "map": 10}, rates), 120).parallelism == {"source": 4, "map": 4}
    rates["source"] |= {"lag": 301_000}
    advice = asked(flink(observed_lag_s=1000), Steady({"source": 10, "map": 10}, rates), 120)
    assert advice.parallelism == {"source": 10, "map": 10}
    assert advice.why == "processing a backlog"


def test_a_source_with_enough_to_do_shows_its_true_rate() -> None:
    """Busy for 0.6 of the time by its report, yet 60 s of input wait: 1,000 records per second are all it can, while it is not blocked."""
    rates = busy(600, 600)
    rates["source"] |= {"lag": 60_000}
    advice = asked(flink(), Steady({"source": 10, "map": 10}, rates), 120)
    assert values(advice, "tpr") == {"source": 1000, "map": Fraction(10_000, 6)}
    rates["source"] |= {"blocked_ms": 200}
    advice = asked(flink(), Steady({"source": 10, "map": 10}, rates), 120)
    assert values(advice, "tpr")["source"] == 1250
    rates["source"] |= {"lag": 29_000}
    advice = asked(flink(), Steady({"source": 10, "map": 10}, rates), 120)
    assert values(advice, "tpr")["source"] == Fraction(10_000, 6)
    rates["source"] |= {"lag": 60_000, "blocked_ms": 0, "busy_ms": 900}
    advice = asked(flink(), Steady({"source": 10, "map": 10}, rates), 120)
    assert values(advice, "tpr")["source"] == Fraction(10_000, 9), "it differs by less than 15 %"


def test_a_wish_to_scale_down_waits_and_the_greatest_of_that_time_counts() -> None:
    policy, job = flink(scale_down_interval_s=300), Steady({"source": 10, "map": 10}, busy(600, 200))
    assert asked(policy, job, 300).parallelism["map"] == 10
    job.rates = busy(600, 300)
    asked(policy, job, 360, from_s=315)  # four wishes with more load
    job.rates = busy(600, 200)
    assert asked(policy, job, 375, from_s=375).parallelism["map"] == 10
    advice = asked(policy, job, 390, from_s=390)  # 300 s after the first one, at 90 s
    assert 4 < advice.parallelism["map"] < 10
    policy.acted({"source": 10, "map": 10}, advice.parallelism, 390 * S)
    assert asked(policy, job, 405, from_s=405).parallelism["map"] == 10, "it waits anew"


def test_a_wish_to_scale_up_ends_the_waiting() -> None:
    policy, job = flink(scale_down_interval_s=300), Steady({"source": 10, "map": 10}, busy(600, 200))
    asked(policy, job, 120)
    assert policy.state()["requests"].keys() == {"source", "map"}
    job.rates = busy(990, 990)
    asked(policy, job, 300, from_s=135)
    assert policy.state()["requests"] == {}


def test_an_idle_job_is_scaled_down_step_by_step() -> None:
    """Its true rate is infinite; at most 0.6 of its instances go at a time."""
    assert asked(flink(), Steady({"source": 10, "map": 3}, busy(0, 0, rate=0)), 120).parallelism == {"source": 4, "map": 2}


def test_what_flows_on_an_edge_of_several() -> None:
    """a and b feed c; b feeds d, too. From a to c flows what a puts out, since what b puts out is not for c alone; from b to c what c takes
    in less what a puts out."""
    graph = Graph(("a", "b", "c", "d"), (("a", "c"), ("b", "c"), ("b", "d")), ("a", "b"), dict.fromkeys("abcd"))
    rates = {
        "a": {"in": 1000, "out": 500, "busy_ms": 700},
        "b": {"in": 200, "out": 300, "busy_ms": 700},
        "c": {"in": 600, "busy_ms": 700},
        "d": {"in": 200, "busy_ms": 700},
    }
    advice = asked(flink(), Steady(dict.fromkeys("abcd", 1), rates, graph), 120)
    assert values(advice, "target") == {"a": 1000, "b": 200, "c": 600, "d": 200}
    rates["a"] |= {"lag_per_s": 1000}
    advice = asked(flink(), Steady(dict.fromkeys("abcd", 1), rates, graph), 120)
    assert values(advice, "target") == {"a": 2000, "b": 200, "c": 1100, "d": 200}


def test_an_action_without_effect_is_told_and_blocks_only_if_asked_to() -> None:
    def after_one(effect: bool) -> Advice:
        policy, job = flink(effectiveness_detection=effect, utilization_max=0.8), Steady({"source": 10, "map": 10}, busy(695, 950))
        advice = asked(policy, job, 120)
        assert advice.parallelism == {"source": 10, "map": 14}
        policy.acted({"source": 10, "map": 10}, advice.parallelism, 120 * S)
        job.parallelism, job.since_s = advice.parallelism, 150
        return asked(policy, job, 300, from_s=165)

    told, blocked = after_one(False), after_one(True)
    assert values(told, "ineffective") == values(blocked, "ineffective") == {"map": 1}
    assert told.parallelism["map"] == 20
    assert blocked.parallelism["map"] == 14


def test_the_longest_restart_counts_if_it_is_asked_to() -> None:
    for tracking, capacity in ((False, 1000 * 60 / Fraction(300)), (True, 1000 * 90 / Fraction(300))):
        policy = flink(catch_up_s=300, restart_s=60, restart_tracking=tracking)
        job = Steady({"source": 10, "map": 10}, busy(700, 700))
        asked(policy, job, 120)
        policy.acted({"source": 10, "map": 10}, {"source": 10, "map": 10}, 120 * S)
        job.since_s = 210
        advice = asked(policy, job, 400, from_s=225)
        wanted = int(capacity + Fraction(10_000, 7) + Fraction(1, 2))
        assert values(advice, "factor")["map"] == wanted / Fraction(10_000, 7)


def test_observed_scaling_makes_up_for_what_instances_are_worth() -> None:
    """Actions on 10 and 20 instances, which had 1,000 and 1,600 records per second."""
    policy = flink(observed_scalability=True, scalability_observations=2)
    job = Steady({"source": 10, "map": 10}, busy(700, 700))
    plain = values(asked(policy, job, 120), "factor")["map"]
    state = policy.state()
    state["history"] = {"map": [[60 * S, 10, 20, "1000", "2000"], [90 * S, 20, 10, "1600", "800"]]}
    policy.restore(state)
    alpha = Fraction(10 * 1000 + 20 * 1600) / (100 * (100 + 400))
    assert alpha == Fraction(84, 100)
    assert values(asked(policy, job, 135, from_s=135), "factor")["map"] == plain / alpha
    policy._options = policy._options.model_copy(update={"scalability_min": 0.9})
    assert values(asked(policy, job, 150, from_s=150), "factor")["map"] == plain / Fraction(9, 10)


@pytest.mark.parametrize(("aggregator", "true_rate"), [("max", 1000), ("mean", 1500), ("min", 3000)])
def test_which_instance_counts(aggregator: str, true_rate: int) -> None:
    """Three instances are busy all the time, 0.6667 and 0.3333 of it."""
    rates = busy(0, 0, rate=900)
    rates["map"]["busy_ms"] = [900, 600, 300]
    advice = asked(flink(busy_aggregator=aggregator), Steady({"source": 1, "map": 3}, rates), 120)
    assert values(advice, "tpr")["map"] == true_rate


def test_more_instances_than_a_vertex_may_have() -> None:
    advice = asked(flink(parallelism_max=12), Steady({"source": 10, "map": 10}, busy(700, 1000)), 120)
    assert advice.parallelism["map"] == 10, "1.0 is not above the band, which ends there"
    advice = asked(flink(parallelism_max=12, utilization_max=0.9), Steady({"source": 10, "map": 10}, busy(700, 1000)), 120)
    assert advice.parallelism["map"] == 12
    advice = asked(flink(parallelism_max=12, utilization_max=0.9), Steady({"source": 10, "map": 20}, busy(700, 1000)), 120)
    assert advice.parallelism["map"] == 20, "and is never scaled down by it"


def test_bounds_are_where_the_specification_has_them() -> None:
    """A source that is just far enough behind; a vertex that would be too slow only if a restart counted, which it does not for that."""
    rates = busy(600, 600)
    rates["source"] |= {"lag": 30_000}
    job = Steady({"source": 10, "map": 10}, rates)
    assert values(asked(flink(), job, 120), "tpr")["source"] == 1000
    assert values(asked(flink(observations_min=5), job, 120), "tpr")["source"] == Fraction(10_000, 6), "four of them in a window"
    job = Steady({"source": 10, "map": 10}, busy(600, 770))
    advice = asked(flink(catch_up_s=300, restart_s=60, utilization_target=0.6, utilization_max=0.8), job, 120)
    assert values(advice, "factor")["map"] > 1
    assert advice.parallelism == {"source": 10, "map": 10}


def test_no_vertex_is_to_serve_less_than_nothing() -> None:
    rates = busy(600, 600)
    rates["source"] |= {"lag": 10**6, "lag_per_s": -2000}
    assert values(asked(flink(), Steady({"source": 10, "map": 10}, rates), 120), "target") == {"source": 0, "map": 0}
    graph = Graph(("a", "b", "c", "d"), (("a", "c"), ("b", "c"), ("b", "d")), ("a", "b"), dict.fromkeys("abcd"))
    several = {"a": {"in": 1000, "out": 500}, "b": {"in": 200, "out": 300}, "c": {"in": 400}, "d": {"in": 200}}  # c is behind
    assert values(asked(flink(), Steady(dict.fromkeys("abcd", 1), several, graph), 120), "target")["c"] == 500


def test_wishes_to_scale_down_grow_old() -> None:
    """If nothing is done when their time has come, for all are within the band, later ones count."""
    policy, job = flink(scale_down_interval_s=300, utilization_min=0.01), Steady({"source": 10, "map": 10}, busy(500, 500))
    asked(policy, job, 105)
    job.rates = busy(200, 200)
    asked(policy, job, 495, from_s=120)
    job.rates = busy(1, 1)
    policy._lower = Fraction(69, 100)
    assert asked(policy, job, 510, from_s=510).parallelism == {"source": 4, "map": 4}


def test_it_stays_on_its_side_when_it_aligns() -> None:
    policy = flink()
    assert policy._parallelism(66, Fraction(65, 66), 128) == 65
    assert policy._parallelism(64, Fraction(65, 64), 128) == 128
    assert flink(alignment="none")._parallelism(64, Fraction(65, 64), 128) == 65


def test_old_actions_are_forgotten() -> None:
    policy = flink(history_max=2, history_age_s=1000)
    for k, p in enumerate((2, 3, 4)):
        policy.acted({"map": p - 1}, {"map": p}, k * 100 * S)
    assert [action[2] for action in policy.state()["history"]["map"]] == [3, 4]
    policy.acted({"map": 4}, {"map": 5}, 1150 * S)
    assert [action[2] for action in policy.state()["history"]["map"]] == [4, 5]
    policy.acted({"map": 5}, {"map": 6}, 3000 * S)
    assert [action[2] for action in policy.state()["history"]["map"]] == [6]


def test_a_restart_that_was_seen_counts_up_to_a_limit() -> None:
    policy = flink(restart_tracking=True, restart_limit_s=50)
    job = Steady({"source": 1, "map": 1}, busy(700, 700))
    asked(policy, job, 120)
    policy.acted({"map": 1}, {"map": 2}, 120 * S)
    assert policy._restart_s() == 300, "none was seen"
    for since_s, seconds in ((160, 40), (300, 40)):  # the second one was nobody's order
        job.since_s = since_s
        asked(policy, job, since_s + 15, from_s=since_s + 15)
        assert policy._restart_s() == seconds
    policy.acted({"map": 2}, {"map": 1}, 400 * S)
    job.since_s = 490
    asked(policy, job, 495, from_s=495)
    assert policy._restart_s() == 50

"""Numbers of the specification of autoscalers (parts 3, 9.11, 9.12 and appendix A), exactly.

What this catches: a formula that is nearly right, floats where a ceiling follows (0.9 / 0.1 is 9.000000000000002 there), limits in another
order, division by nothing. The load patterns' numbers are in `tests/workloads/test_curves.py`.
"""

from __future__ import annotations

import json
from fractions import Fraction

import pytest

from engine.autoscaling.dhalion import Dhalion
from engine.autoscaling.ds2 import DS2
from engine.autoscaling.flink import aligned
from engine.autoscaling.hpa_cpu import HPACpu
from engine.autoscaling.hpa_varga import HPAVarga
from engine.autoscaling.limits import Limit, Step, fit, limited
from engine.autoscaling.metrics import Graph, counter_rate, signed_rate, slope
from engine.autoscaling.policy import UNBOUNDED, NoAdvice
from engine.autoscaling.stabilising import Stabiliser
from engine.spec.experiment import scaling
from engine.spec.experiment.scaling.flink import FLINK_PRESETS, FlinkOptions

from ...support.policies import POLICIES, policy_of
from ...support.told_metrics import LINE, Told, values

S = 10**9
ALONE = Graph(("source", "map"), (("source", "map"),), ("source",))
BOUNDS = dict.fromkeys(LINE.operators, Limit())


def limits(current: dict[str, int], wanted: dict[str, int], over: float = 1.2, step_max: int | None = 15) -> dict[str, int]:
    found, _ = limited(current, wanted, Fraction(str(over)), step_max, dict.fromkeys(wanted, Limit()), 70)
    return found


# DS2


def iteration_of_the_artifact() -> Told:
    """One real iteration: ten instances each, always busy, so that their rates are the true ones."""
    rates = {"source": (4_304_704.66, 4_657_040), "window": (2_059_984.86, 39_689.4), "sink": (15_949_625, 0)}
    tenth = {vertex: (Fraction(str(taken)) / 10, Fraction(str(put)) / 10) for vertex, (taken, put) in rates.items()}
    readings = {vertex: {"busy_ms": 1000, "records_in": taken, "records_out_per_s": put} for vertex, (taken, put) in tenth.items()}
    return Told(LINE, dict.fromkeys(LINE.operators, 10), readings, {"source": 2_273_148.1})


def test_ds2_decides_as_the_artifact_did() -> None:
    advice = DS2(scaling.ds2.DS2()).advise(iteration_of_the_artifact())
    needed = values(advice, "opt")
    assert [f"{float(value):.5g}" for value in needed.values() if value is not None] == ["5.2806", "11.938", "0.029707"]
    assert advice.parallelism == {"source": 6, "window": 12, "sink": 1}
    current = dict.fromkeys(LINE.operators, 10)
    assert limits(current, advice.parallelism) == {"source": 8, "window": 15, "sink": 2}
    assert limits(current, advice.parallelism, over=1.0) == {"source": 6, "window": 12, "sink": 1}


def test_ds2_takes_an_idle_operator_with_input_for_infinitely_slow() -> None:
    """A window that fires once a minute: in between the sink has no true rate, and is given as many instances as a step allows."""
    readings = {"source": {"busy_ms": 500, "records_in": 100, "records_out_per_s": 100}, "map": {"busy_ms": 0}}
    advice = DS2(scaling.ds2.DS2()).advise(Told(ALONE, {"source": 2, "map": 2}, readings, {"source": 200}))
    assert advice.parallelism["map"] == UNBOUNDED == 2**32 - 1
    assert values(advice, "opt")["map"] is None
    assert limits({"source": 2, "map": 2}, advice.parallelism)["map"] == 2 + 15


def test_ds2_leaves_one_instance_to_what_has_neither_input_nor_rate() -> None:
    readings = {"source": {"busy_ms": 0}, "map": {"busy_ms": 0}}
    advice = DS2(scaling.ds2.DS2()).advise(Told(ALONE, {"source": 2, "map": 2}, readings, {"source": 0}))
    assert advice.parallelism == {"source": 1, "map": 1}
    assert limits({"source": 2, "map": 2}, advice.parallelism) == {"source": 2, "map": 2}, "with over-provisioning nothing has one"


def test_ds2_takes_stolen_time_into_account_where_it_is_told_of_it() -> None:
    readings = {"source": {"busy_ms": 700, "records_in": 700, "records_out_per_s": 0}}
    job = Told(Graph(("source",), (), ("source",)), {"source": 1}, readings, {"source": 1400})
    assert values(DS2(scaling.ds2.DS2()).advise(job), "tpr")["source"] == 1000
    assert values(DS2(scaling.ds2.DS2(busy_max=0.7)).advise(job), "tpr")["source"] == 700


# Limits


def test_a_wish_beyond_all_workers_is_fitted() -> None:
    assert fit({"a": 10, "b": 60, "c": 40}, 70) == {"a": 7, "b": 38, "c": 25}
    assert fit({"a": 2, "b": 2}, 3) == {"a": 2, "b": 1}, "halves are rounded to even; what is left over goes to the first of the largest"
    assert fit({"a": 1, "b": 6, "c": 10}, 10) == {"a": 1, "b": 3, "c": 6}, "1, 3 and 5, and one left over for the largest"


def test_a_step_is_limited_upwards_only() -> None:
    current = {"source": 20, "window": 20, "sink": 20}
    assert limits(current, {"source": 1, "window": 60, "sink": 20}, over=1) == {"source": 1, "window": 35, "sink": 20}
    assert limits(current, {"source": 1, "window": 48, "sink": 20}, over=1, step_max=None) == {"source": 1, "window": 48, "sink": 20}


def test_each_rule_that_changes_something_is_told() -> None:
    current = {"source": 10, "window": 20, "sink": 1}
    bounds = BOUNDS | {"sink": Limit(1, 1)}
    found, steps = limited(current, {"source": 30, "window": 50, "sink": 1}, Fraction("1.2"), 15, bounds, 40)
    assert [step.rule for step in steps] == ["over_provisioning", "step_max", "bounds", "workers_max"]
    assert steps[0] == Step("over_provisioning", {"source": 36, "window": 60, "sink": 2})
    assert steps[1] == Step("step_max", {"source": 25, "window": 35})
    assert steps[2] == Step("bounds", {"sink": 1})
    assert found == {"source": 17, "window": 22, "sink": 1} | steps[3].parallelism
    assert sum(found.values()) == 40


# Dhalion


def behind_backpressure(p: int, blocked_ms: float) -> Told:
    readings = {"source": {"blocked": 1, "blocked_ms": blocked_ms}, "map": {"fill_ppm": 900_000}}
    return Told(ALONE, {"source": 1, "map": p}, readings)


def test_dhalion_scales_up_by_the_time_that_senders_are_blocked() -> None:
    advice = Dhalion(scaling.dhalion.Dhalion()).advise(behind_backpressure(8, 200))
    assert advice.bottlenecks == ["map"]
    assert values(advice, "beta") == {"map": Fraction(1, 5)}
    assert advice.parallelism == {"source": 1, "map": 10}


@pytest.mark.parametrize("p", range(1, 71))
def test_dhalion_takes_no_sender_for_blocked_for_more_than_nine_tenths(p: int) -> None:
    """Floats would make 10 p + 1 of it for some p."""
    assert Dhalion(scaling.dhalion.Dhalion()).advise(behind_backpressure(p, 950)).parallelism["map"] == 10 * p


@pytest.mark.parametrize(("p", "wanted"), [(1, 1), (2, 1), (4, 3), (5, 4), (10, 8)])
def test_dhalion_takes_a_fifth_away_where_nothing_waits(p: int, wanted: int) -> None:
    advice = Dhalion(scaling.dhalion.Dhalion()).advise(Told(ALONE, {"source": p, "map": p}, {}))
    assert advice.parallelism == {"source": wanted, "map": wanted}


def test_dhalion_scales_a_source_by_the_growth_of_its_queue() -> None:
    readings = {"source": {"pending_rate": 300_000, "records_in": 400_000}, "map": {"fill_ppm": 900_000}}
    advice = Dhalion(scaling.dhalion.Dhalion()).advise(Told(ALONE, {"source": 2, "map": 1}, readings))
    assert advice.bottlenecks == ["source"]
    assert values(advice, "factor") == {"source": Fraction(3, 4)}
    assert advice.parallelism == {"source": 4, "map": 1}


def test_dhalion_goes_on_wanting_what_it_wanted() -> None:
    """The artifact's wishes outlive an iteration, so one that was cut is repeated."""
    policy = Dhalion(scaling.dhalion.Dhalion())
    assert policy.advise(behind_backpressure(40, 950)).parallelism["map"] == 400
    calm = {"source": {"pending_rate": 20_000, "records_in": 10**6}, "map": {"fill_ppm": 900_000}}  # a bottleneck again, another one
    assert policy.advise(Told(ALONE, {"source": 1, "map": 55}, calm)).parallelism == {"source": 2, "map": 400}


def test_a_queue_that_drains_seems_to_grow_unless_signs_count() -> None:
    readings = {"source": {"pending_rate": 50_000, "pending_growth": -2_000, "records_in": 100_000}, "map": {"fill_ppm": 900_000}}
    job = Told(ALONE, {"source": 4, "map": 4}, readings)
    assert Dhalion(scaling.dhalion.Dhalion()).advise(job).bottlenecks == ["source"]
    signed = Dhalion(scaling.dhalion.Dhalion(pending_rate="signed")).advise(job)
    assert signed.bottlenecks == []
    assert signed.parallelism == {"source": 3, "map": 4}


def test_just_as_much_as_a_threshold_is_not_more() -> None:
    readings = {"source": {"pending_rate": 100, "records_in": 1000}, "map": {"fill_ppm": 200_001}}
    advice = Dhalion(scaling.dhalion.Dhalion(empty_lag=1000)).advise(Told(ALONE, {"source": 10, "map": 10}, readings))
    assert advice.bottlenecks == []
    assert advice.parallelism == {"source": 8, "map": 10}
    readings["map"]["fill_ppm"] = 200_000
    assert Dhalion(scaling.dhalion.Dhalion()).advise(Told(ALONE, {"source": 10, "map": 10}, readings)).parallelism["map"] == 8


# HPA


@pytest.mark.parametrize(("cpu", "wanted"), [(1.0, 8), (0.8, 6), (0.2, 2)])
def test_hpa_follows_the_ratio_of_load_to_target(cpu: float, wanted: int) -> None:
    job = Told(ALONE, {"source": 5, "map": 5}, {"map": {"cpu_ppm": round(cpu * 10**6)}})
    assert HPACpu(scaling.hpa_cpu.HPACpu()).advise(job).parallelism == {"source": 1, "map": wanted}


def test_hpa_keeps_an_operator_that_nothing_is_known_of() -> None:
    job = Told(ALONE, {"source": 5, "map": 5}, {"source": {"cpu_ppm": 10**6}}, absent=["map"])
    assert HPACpu(scaling.hpa_cpu.HPACpu()).advise(job).parallelism == {"source": 8, "map": 5}


@pytest.mark.parametrize(("ago_s", "wanted"), [(290, 8), (300, 8), (301, 3)])
def test_the_greatest_wish_of_five_minutes_counts(ago_s: int, wanted: int) -> None:
    stabiliser = Stabiliser(300 * S)
    assert stabiliser.wish("map", 8, (1000 - ago_s) * S) == 8
    assert stabiliser.wish("map", 3, 1000 * S) == wanted


@pytest.mark.parametrize(
    ("kind", "high", "low", "name", "now"),
    [
        ("hpa_cpu", {"cpu_ppm": 10**6}, {"cpu_ppm": 210_000}, "r", Fraction(3, 10)),
        ("hpa_varga", {"idle_ms": 0}, {"idle_ms": 790}, "util", Fraction(21, 100)),
    ],
)
def test_an_hpa_tells_the_greatest_wish_of_its_window(
    kind: str, high: dict[str, int], low: dict[str, int], name: str, now: Fraction
) -> None:
    """So advice is explained that is above what the readings of now ask for."""
    policy = {"hpa_cpu": HPACpu(scaling.hpa_cpu.HPACpu()), "hpa_varga": HPAVarga(scaling.hpa_varga.HPAVarga())}[kind]
    five = {"source": 5, "map": 5}
    policy.advise(Told(ALONE, five, {"source": high, "map": high}))
    advice = policy.advise(Told(ALONE, five, {"source": low, "map": low}, now_s=1015))
    assert values(advice, name) == {"source": now, "map": now}
    assert values(advice, "window") == advice.parallelism == {"source": 8, "map": 8}


def test_varga_follows_the_growth_of_queues() -> None:
    """Six instances that are busy enough; half a million more records wait each second, of two million that are read."""
    readings = {
        "source": {"pending_rate": Fraction(500_000, 6), "pending_slope": Fraction(500_000, 6), "records_in": Fraction(2_000_000, 6)},
        "map": {"idle_ms": 300},
    }
    readings["source"]["idle_ms"] = 300
    advice = HPAVarga(scaling.hpa_varga.HPAVarga()).advise(Told(ALONE, {"source": 6, "map": 6}, readings))
    assert advice.bottlenecks == ["source"]
    assert values(advice, "rel") == {"source": Fraction(5, 4), "map": None}
    assert advice.parallelism == {"source": 8, "map": 6}


def test_varga_takes_a_blocked_source_for_used() -> None:
    """A slow operator behind it: the source is never idle, so it grows, though it is not the bottleneck."""
    readings = {"source": {"idle_ms": 0, "blocked": 1, "records_in": 1000}, "map": {"idle_ms": 300}}
    advice = HPAVarga(scaling.hpa_varga.HPAVarga()).advise(Told(ALONE, {"source": 7, "map": 7}, readings))
    assert advice.bottlenecks == ["map"]
    assert advice.parallelism == {"source": 10, "map": 7}


def test_varga_leaves_short_queues_out_if_asked_to() -> None:
    readings = {"source": {"idle_ms": 300, "pending": 10_000, "pending_rate": 20_000, "pending_slope": 20_000, "records_in": 1000}}
    readings["map"] = {"idle_ms": 300}
    job = Told(ALONE, {"source": 4, "map": 4}, readings)
    assert HPAVarga(scaling.hpa_varga.HPAVarga()).advise(job).parallelism["source"] == 4 * 21
    assert HPAVarga(scaling.hpa_varga.HPAVarga(lag_threshold=40_000)).advise(job).parallelism["source"] == 4 * 21
    assert HPAVarga(scaling.hpa_varga.HPAVarga(lag_threshold=40_001)).advise(job).parallelism["source"] == 4


# Rates


def test_counters_begin_anew_where_they_fall() -> None:
    assert counter_rate([100, 60, 50], 15 * S) == Fraction(110, 15)
    assert counter_rate([0, 50, 100, 150], 15 * S) == 10


def test_a_queue_that_drains() -> None:
    assert counter_rate([100, 60, 50], 15 * S) > 0
    assert signed_rate([100, 60, 50], 15 * S) == Fraction(-50, 15)


def test_slopes_are_least_squares() -> None:
    assert slope([0, 5 * S, 10 * S], [0, 50, 100]) == 10
    assert slope([0, 1 * S, 2 * S, 3 * S], [0, 3, 1, 4]) == 1  # by hand: sum of (t - 1.5) v is 5 of 5


# Flink


@pytest.mark.parametrize(
    ("wanted", "parts", "most", "found"),
    [
        (5, 128, 70, 6),  # 128 // 6 is 21, and 128 // 5 is 25
        (63, 128, 70, 64),  # divides
        (17, 128, 70, 19),  # 128 // 19 is 6, and 128 // 17 is 7
        (33, 128, 70, 43),  # two groups at least for some, not three
        (65, 128, 70, 65),  # nothing better up to the limit
        (64, 128, 70, 64),
        (11, 70, 70, 12),  # 70 // 12 is 5
        (36, 70, 70, 70),
        (12, 128, 14, 13),
        (15, 128, 15, 15),
    ],
)
def test_flink_adds_no_instance_that_spares_nobody_anything(wanted: int, parts: int, most: int, found: int) -> None:
    assert aligned(wanted, parts, most) == found


def test_options_of_flink_are_those_of_its_documentation() -> None:
    assert FlinkOptions().model_dump() == {
        "stabilization_s": 5 * 60,
        "window_s": 15 * 60,
        "utilization_target": 0.7,
        "utilization_max": None,
        "utilization_min": None,
        "scale_down_interval_s": 60 * 60,
        "scale_down_factor_max": 0.6,
        "scale_up_factor_max": 100_000,
        "catch_up_s": 30 * 60,
        "restart_s": 5 * 60,
        "restart_tracking": False,
        "restart_limit_s": 15 * 60,
        "backlog_lag_s": 5 * 60,
        "observed_lag_s": 30,
        "observations_min": 2,
        "switch_threshold": 0.15,
        "busy_aggregator": "max",
        "parallelism_min": 1,
        "parallelism_max": 200,
        "effectiveness_detection": False,
        "effectiveness_threshold": 0.1,
        "history_max": 3,
        "history_age_s": 86_400,
        "observed_scalability": False,
        "scalability_min": 0.5,
        "scalability_observations": 3,
        "alignment": "balanced",
        "beyond_workers": "fit",
    }
    assert scaling.flink.Flink().options == FlinkOptions()
    assert (FlinkOptions().utilization_upper, FlinkOptions().utilization_lower) == (1.0, 0.4)


def test_presets_of_flink() -> None:
    tuned, tuned07 = scaling.flink.Flink(preset="tuned").options, scaling.flink.Flink(preset="tuned07").options
    assert (tuned.window_s, tuned.stabilization_s, tuned.catch_up_s, tuned.restart_s, tuned.scale_down_interval_s) == (
        120,
        30,
        300,
        60,
        300,
    )
    assert (tuned.utilization_lower, tuned.utilization_target, tuned.utilization_upper, tuned.parallelism_max) == (0.4, 0.6, 0.8, 70)
    assert (tuned07.window_s, tuned07.stabilization_s, tuned07.catch_up_s) == (180, 60, 600)
    assert (tuned07.utilization_lower, tuned07.utilization_target, tuned07.utilization_upper) == (0.4, 0.7, 1.0)
    assert scaling.flink.Flink(preset="tuned", window_s=60).options.window_s == 60
    assert {*FLINK_PRESETS} == {"default", "tuned", "tuned07"}


def test_flink_has_no_cooldown_and_no_limit_of_a_step_unless_asked_for() -> None:
    assert (scaling.flink.Flink().cooldown_s, scaling.flink.Flink().step_max) == (0, None)
    study = scaling.ds2.DS2()
    assert (study.cooldown_s, study.step_max, study.call_s, study.start_s) == (300, 15, 8, 120)


# All


@pytest.mark.parametrize("kind", POLICIES)
def test_policies_say_nothing_where_nothing_is_known_of_the_source(kind: str) -> None:
    policy = policy_of(POLICIES[kind]())
    job = Told(ALONE, {"source": 2, "map": 3}, {}, {"source": 100}, absent=["source"])
    if kind == "hpa_cpu":
        assert policy.advise(job).parallelism["source"] == 2
        return
    if kind in ("hpa_k8s", "varga_original"):  # they know pods, not sources: without load, and never idle
        assert policy.advise(job).parallelism == dict.fromkeys(ALONE.operators, 3 if kind == "hpa_k8s" else 5)
        return
    with pytest.raises(NoAdvice, match="no instance of source has been scraped"):
        policy.advise(job)
    json.dumps(policy.state())

"""Autoscalers as their authors had them (specification, section 4): numbers computed by hand.

What this catches: a sum where a mean belongs or the other way round, a rule of Kubernetes left out, small changes that are carried out,
sources that are scaled, a warm-up that is not counted from the restart.
"""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import pytest

from engine.autoscaling.dhalion_heron import DhalionHeron
from engine.autoscaling.ds2_original import DS2Original
from engine.autoscaling.hpa_k8s import HPAK8s
from engine.autoscaling.policy import UNBOUNDED
from engine.autoscaling.varga_original import VargaOriginal
from engine.spec.experiment import scaling

from ...support.told_metrics import LINE, Told, values

TEN = dict.fromkeys(LINE.operators, 10)


# Dhalion in Heron


@pytest.mark.parametrize(
    ("each_ms", "factor", "wanted"),
    [
        ([10, 10], Fraction(20, 980), 9),  # 0.02 s a second, of both instances: 8 x 1.0204
        ([100, 100], Fraction(1, 4), 10),
        ([500, 250], Fraction(3), 32),
        ([400, 450], Fraction(4), 40),  # 0.85 / 0.15 is more than 4
        ([600, 600], Fraction(4), 40),  # more than a second a second
    ],
)
def test_dhalion_in_heron_sums_blocked_time_over_instances(each_ms: list[int], factor: Fraction, wanted: int) -> None:
    job = Told(LINE, {"source": 2, "window": 8, "sink": 3}, {"source": {"blocked": 1, "blocked_ms": each_ms}})
    advice = DhalionHeron(scaling.dhalion_heron.DhalionHeron()).advise(job)
    assert values(advice, "factor") == {"window": factor}
    assert advice.parallelism == {"source": 2, "window": wanted, "sink": 3}
    assert list(advice.bottlenecks) == ["window"]


def test_dhalion_in_heron_never_scales_down_and_leaves_sources_alone() -> None:
    idle = {vertex: {"pending_rate": 10**6, "fill_ppm": 0} for vertex in LINE.operators}
    assert DhalionHeron(scaling.dhalion_heron.DhalionHeron()).advise(Told(LINE, TEN, idle)).parallelism == TEN


def test_dhalion_in_heron_follows_backpressure_to_where_it_ends() -> None:
    """The window is blocked itself: the sink is to blame."""
    held = {"blocked": [1] + [0] * 9, "blocked_ms": 10}
    advice = DhalionHeron(scaling.dhalion_heron.DhalionHeron()).advise(Told(LINE, TEN, {"source": held, "window": held}))
    assert advice.parallelism == TEN | {"sink": 12}  # 0.1 s a second: 10 x (1 + 1 / 9)


# DS2


def rates(window_busy_ms: int = 500, sink_busy_ms: int = 250) -> dict[str, dict[str, Any]]:
    """Of ten instances each: 20,000 records a second come to the source, which reads 10,000 of them."""
    return {
        "source": {"busy_ms": 500, "records_in": 1000, "records_out": 1000},
        "window": {"busy_ms": window_busy_ms, "records_in": 1000, "records_out": 100, "records_out_per_s": 999},
        "sink": {"busy_ms": sink_busy_ms, "records_in": 100},
    }


def warm(about: scaling.ds2_original.DS2Original) -> DS2Original:
    policy = DS2Original(about)
    for k in range(about.warm_up):
        advice = policy.advise(Told(LINE, TEN, rates(), {"source": 20_000}))
        assert advice.parallelism == TEN
        assert advice.why == f"warm-up: interval {k + 1} of {about.warm_up}"
    return policy


def test_ds2_as_published_takes_rates_of_one_interval_and_leaves_sources() -> None:
    """True rates are 20,000 of the window, which all come to it, and 4,000 of the sink, which gets 2,000: 10 and 5 do."""
    advice = warm(scaling.ds2_original.DS2Original()).advise(Told(LINE, TEN, rates(), {"source": 20_000}))
    assert values(advice, "opt") == {"window": 10, "sink": 5}
    assert advice.parallelism == {"source": 10, "window": 10, "sink": 5}
    more = warm(scaling.ds2_original.DS2Original(factor=0.15)).advise(Told(LINE, TEN, rates(), {"source": 20_000}))
    assert more.parallelism == {"source": 10, "window": 12, "sink": 6}  # 11.5, 5.75


@pytest.mark.parametrize(
    ("sink_busy_ms", "window_busy_ms", "wanted"),
    [
        (450, 500, {"source": 10, "window": 10, "sink": 10}),  # the sink could do with 9: one less is nothing
        (400, 500, {"source": 10, "window": 10, "sink": 8}),
        (450, 510, {"source": 10, "window": 11, "sink": 9}),  # the window needs one more, so all is carried out
    ],
)
def test_ds2_as_published_does_not_act_for_one_instance_less(sink_busy_ms: int, window_busy_ms: int, wanted: dict[str, int]) -> None:
    job = Told(LINE, TEN, rates(window_busy_ms, sink_busy_ms), {"source": 20_000})
    assert warm(scaling.ds2_original.DS2Original()).advise(job).parallelism == wanted


def test_ds2_as_published_makes_up_for_what_sources_do_not_read() -> None:
    """Nobody needs more, and twice what is read comes: all but sources twice. Not where somebody needs more, nor below the ratio."""
    about = scaling.ds2_original.DS2Original(rate_ratio_max=1.9)
    job = Told(LINE, TEN, rates(), {"source": 20_000})
    advice = warm(about).advise(job)
    assert advice.parallelism == {"source": 10, "window": 20, "sink": 10}
    assert values(advice, "rate_ratio") == {"source": 2}
    assert warm(about).advise(Told(LINE, TEN, rates(510), {"source": 20_000})).parallelism == {"source": 10, "window": 11, "sink": 5}
    assert warm(scaling.ds2_original.DS2Original(rate_ratio_max=2)).advise(job).parallelism == {"source": 10, "window": 10, "sink": 5}


def test_ds2_as_published_divides_by_nothing() -> None:
    readings = rates() | {"sink": {"busy_ms": 0}}
    assert warm(scaling.ds2_original.DS2Original()).advise(Told(LINE, TEN, readings, {"source": 20_000})).parallelism["sink"] == UNBOUNDED
    readings["window"] = {"busy_ms": 500, "records_in": 1000, "records_out": 0}
    assert warm(scaling.ds2_original.DS2Original()).advise(Told(LINE, TEN, readings, {"source": 20_000})).parallelism["sink"] == 1


def test_ds2_as_published_warms_up_behind_each_restart_and_waits_for_its_activation() -> None:
    policy = warm(scaling.ds2_original.DS2Original(activation=2))
    job = Told(LINE, TEN, rates(), {"source": 20_000})
    assert policy.advise(job).why == "decision 1 of 2"
    assert policy.advise(job).parallelism["sink"] == 5
    again = DS2Original(scaling.ds2_original.DS2Original(activation=2))
    again.restore(json.loads(json.dumps(policy.state())))
    assert again.advise(job).parallelism["sink"] == 5
    restarted = Told(LINE, TEN, rates(), {"source": 20_000}, since_s=900)
    assert [policy.advise(restarted).why for _ in range(4)] == [
        "warm-up: interval 1 of 2",
        "warm-up: interval 2 of 2",
        "decision 1 of 2",
        "",
    ]
    policy.acted(TEN, TEN, 10**12)  # and behind each action, though nothing should restart
    assert policy.advise(restarted).why == "warm-up: interval 1 of 2"


# Kubernetes' autoscaler on a job


def job(p: int, now_s: float = 1000, cpu: float = 0.7, **pending: Any) -> Told:
    """Three operators; the source and the sink load their CPU as much as the window but for a tenth up and down."""
    loads = {"source": cpu + 0.1, "window": cpu, "sink": cpu - 0.1}
    readings = {vertex: {"cpu_ppm": round(load * 10**6), "idle_ms": round(1000 - load * 1000)} for vertex, load in loads.items()}
    readings["source"] |= pending
    return Told(LINE, dict.fromkeys(LINE.operators, p), readings, now_s=now_s)


@pytest.mark.parametrize(
    ("p", "cpu", "wanted"),
    [
        (10, 0.77, 10),  # within the tolerance: just 1.1
        (10, 0.78, 12),  # 11.14
        (10, 0.63, 10),
        (4, 0.9, 6),  # 5.14
        (20, 0.9, 23),  # 25.7, and no more than 23 of each of three are 70 workers
    ],
)
def test_kubernetes_scales_a_job_by_one_number(p: int, cpu: float, wanted: int) -> None:
    advice = HPAK8s(scaling.hpa_k8s.HPAK8s()).advise(job(p, cpu=cpu))
    assert advice.parallelism == dict.fromkeys(LINE.operators, wanted)
    assert values(advice, "r")["window"] == Fraction(str(cpu)) / Fraction("0.7")


@pytest.mark.parametrize(("p", "wanted"), [(1, 5), (3, 7), (4, 8), (6, 12)])
def test_kubernetes_adds_four_or_as_many_as_there_are(p: int, wanted: int) -> None:
    assert HPAK8s(scaling.hpa_k8s.HPAK8s(target=0.1)).advise(job(p)).parallelism == dict.fromkeys(LINE.operators, wanted)


def test_kubernetes_scales_down_to_the_greatest_wish_of_five_minutes() -> None:
    """What there was when it began is a wish, too; and an old wish never scales up."""
    policy = HPAK8s(scaling.hpa_k8s.HPAK8s())
    steps = [
        (0, 10, 0.35, 10),  # wants 5
        (150, 10, 0.49, 10),  # wants 7
        (300, 10, 0.35, 10),  # the 10 of the beginning are just five minutes old
        (315, 10, 0.35, 7),
        (400, 6, 0.35, 6),  # 3 is wanted, the greatest wish is 7, and 6 are there
        (451, 6, 0.35, 5),  # of 300 and 315
    ]
    for at_s, p, cpu, wanted in steps:
        asked = job(p, 1000 + at_s, cpu)
        again = HPAK8s(scaling.hpa_k8s.HPAK8s())
        again.restore(json.loads(json.dumps(policy.state())))
        assert policy.advise(asked).parallelism["window"] == again.advise(asked).parallelism["window"] == wanted, at_s


@pytest.mark.parametrize(
    ("lag", "slope", "cpu", "wanted"),
    [
        (5000, 250, 0.7, 10),  # 50,000 wait, which is not more than the threshold
        (5001, 250, 0.7, 13),  # 1 + 2,500 / 10,000: 12.5
        (5001, 90, 0.7, 10),  # 1.09: within the tolerance
        (5001, 250, 0.9, 13),  # 12.86 by utilisation: the larger counts
        (5001, -250, 0.9, 13),
        (0, 0, 0.9, 13),
    ],
)
def test_varga_counts_growth_while_more_than_the_threshold_waits(lag: int, slope: int, cpu: float, wanted: int) -> None:
    """Each of ten sources reads 1,000 records a second."""
    told = job(10, cpu=cpu, pending=lag, pending_slope=slope, records_in=1000)
    advice = VargaOriginal(scaling.varga_original.VargaOriginal()).advise(told)
    assert advice.parallelism == dict.fromkeys(LINE.operators, wanted)
    assert values(advice, "rel")["source"] == (None if lag <= 5000 else 1 + Fraction(slope, 1000))
    assert values(advice, "util")["sink"] == Fraction(str(cpu))

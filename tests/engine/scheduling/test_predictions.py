"""Predicted watermarks when delays change behind the scheduler's back, and the linear regression that Klink is compared with."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.scheduling.cycle import Scheduler
from engine.scheduling.regression import Regression
from engine.workloads.delays import laws

from ...support.agreement import cut_saved_and_forked, finished, frames_of, simulated, traced
from ...support.scheduled_examples import contended

SWITCH_S = 12.0
HISTORY = 5


def changing(**params: Any) -> dict[str, Any]:
    """Below the knee, delays of 0 to 200 ms become 400 to 600 ms after twelve epochs."""
    document = contended(per_s=100, horizon_s=30, cores=4, history=HISTORY, **params)
    document["workload"]["sources"]["bids"] |= {
        "disorder": {
            "kind": "switched",
            "before": {"kind": "uniform", "max_ms": 200},
            "at_s": SWITCH_S,
            "after": {"kind": "uniform", "min_ms": 400, "max_ms": 600},
        },
        "watermarks": {"kind": "device", "lag_ms": 600, "period_ms": 100},
    }
    return document


def hit_rates(document: dict[str, Any], *times_s: float) -> list[float]:
    """Share of predictions that hit, between these times."""
    simulation = simulated(document, trace=False)
    judged = []
    for at_s in times_s:
        simulation.run_until(round(at_s * 1e9))
        assert simulation._scheduler is not None
        counts = simulation._scheduler.counts()
        judged.append((counts["hits"], counts["misses"]))
    return [(b[0] - a[0]) / (sum(b) - sum(a)) for a, b in pairwise(judged)]


def test_predictions_lag_behind_a_change_of_delays_and_recover_within_the_history() -> None:
    before, at_once, later = hit_rates(changing(), 5, SWITCH_S, SWITCH_S + 3, SWITCH_S + 3 + HISTORY)[0:3]
    recovered = hit_rates(changing(), SWITCH_S + 2 + HISTORY, 30)[0]
    assert before > 0.8  # 95 % of single delays; a watermark that overtakes is earlier
    assert at_once < 0.6
    assert at_once < later
    assert recovered > 0.85


def test_no_scheduler_reads_the_law_of_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    acting, asked, outside = [0], [], []
    act = Scheduler.act

    def watched(scheduler: Scheduler, *args: Any) -> None:
        acting[0] = 1
        act(scheduler, *args)
        acting[0] = 0

    monkeypatch.setattr(Scheduler, "act", watched)
    for law in (laws.Switched, laws.Uniform):
        of = law.of

        def asking(self: Any, *args: Any, of: Any = of) -> Any:
            (asked if acting[0] else outside).append(self)
            return of(self, *args)

        monkeypatch.setattr(law, "of", asking)
    finished(changing())
    assert outside
    assert not asked


# -- regression ----------------------------------------------------------------------------------------------------------------------


def test_a_line_is_learnt() -> None:
    """Of 3 + 2 x: an epoch's step is a thousandth, so it takes thousands of them."""
    regression = Regression()
    for n in range(20_000):
        regression.learn((n % 7, 0.0), 3.0 + 2.0 * (n % 7))
    assert regression.estimate((10.0, 0.0)) == pytest.approx(23.0, rel=0.01)


def test_nothing_is_estimated_from_one_epoch() -> None:
    regression = Regression()
    assert regression.estimate((1.0, 1.0)) is None
    regression.learn((1.0, 1.0), 5.0)
    assert regression.estimate((1.0, 1.0)) is None
    regression.learn((1.0, 1.0), 5.0)
    assert regression.estimate((1.0, 1.0)) == 5.0


@given(st.lists(st.tuples(st.floats(0, 1e9), st.floats(0, 1e6), st.floats(0, 1e10)), min_size=3, max_size=60))
def test_a_regression_is_the_same_after_it_was_saved(samples: list[tuple[float, float, float]]) -> None:
    whole, saved = Regression(), Regression()
    for last, mean, target in samples:
        whole.learn((last, mean), target)
        saved = Regression.restored(saved.state())
        saved.learn((last, mean), target)
    assert saved.estimate((1.0, 2.0)) == whole.estimate((1.0, 2.0))
    low, high = min(sample[2] for sample in samples), max(sample[2] for sample in samples)
    estimate = whole.estimate(samples[-1][:2])
    assert estimate is not None
    assert low - (high - low) <= estimate <= high + (high - low)


def test_the_regression_hits_less_often_than_the_history() -> None:
    """A cycle of 120 ms around the mean covers two fifths of uniform delays up to 600 ms."""
    rates = {}
    for estimator in ("history", "regression"):
        document = contended(per_s=100, horizon_s=20, cores=4, estimator=estimator)
        document["workload"]["sources"]["bids"] |= {
            "disorder": {"kind": "uniform", "max_ms": 600},
            "watermarks": {"kind": "device", "lag_ms": 600, "period_ms": 100},
        }
        summary = frames_of(simulated(document, trace=False))[-1]["scheduling"]
        rates[estimator] = summary["hit_rate"]
        if estimator == "regression":
            assert 240 < summary["width_ms"] < 320  # the first epochs have intervals
    assert rates["history"] > 0.85
    assert 0.25 < rates["regression"] < rates["history"] - 0.1


def test_a_run_with_the_regression_is_the_same_however_it_is_cut() -> None:
    document = contended(horizon_s=6, per_s=300, estimator="regression")
    assert cut_saved_and_forked(document, 810_000_001).digest() == traced(document).digest()

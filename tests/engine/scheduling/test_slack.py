"""Expected watermarks and slack: golden numbers of the specification, and brute force."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.core import layout as L
from engine.core.mathematics import normal_cdf
from engine.scheduling.slack import costs_ns, deviations, expected, expected_slack, slacks
from engine.scheduling.statistics import InputStatistics, _smooth, history_of
from engine.scheduling.tasks import Input
from engine.spec.experiment.scheduling.klink import Klink

from ...support.scheduled_examples import S, told


def slack(now: float, cost: float, mean: float = 1000, sd: float = 100, cycle: float = 120, z: float = 2, **options: bool) -> float:
    found, _ = expected_slack(now, *(np.array([value], np.float64) for value in (mean, sd, cost)), cycle, z, **options)
    return float(found[0])


@pytest.mark.parametrize(("now", "cost", "wanted"), [(500, 200, 356.016), (950, 200, -33.249), (500, 900, -326.271)])
def test_golden_slacks(now: float, cost: float, wanted: float) -> None:
    assert slack(now, cost) == pytest.approx(wanted, abs=0.0006)


def test_golden_bins() -> None:
    assert expected_slack(500, np.array([1000.0]), np.array([100.0]), np.array([200.0]), 120, 2.0)[1] == 4


def test_a_watermark_that_is_late_is_due_in_this_cycle() -> None:
    assert slack(1201, 50) == 120 - 50
    assert slack(1200, 50) != 120 - 50


def test_constant_delays_have_all_their_mass_at_one_time() -> None:
    assert slack(500, 200, sd=0) == 1000 + 120 - 500 - 200
    assert slack(1001, 200, sd=0) == 120 - 200


def test_normalised_shares_add_up_to_one() -> None:
    """Without a cost, the normalised slack lies between the first and the last bin's end."""
    assert slack(500, 0, normalise=True) == pytest.approx(slack(500, 0) / 0.9747, rel=1e-4)


@given(
    now=st.floats(0, 3000),
    mean=st.floats(500, 2000),
    sd=st.floats(1, 400),
    cost=st.floats(0, 2000),
    cycle=st.floats(10, 500),
    z=st.floats(1, 3),
)
def test_slacks_equal_the_listing(now: float, mean: float, sd: float, cost: float, cycle: float, z: float) -> None:
    """Algorithm 3, bin by bin, with the corrected cases."""

    def phi(x: float) -> float:
        return 0.5 * math.erfc(-x / math.sqrt(2))

    left = 1 - phi((now - mean) / sd)
    first, last = mean - z * sd, mean + z * sd
    bins = (last - max(now, first)) / cycle
    assume(abs(bins - round(bins)) > 1e-9)  # else rounding decides whether there is a last bin
    if now > last or left <= 0:
        wanted = cycle - cost
    else:
        wanted, x = 0.0, max(now, first)
        while x <= last:
            wanted += (phi((x + cycle - mean) / sd) - phi((x - mean) / sd)) / left * (x + cycle - now - cost)
            x += cycle
    assert slack(now, cost, mean, sd, cycle, z) == pytest.approx(wanted, rel=1e-6, abs=1e-6)


@given(st.floats(-40, 40))
def test_the_normal_distribution(x: float) -> None:
    found = float(normal_cdf(np.array([x]))[0])
    assert found == pytest.approx(0.5 * math.erfc(-x / math.sqrt(2)), abs=1e-13)
    if -36 < x < 0:
        assert found == pytest.approx(0.5 * math.erfc(-x / math.sqrt(2)), rel=1e-9)


@pytest.mark.parametrize(("confidence", "wanted"), [(0.95, 2.0), (0.9, 1.645), (0.99, 2.576)])
def test_widths_of_intervals(confidence: float, wanted: float) -> None:
    assert deviations(confidence) == pytest.approx(wanted, abs=0.0005)


# -- history -------------------------------------------------------------------------------------------------------------------------


class Told:
    """Of a world what the service reads of epochs."""

    def __init__(self, rows: list[list[int]], kept: int):
        self.epochs = np.zeros((kept, L.EPOCH_COLUMNS), np.int64)
        for n, row in enumerate(rows):
            self.epochs[n % kept] = row
        self.progress = np.zeros((1, L.PROGRESS_COLUMNS), np.int64)
        self.progress[0, L.PROGRESS_EPOCHS] = len(rows)
        self.g = np.zeros(L.G_COLUMNS, np.int64)
        self.g[L.G_EPOCHS] = kept


ABOUT = Input(0, 0, 0, ((S, S),), 0, 0, np.zeros(0, np.int64))
EPOCHS = [(100, 400), (120, 900), (140, 1600)]  # mean and variance of the delays, us
ROWS = [[1, mean, mean * mean + var, 0, n * S, n * S, n * S + 5, *[0] * (L.EPOCH_COLUMNS - 7)] for n, (mean, var) in enumerate(EPOCHS)]


@pytest.mark.parametrize(("variance", "wanted"), [("event", 1233.333), ("printed", 322.222)])
def test_golden_variances(variance: str, wanted: float) -> None:
    history = history_of(Told(ROWS, 400), ABOUT, 3)  # type: ignore[arg-type]
    found = expected(InputStatistics(0, 3, 0, history, 0.0, 0.0, 0, 0, -1, 0, 0), variance)
    assert (found.sd_ns / 1000) ** 2 == pytest.approx(wanted, abs=0.0005)
    assert found.mean_ns == 2 * S + S + 120_000


def test_epochs_before_the_last_ones_are_forgotten() -> None:
    older = [[1, 10**6, 10**12, 0, 0, 0, 0]] * 7
    assert history_of(Told([*older, *ROWS], 3), ABOUT, 10) == history_of(Told(ROWS, 3), ABOUT, 3)  # type: ignore[arg-type]


def test_squares_of_two_words() -> None:
    rows = [[2, 2 * 3_000_000_000, 2 * 9 * 10**18 - 3 * L.SQUARES, 3, 0, 0, 0]]
    assert history_of(Told(rows, 9), ABOUT, 1).squares_us2 == 9e18  # type: ignore[arg-type]


def test_a_source_that_is_behind_takes_watermarks_in_later() -> None:
    history = history_of(Told(ROWS, 400), ABOUT, 3)  # type: ignore[arg-type]
    behind = [expected(InputStatistics(0, 3, 0, history, 0.0, 0.0, 0, behind_ns, -1, 0, 0), "event") for behind_ns in (0, 7 * S)]
    assert behind[1] == (behind[0].mean_ns + 7 * S, behind[0].sd_ns)


def test_before_the_first_epoch_the_first_deadline_counts() -> None:
    about = InputStatistics(0, 0, -L.FAR, history_of(Told([], 4), ABOUT, 0), 150_000.0, 80_000.0, S, 0, -1, 0, S // 5)  # type: ignore[arg-type]
    assert expected(about, "event") == (S + S // 5 + 150_000_000, 80_000_000)


# -- cost ----------------------------------------------------------------------------------------------------------------------------


def test_what_waits_costs_its_whole_way() -> None:
    """Two records before a filter that keeps half, one behind it, three at the window: 2 x (1 + 0.5 x (2 + 4)) + (2 + 4) + 3 x 4 s."""
    chain = [(1.0, 0.5, 2), (2.0, 1.0, 1), (4.0, 0.0, 3)]
    assert costs_ns(told([chain], [9]))[0] == (8 + 6 + 12) * S


def test_windows_keep_what_they_take_in() -> None:
    """Of ten records the window has given one in the past, but only when it fired: 4 x 1 s, and nothing at the sink."""
    chain = [(1.0, 0.1, 4), (100.0, 1.0, 0)]
    assert costs_ns(told([chain], [9], windows=["a1"]))[0] == 4 * S
    assert costs_ns(told([chain], [9]))[0] == (4 + 40) * S


def test_the_next_firing_is_part_of_the_cost() -> None:
    """It takes the window 2 s, and gives three rows that take 5 s each behind it."""
    statistics = told([[(1.0, 0.1, 4), (5.0, 1.0, 0)]], [9], windows=["a1"])
    statistics.fired[1], statistics.firing_ns[1] = 3.0, 2.0 * S
    assert costs_ns(statistics)[0] == (4 + 2 + 15) * S


def test_what_waits_on_other_hosts_takes_from_the_slack() -> None:
    """Of a watermark that is expected, and of one that is overdue."""
    for oldest_ns in (-1, 0):
        alone = told([[(1.0, 0.0, 2)]], [9], now_s=1)
        alone = replace(alone, inputs=[replace(alone.inputs[0], oldest_ns=oldest_ns)])
        several = replace(alone, elsewhere_ns=np.array([3.0 * S]))
        before, after = (slacks(statistics, 0.95, "event", False) for statistics in (alone, several))
        assert before.slack_ns[0] - after.slack_ns[0] == 3 * S
        assert after.cost_ns[0] - before.cost_ns[0] == 3 * S


def test_measurements_are_smoothed() -> None:
    smoothed = np.array([np.nan, 10.0, 10.0])
    _smooth(smoothed, np.array([4.0, 20.0, 99.0]), np.array([True, True, False]))
    assert smoothed.tolist() == [4.0, 11.0, 10.0]


def test_a_query_uses_as_many_cores_as_its_slowest_task_lets_it() -> None:
    """The window alone takes 2 x 0.5 x 4 + 4 + 12 = 20 s of the 26, with any number of cores."""
    chain = [(1.0, 0.5, 2), (2.0, 1.0, 1), (4.0, 0.0, 3)]
    assert costs_ns(told([chain], [9], cores=8))[0] == 20 * S


def test_defaults_are_those_of_the_source() -> None:
    about = Klink()
    assert (about.history, about.cycle_ms, about.confidence) == (400, 120, 0.95)

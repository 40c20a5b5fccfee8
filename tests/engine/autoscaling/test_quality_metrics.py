"""Figures of a scaled run, over series made by hand; each against a twin that goes through it second by second."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.autoscaling.quality_metrics import (
    Action,
    Phase,
    area,
    follows,
    low_share,
    mean_between,
    phase,
    phases,
    spread,
    up_and_down,
    violation_ns,
    worker_hours,
)

S = 10**9
MIN = 60 * S


def staircase(most=70):
    """From second 0 on."""
    draw_values = st.integers(0, most)
    rest = st.dictionaries(st.integers(1, 900), draw_values, max_size=12)
    return st.tuples(draw_values, rest).map(lambda both: [(0, both[0]), *((at * S, value) for at, value in sorted(both[1].items()))])


def value_at(points, at_ns):
    return [value for since_ns, value in points if since_ns <= at_ns][-1]


@given(staircase(), st.integers(0, 1000), st.integers(0, 1000))
def test_area_is_the_sum_over_seconds(points, one, other):
    first, end = sorted((one, other))
    assert area(points, first * S, end * S) == S * sum(value_at(points, second * S) for second in range(first, end))


def test_before_the_first_point_nothing_counts():
    assert area([(10 * S, 3)], 0, 12 * S) == 6 * S
    assert area([], 0, S) == 0
    assert area([(0, 3)], 5 * S, 5 * S) == 0


def test_worker_hours_and_mean():
    workers = [(0, 15), (30 * MIN, 30), (90 * MIN, 6)]
    assert worker_hours(workers, 140 * MIN) == 15 * 0.5 + 30 + 6 * 50 / 60
    assert mean_between(workers, 0, 60 * MIN) == 22.5


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 20)), max_size=30))
def test_a_spread_over_records_is_that_of_each_record(rows):
    found = spread([value for value, _ in rows], [count for _, count in rows])
    every = sorted(value for value, count in rows for _ in range(count))
    if not every:
        assert found is None
        return
    assert found.mean == pytest.approx(np.mean(every), abs=1e-9)
    for percentile, percent in ((found.p50, 50), (found.p95, 95)):
        assert percentile == next(value for value in every if 100 * sum(other <= value for other in every) >= percent * len(every))
    assert found.max == every[-1]


def test_a_spread_of_samples():
    assert spread(list(range(1, 101))) == (50.5, 50, 95, 100)
    assert spread([]) is None


def test_time_above_the_bound():
    samples = [(15 * S, 0.1), (30 * S, 5.0), (45 * S, 5.1), (75 * S, 9.0), (90 * S, 0.2)]
    assert violation_ns(samples, 5.0) == 45 * S  # the sample at 75 s stands for thirty
    assert low_share(samples, 5.0) == 0.4  # 5.0 is neither low nor above
    assert low_share([], 5.0) is None
    assert violation_ns([(15 * S, 6.0)], 5.0) == 15 * S
    assert violation_ns([(15 * S, 6.0)], 5.0, start_ns=10 * S) == 5 * S


def test_workers_that_follow_late_are_found_at_their_delay():
    load = [(minute * MIN, 1000 * (1 + math.cos(minute / 9))) for minute in range(140)]
    late = [(0, load[0][1]), *((at_ns + 3 * MIN, rate) for at_ns, rate in load)]
    assert follows(late, load, 140 * MIN) == pytest.approx(1)
    assert follows(late, load, 140 * MIN, behind_max_ns=2 * MIN) < 0.999
    against = [(at_ns, 5000 - rate) for at_ns, rate in load]
    assert follows(against, load, 140 * MIN, behind_max_ns=0) == pytest.approx(-1)


def test_nothing_follows_what_does_not_change():
    changing = [(minute * MIN, minute) for minute in range(20)]
    assert follows([(0, 5)], changing, 20 * MIN) is None
    assert follows(changing, [(0, 5)], 20 * MIN) is None
    assert follows(changing, changing, 2 * MIN) is None


@given(staircase(), staircase(10**6))
def test_following_against_arrays(workers, load):
    had, came = (np.array([area(each, m * MIN, (m + 1) * MIN) for m in range(16)]) for each in (workers, load))
    with np.errstate(all="ignore"):
        every = [np.corrcoef(had[behind:], came[: 16 - behind])[0, 1] for behind in range(6)]
    known = [r for r in every if math.isfinite(r)]
    found = follows(workers, load, 16 * MIN)
    if found is None:
        assert not known
    else:
        assert found == pytest.approx(max(known), abs=1e-6)


def ran(*steps):
    """Actions from (minute, a, b)."""
    found, before = [], {"a": 1, "b": 1}
    for minute, a, b in steps:
        found.append(Action(minute * MIN, before, {"a": a, "b": b}))
        before = {"a": a, "b": b}
    return found


START = {"a": 1, "b": 1}
FLAT = [(minute * MIN, 100.0) for minute in range(1, 141)]


def test_up_and_down_count_sums():
    assert up_and_down(ran((5, 4, 4), (10, 5, 3), (15, 5, 2), (20, 5, 2))) == (1, 1)


def test_a_phase_settles_with_the_first_action_that_is_nearly_the_last():
    actions = ran((12, 10, 10), (18, 20, 12), (24, 19, 12), (30, 20, 12), (55, 5, 5))
    assert phase(START, actions, FLAT, 11 * MIN, 50 * MIN) == Phase(4, 7 * MIN, 2, 1)
    assert phase(START, actions, FLAT, 50 * MIN, 90 * MIN) == Phase(1, 5 * MIN, 1, 1)


def test_each_operator_has_to_stay_and_so_has_the_sum():
    swapping = ran((12, 10, 10), (20, 12, 8))  # the same sum
    assert phase(START, swapping, FLAT, 11 * MIN, 50 * MIN).settled_steps == 2
    both = ran((12, 10, 10), (20, 11, 11))  # each within one, the sum two more
    assert phase(START, both, FLAT, 11 * MIN, 50 * MIN).settled_steps == 2


def test_who_settles_late_has_not_converged():
    actions = ran((12, 10, 10), (36, 20, 20))
    assert phase(START, actions, FLAT, 11 * MIN, 50 * MIN) == Phase(2, 25 * MIN, 2, 0)
    assert phase(START, actions, FLAT, 11 * MIN, 51 * MIN) == Phase(2, 25 * MIN, 2, 1)


def test_growing_lag_is_no_convergence():
    growing = [(at_ns, at_ns / MIN) for at_ns, _ in FLAT]
    actions = ran((12, 10, 10))
    assert phase(START, actions, growing, 11 * MIN, 50 * MIN).converged == 0
    assert phase(START, actions, growing, 11 * MIN, 50 * MIN, least_lag=5).converged == 1  # 5 a half: no more than what is allowed
    assert phase(START, actions, growing, 11 * MIN, 50 * MIN, least_lag=4.9).converged == 0
    assert phase(START, actions, [(at_ns, -value) for at_ns, value in growing], 11 * MIN, 50 * MIN).converged == 1
    assert phase(START, actions, [], 11 * MIN, 50 * MIN).converged == 0


def test_a_phase_without_need_settles_at_once():
    assert phase(START, [], FLAT, 0, 20 * MIN) == Phase(0, 0, 0, 1)
    assert phase(START, ran((5, 1, 2)), FLAT, 0, 20 * MIN) == Phase(1, 0, 0, 1)
    assert phase(START, ran((5, 4, 4)), FLAT, 10 * MIN, 40 * MIN) == Phase(0, 0, 0, 1)  # what runs at its start counts, not the document


@given(st.lists(st.tuples(st.integers(0, 59), st.integers(1, 5), st.integers(1, 5)), max_size=8), st.integers(0, 59), st.integers(1, 60))
def test_settling_minute_by_minute(steps, first, lasts):
    actions = ran(*sorted(steps))
    end = first + lasts
    found = phase(START, actions, FLAT, first * MIN, end * MIN)

    def run_after(count):
        return actions[count - 1].after if count else START

    before = sum(action.ended_ns < first * MIN for action in actions)
    until = sum(action.ended_ns < end * MIN for action in actions)

    def stays(count):
        kept = run_after(count)
        return all(
            abs(sum(run_after(later).values()) - sum(kept.values())) <= 1 and all(abs(run_after(later)[o] - kept[o]) <= 1 for o in kept)
            for later in range(count, until + 1)
        )

    least = min(count for count in range(before, until + 1) if stays(count))
    assert (found.actions, found.settled_steps) == (until - before, least - before)
    assert found.settled_ns == (actions[least - 1].ended_ns - first * MIN if least > before else 0)
    assert found.converged == (found.settled_ns + 15 * MIN <= lasts * MIN)


def test_phases_are_the_changes_of_the_rate():
    rates = [(0, 0), (11 * MIN, 2e6), (30 * MIN, 2e6), (50 * MIN, 1e6), (200 * MIN, 5)]
    assert phases(rates, 90 * MIN) == [(0, 11 * MIN), (11 * MIN, 50 * MIN), (50 * MIN, 90 * MIN)]
    assert phases([(0, 3)], 90 * MIN) == [(0, 90 * MIN)]

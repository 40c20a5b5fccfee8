"""Append times against a twin that keeps every area as an exact fraction and looks at one record at a time."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.spec.workload import ConstantRate, CosineRate, Step, StepsRate
from engine.workloads.rates import FIXED, PiecewiseArrivals, RecordedArrivals, arrivals, cosine, cosine_pieces

SECOND = 10**9


def twin_times_ns(pieces: list[tuple[int, int]], period_ns: int | None, count: int) -> list[int]:
    """Record by record: walk over (length_ns, micro-records per s) until the area has reached the record's number."""
    times: list[int] = []
    start_ns, area, here = 0, Fraction(0), 0
    while len(times) < count:
        length_ns, rate = pieces[here % len(pieces)]
        end_area = area + Fraction(rate * length_ns, 10**15)
        if period_ns is None and here == len(pieces) - 1:
            end_area = Fraction(10**30) if rate else area
        while len(times) < count and len(times) < end_area:
            times.append(start_ns + math.floor((len(times) - area) * 10**15 / rate))
        start_ns, area, here = start_ns + length_ns, end_area, here + 1
        if here >= len(pieces) and (period_ns is None or (here == len(pieces) and not area)):
            break
    return times


def as_written_micro(value: float) -> int:
    """Millionths of the decimal number that the document shows, half up."""
    return math.floor(Fraction(repr(value)) * 10**6 + Fraction(1, 2))


rates = st.integers(0, 10**15) | st.integers(0, 3 * 10**9) | st.just(0)
lengths = st.integers(1, 10**8) | st.integers(1, 1000)


@given(st.lists(st.tuples(lengths, rates), min_size=1, max_size=5), st.booleans(), st.integers(0, 300))
@example([(1, 0), (1, 0)], True, 3)
@example([(10**7, 10**15)], True, 300)
def test_arrivals_equal_the_twin(pieces, periodic, count):
    starts = [sum(length for length, _ in pieces[:position]) for position in range(len(pieces))]
    period_ns = sum(length for length, _ in pieces) if periodic else None
    per_period = sum(length * rate for length, rate in pieces)
    if periodic and per_period and per_period * 1000 < count * 10**15:
        count = per_period * 1000 // 10**15  # the twin walks every piece
    made = PiecewiseArrivals(starts, [rate for _, rate in pieces], period_ns)
    expected = twin_times_ns(pieces, period_ns, count)
    assert made.times_ns(0, len(expected)).tolist() == expected
    for number, time_ns in enumerate(expected):
        assert made.count_before(time_ns) <= number < made.count_before(time_ns + 1)
    middle = len(expected) // 2
    assert made.times_ns(middle, len(expected)).tolist() == expected[middle:]


@given(st.floats(1e-6, 1e9), st.integers(0, 10**9), st.integers(1, 50))
@example(3000.0, 0, 50)
@example(0.1, 0, 50)
@example(1e9, 10**9, 50)
def test_a_constant_rate_puts_record_n_at_n_over_the_rate(per_s, first, count):
    micro = as_written_micro(per_s)
    first = min(first, micro * 1000)  # times stay below 2^63
    times = arrivals(ConstantRate(per_s=per_s)).times_ns(first, first + count)
    assert times.tolist() == [number * 10**15 // micro for number in range(first, first + count)]


def test_a_high_and_crooked_rate_stays_exact_over_many_blocks():
    times = arrivals(ConstantRate(per_s=567_890_123.456789)).times_ns(0, 40_000)
    assert times.tolist() == [number * 10**15 // 567_890_123_456_789 for number in range(40_000)]


def test_a_rate_of_zero_has_no_records():
    never = arrivals(ConstantRate(per_s=0.0))
    assert never.count_before(10**17) == 0
    assert never.times_ns(0, 0).tolist() == []


def test_steps_begin_at_their_times_and_nothing_comes_before_the_first():
    made = arrivals(StepsRate(steps=(Step(at_s=1.0, per_s=2.0), Step(at_s=2.0, per_s=0.0), Step(at_s=3.0, per_s=4.0))))
    assert made.times_ns(0, 6).tolist() == [SECOND, 3 * SECOND // 2, 3 * SECOND, 13 * SECOND // 4, 14 * SECOND // 4, 15 * SECOND // 4]
    assert made.count_before(SECOND) == 0
    assert made.count_before(3 * SECOND) == 2


def test_what_a_step_leaves_unfinished_the_next_one_completes():
    made = arrivals(StepsRate(steps=(Step(at_s=0.0, per_s=1.0), Step(at_s=2.5, per_s=10.0))))
    assert made.times_ns(0, 4).tolist() == [0, SECOND, 2 * SECOND, 2_550_000_000]  # half a record was left over


@given(st.integers(-(10**20), 10**20), st.integers(1, 10**18))
def test_the_integer_cosine_is_the_cosine(numerator, denominator):
    assert abs(cosine(numerator, denominator) / FIXED - math.cos(2 * math.pi * float(Fraction(numerator, denominator) % 1))) < 2e-15


@pytest.mark.parametrize(("numerator", "exact"), [(0, 1.0), (1, 0.5), (2, -0.5), (3, -1.0), (6, 1.0), (-1, 0.5)])
def test_the_cosine_at_sixths_of_a_turn(numerator, exact):
    assert abs(cosine(numerator, 6) - int(exact * FIXED)) < 1000


@pytest.mark.parametrize("period_s", [0.001, 0.5, 60.0, 61.2345, 86_400.0])
def test_a_cosine_rate_follows_its_formula(period_s):
    rate = CosineRate(mean_per_s=1000.0, amplitude_per_s=900.0, period_s=period_s, phase_s=period_s / 3)
    starts, values, period_ns = cosine_pieces(rate)
    ends = [*starts[1:], period_ns]
    for start, end, value in zip(starts, ends, values, strict=True):
        expected = 1000 + 900 * math.cos(2 * math.pi * ((start + end) / 2 / period_ns - 1 / 3))
        assert value / 1e6 == pytest.approx(expected, abs=1e-2)
    made = arrivals(rate)
    for part in range(1, 8):
        horizon_s = part * 0.37 * period_s
        assert made.count_before(int(horizon_s * SECOND)) == pytest.approx(
            rate.expected_records(horizon_s), abs=1.5 + 2e-3 * 1000 * period_s * 0.01
        )


@given(
    st.lists(st.integers(0, 10**15) | st.integers(0, 100), min_size=1, max_size=30),
    st.integers(1, 10**15) | st.integers(1, 10**7),
    st.integers(1, 10**17) | st.integers(1, 10**9),
)
def test_recorded_times_are_divided_by_the_speed(gaps, speed_micro, horizon_ns):
    places = sorted(gaps)
    speed = float(Fraction(speed_micro, 10**6))
    exact = as_written_micro(speed)
    made = RecordedArrivals(np.array(places, np.int64), speed, horizon_ns)
    expected = [place * 10**6 // exact for place in places]
    kept = [time for time in expected if time < horizon_ns]
    assert made.count_before(horizon_ns) == len(kept)
    assert made.times_ns(0, len(kept)).tolist() == kept

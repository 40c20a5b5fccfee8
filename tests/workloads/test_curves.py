"""Rates over time, and the times of records at them, against a twin that looks at one record at a time."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.spec.base.problems import Refusal
from engine.spec.experiment.rates.base import Rate, Step
from engine.spec.experiment.rates.constant import ConstantRate
from engine.spec.experiment.rates.cosine import CosineRate
from engine.spec.experiment.rates.decreasing import DecreasingRate
from engine.spec.experiment.rates.file import FileRate
from engine.spec.experiment.rates.increasing import IncreasingRate
from engine.spec.experiment.rates.ramp import RampRate
from engine.spec.experiment.rates.random_walk import RandomWalkRate
from engine.spec.experiment.rates.spikes import SpikesRate
from engine.spec.experiment.rates.steps import StepsRate
from engine.spec.experiment.rates.switched import SwitchedRate
from engine.workloads import lookup
from engine.workloads.arrivals.even import Even
from engine.workloads.arrivals.fixed_times import Recorded
from engine.workloads.curves import FIXED, RECORD, STEPS_MAX, Curve, cosine
from engine.workloads.javarandom import JavaRandom
from engine.workloads.rates import curve_of

SECOND = 10**9
HOUR = 3600 * SECOND


def curve(rate, horizon_ns: int = HOUR) -> Curve:
    return curve_of(rate, horizon_ns, {}.get)


def twin_times_ns(pieces: list[tuple[int, int]], period_ns: int | None, areas: list[int]) -> list[int]:
    """Place by place: walk over (length_ns, micro-records per s) until the area lies beyond."""
    times: list[int] = []
    start_ns, area, here = 0, 0, 0
    while len(times) < len(areas):
        length_ns, rate = pieces[here % len(pieces)]
        end_area = area + rate * length_ns
        if period_ns is None and here == len(pieces) - 1:
            end_area = 10**60 if rate else area
        while len(times) < len(areas) and areas[len(times)] < end_area:
            times.append(start_ns + (areas[len(times)] - area) // rate)
        start_ns, area, here = start_ns + length_ns, end_area, here + 1
        if here >= len(pieces) and (period_ns is None or (here == len(pieces) and not area)):
            break
    return times


def as_written_micro(value: float) -> int:
    """Millionths of the decimal number that the document shows, half up."""
    return math.floor(Fraction(repr(value)) * 10**6 + Fraction(1, 2))


rates = st.integers(0, 10**15) | st.integers(0, 3 * 10**9) | st.just(0)
lengths = st.integers(1, 10**8) | st.integers(1, 1000)


pieces_of = st.lists(st.tuples(lengths, rates), min_size=1, max_size=5)


def made_of(pieces: list[tuple[int, int]], periodic: bool) -> tuple[Curve, int | None]:
    starts = [sum(length for length, _ in pieces[:position]) for position in range(len(pieces))]
    period_ns = sum(length for length, _ in pieces) if periodic else None
    return Curve(starts, [rate for _, rate in pieces], period_ns), period_ns


@given(pieces_of, st.booleans(), st.integers(0, 300), st.sampled_from([1, 1, 2, 1000]))
@example([(1, 0), (1, 0)], True, 3, 1)
@example([(10**7, 10**15)], True, 300, 1)
@example([(10**8, 10**15 - 1)], False, 300, 1_000_000)
def test_even_records_equal_the_twins(pieces, periodic, count, scale):
    made, period_ns = made_of(pieces, periodic)
    per_period = sum(length * rate for length, rate in pieces)
    if periodic and per_period and per_period * 1000 < count * scale * RECORD:
        count = per_period * 1000 // (scale * RECORD)  # the twin walks every piece
    expected = twin_times_ns(pieces, period_ns, [number * scale * RECORD for number in range(count)])
    expected = [time for time in expected if time < 1 << 62]
    even = Even(made, scale)
    assert even.times_ns(0, len(expected)).tolist() == expected
    for number, time_ns in enumerate(expected):
        assert even.count_before(time_ns) <= number < even.count_before(time_ns + 1)
    middle = len(expected) // 2
    assert even.times_ns(middle, len(expected)).tolist() == expected[middle:]


@given(
    pieces_of,
    st.lists(st.integers(0, 10**12) | st.integers(0, 10**16), min_size=1, max_size=50),
    st.sampled_from([1, 10**6, 10**9, 10**12]),
)
@example([(10**8, 999_999_999_999_989)], [0, 1, 10**12, 10**16], 10**6)
def test_any_places_equal_the_twins(pieces, places, unit):
    made, period_ns = made_of(pieces, False)
    places = sorted(places)
    expected = twin_times_ns(pieces, period_ns, [place * unit for place in places])
    expected = [time for time in expected if time < 1 << 62]
    assert made.times_ns(np.array(places[: len(expected)], np.int64), unit).tolist() == expected


def test_a_place_that_is_never_reached_is_refused():
    with pytest.raises(ValueError, match="only records before the horizon"):
        Even(Curve([0, SECOND], [10**6, 0])).times_ns(0, 3)


@given(st.floats(1e-6, 1e9), st.integers(0, 10**9), st.integers(1, 50))
@example(3000.0, 0, 50)
@example(0.1, 0, 50)
@example(1e9, 10**9, 50)
def test_a_constant_rate_puts_record_n_at_n_over_the_rate(per_s, first, count):
    micro = as_written_micro(per_s)
    first = min(first, micro * 1000)  # times stay below 2^63
    times = Even(curve(ConstantRate(per_s=per_s))).times_ns(first, first + count)
    assert times.tolist() == [number * 10**15 // micro for number in range(first, first + count)]


def test_a_high_and_crooked_rate_stays_exact_over_many_blocks():
    times = Even(curve(ConstantRate(per_s=567_890_123.456789))).times_ns(0, 40_000)
    assert times.tolist() == [number * 10**15 // 567_890_123_456_789 for number in range(40_000)]


def test_a_rate_of_zero_has_no_records():
    never = Even(curve(ConstantRate(per_s=0.0)))
    assert never.count_before(10**17) == 0
    assert never.times_ns(0, 0).tolist() == []


def test_steps_begin_at_their_times_and_nothing_comes_before_the_first():
    made = Even(curve(StepsRate(steps=(Step(at_s=1.0, per_s=2.0), Step(at_s=2.0, per_s=0.0), Step(at_s=3.0, per_s=4.0)))))
    assert made.times_ns(0, 6).tolist() == [SECOND, 3 * SECOND // 2, 3 * SECOND, 13 * SECOND // 4, 14 * SECOND // 4, 15 * SECOND // 4]
    assert made.count_before(SECOND) == 0
    assert made.count_before(3 * SECOND) == 2


def test_what_a_step_leaves_unfinished_the_next_one_completes():
    made = Even(curve(StepsRate(steps=(Step(at_s=0.0, per_s=1.0), Step(at_s=2.5, per_s=10.0)))))
    assert made.times_ns(0, 4).tolist() == [0, SECOND, 2 * SECOND, 2_550_000_000]  # half a record was left over


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 100), st.floats(0.001, 100))
@example(0.0, 1000.0, 0.0, 30.0)
def test_a_ramp_has_the_area_of_the_straight_line(low, high, start_s, length_s):
    rate = RampRate(from_per_s=low, to_per_s=high, start_s=start_s, end_s=start_s + length_s)
    made = curve(rate)
    start_ns, end_ns = round(rate.start_s * SECOND), round(rate.end_s * SECOND)
    for edge_ns in {start_ns, end_ns, *made.starts_ns[:50], *made.starts_ns[-50:]}:
        share = Fraction(min(max(edge_ns - start_ns, 0), end_ns - start_ns), end_ns - start_ns)
        ramp = (end_ns - start_ns) * (as_written_micro(low) * share + (as_written_micro(high) - as_written_micro(low)) * share**2 / 2)
        flat = min(edge_ns, start_ns) * as_written_micro(low) + max(edge_ns - end_ns, 0) * as_written_micro(high)
        assert abs(made.area(edge_ns) - ramp - flat) <= (len(made.rates) + 1) * 1e7 + 1e-6 * float(ramp)  # each rate is rounded
    assert made.rates[0] == as_written_micro(low) or start_ns == 0
    assert made.rates[-1] == as_written_micro(high)


# The published load patterns: the values of every tenth minute, from the authors' generator (two and a half million records/s at most)

PUBLISHED = {
    "increasing": (
        IncreasingRate(top_per_s=2.5e6),
        [41906, 86184, 413749, 779338, 1070789, 1022588, 919290, 972111, 1341351, 1268643, 1569645, 1889133, 2201558, 2392716],
    ),
    "decreasing": (
        DecreasingRate(top_per_s=2.5e6),
        [2515417, 2225124, 2262520, 2340135, 2339335, 1979288, 1560965, 1307768, 1389246, 1003281, 1012580, 1041433, 1062818, 955938],
    ),
    "cosine": (
        CosineRate(mean_per_s=1.2e6, amplitude_per_s=1e6, period_s=3600, step_s=60, noise_per_s=1e5),
        [2227166, 1749000, 722734, 141162, 696329, 1724715, 2198753, 1669823, 790895, 264626, 601745, 1783599, 2122251, 1643983],
    ),
    "random": (
        RandomWalkRate(start_per_s=1.25e6, change_per_s=5e5, max_per_s=2.5e6, seed=1073),
        [1250000, 2448124, 163438, 678962, 667971, 0, 957410, 624286, 1729074, 2199543, 540275, 1756712, 2500000, 1911891],
    ),
}


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_the_published_patterns_have_their_values(name):
    rate, expected = PUBLISHED[name]
    made = curve(rate, 140 * 60 * SECOND)
    assert list(made.starts_ns) == list(range(0, 140 * 60 * SECOND, 60 * SECOND))
    assert [made.rates[minute] for minute in range(0, 140, 10)] == [value * 10**6 for value in expected]
    if name == "random":
        assert (made.rates.count(2_500_000 * 10**6), made.rates.count(0)) == (15, 9)
    if name == "decreasing":
        assert made.rates[-1] == 551_426 * 10**6


def test_a_longer_horizon_changes_nothing_before_the_shorter_one():
    for rate, _ in PUBLISHED.values():
        short, long = curve(rate, HOUR), curve(rate, 2 * HOUR)
        assert long.rates[:60] == short.rates


def test_the_generator_is_java_util_random():
    chance = JavaRandom(42)
    assert chance.share_of(10**9) == 727_563_680  # new Random(42).nextDouble() is 0.7275636800328681
    chance.skip(1)
    assert chance.share_of(10**9) == 308_719_455  # the third, 0.30871945533265976


def test_a_walk_stays_within_its_bounds_and_takes_steps_of_at_most_the_change():
    rate = RandomWalkRate(start_per_s=50, change_per_s=20, min_per_s=10, max_per_s=90, step_s=0.1, seed=5)
    values = [value // 10**6 for value in curve(rate).rates]
    assert (values[0], min(values), max(values)) == (50, 10, 90)
    steps = [after - before for before, after in pairwise(values)]
    assert (min(steps), max(steps)) == (-20, 19)  # the draw is below 1
    assert abs(sum(steps)) < 100


def test_spikes_stand_at_the_start_of_their_periods():
    made = curve(SpikesRate(base_per_s=10, peak_per_s=100, every_s=5, duration_s=0.5))
    assert [made.area(second * SECOND // 2) // RECORD for second in (0, 1, 10, 11)] == [0, 50, 95, 145]
    assert Even(made).count_before(50 * SECOND) == 950


def test_spikes_may_stand_anywhere_in_their_periods():
    rate = SpikesRate(base_per_s=10, peak_per_s=100, every_s=5, duration_s=0.5, placing="random")
    made = curve(rate)
    starts = [start for start, value in zip(made.starts_ns, made.rates, strict=True) if value == 100 * 10**6]
    assert len(starts) == 720
    late = [start - number * 5 * SECOND for number, start in enumerate(starts)]
    assert 0 <= min(late) < SECOND // 10
    assert 4.4 * SECOND < max(late) <= 4.5 * SECOND
    assert np.mean(late) == pytest.approx(2.25 * SECOND, rel=0.05)
    assert all(made.area(period * 5 * SECOND) == period * 95 * RECORD for period in range(720))
    assert curve(rate.model_copy(update={"seed": 2})).starts_ns != made.starts_ns


def test_spikes_as_long_as_their_periods_are_a_constant_rate():
    for placing in ("regular", "random"):
        made = curve(SpikesRate(base_per_s=10, peak_per_s=100, every_s=5, duration_s=5, placing=placing))
        assert made.area(HOUR) == 3600 * 100 * RECORD


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "field"),
    [
        (RandomWalkRate(step_s=0.001), "step_s"),
        (IncreasingRate(step_s=0.001), "step_s"),
        (CosineRate(step_s=0.001), "step_s"),
        (SpikesRate(every_s=0.001, duration_s=0.0001, placing="random"), "every_s"),
    ],
)
def test_too_many_steps_are_refused(rate, field):
    with pytest.raises(Refusal, match=f"{field} is 0.001, which divides the horizon into 3,600,000 pieces.* at least 0.018") as raised:
        curve(rate)
    assert raised.value.at == (field,)
    assert len(curve(rate.model_copy(update={field: 0.018})).starts_ns) >= STEPS_MAX


# From a file


def trace(folder, **columns) -> FileRate:
    parquet.write_table(pa.table(columns), folder / "trace.parquet")
    return FileRate(dataset="trace", time="t", rate="r")


def test_a_rate_from_a_file_holds_until_the_next_row(tmp_path):
    made = curve_of(trace(tmp_path, t=[1, 3, 10], r=[2.0, 0.5, 4.0]), HOUR, lookup([tmp_path]))
    assert (made.starts_ns, made.rates) == ([0, SECOND, 3 * SECOND, 10 * SECOND], [0, 2_000_000, 500_000, 4_000_000])


def test_timestamps_count_from_the_first_and_speed_and_factor_apply(tmp_path):
    times = pa.array([1_800_000_000, 1_800_000_060, 1_800_003_600])
    rate = trace(tmp_path, t=times, r=[100, 200, 0]).model_copy(update={"speed": 60.0, "factor": 0.5})
    made = curve_of(rate, HOUR, lookup([tmp_path]))
    assert (made.starts_ns, made.rates) == ([0, SECOND, 60 * SECOND], [50_000_000, 100_000_000, 0])


def test_of_rows_that_fall_on_one_ns_the_last_counts(tmp_path):
    rate = trace(tmp_path, t=[0, 1, 2], r=[1, 2, 3]).model_copy(update={"speed": 1e9})
    made = curve_of(rate, HOUR, lookup([tmp_path]))
    assert (made.starts_ns, made.rates) == ([0, 1, 2], [10**6, 2 * 10**6, 3 * 10**6])
    rate = trace(tmp_path, t=[0, 0.25, 2], r=[1, 2, 3]).model_copy(update={"speed": 1e9})
    made = curve_of(rate, HOUR, lookup([tmp_path]))
    assert (made.starts_ns, made.rates) == ([0, 2], [2 * 10**6, 3 * 10**6])


WRONG_TRACES = {
    "unknown data set": ({"dataset": "trade"}, {}, "dataset", "dataset 'trade' is unknown"),
    "unknown time column": ({"time": "when"}, {}, "time", "no column 'when'"),
    "unknown rate column": ({"rate": "speed"}, {}, "rate", "no column 'speed'"),
    "texts for rates": ({}, {"r": ["a", "b", "c"]}, "rate", "of type string; choose a column of numbers"),
    "timestamps for rates": (
        {"rate": "t"},
        {"t": pa.array([1, 2, 3], pa.timestamp("s"))},
        "rate",
        "of type timestamp; choose a column of numbers",
    ),
    "decreasing times": ({}, {"t": [0, 5, 4]}, "time", "has 4 in row 3; which is not after the previous row (5); sort the file"),
    "equal times": ({}, {"t": [0, 5, 5]}, "time", "has 5 in row 3; which is not after"),
    "negative time": ({}, {"t": [-1, 5, 6]}, "time", "has -1 in row 1; times must be from 0"),
    "negative rate": ({}, {"r": [1.0, -2.5, 3.0]}, "rate", "has -2.5 in row 2; rates must be from 0"),
    "huge rate": ({}, {"r": [1.0, 2e9, 3.0]}, "rate", "has 2000000000.0 in row 2; rates must be from 0 to 1e+09"),
    "too long": ({}, {"t": list(range(200_001)), "r": [1] * 200_001}, "dataset", "200,001 rows; a trace of rates may have at most"),
}


@pytest.mark.parametrize("case", sorted(WRONG_TRACES))
def test_what_is_no_trace_of_rates_is_refused(tmp_path, case):
    changes, columns, field, message = WRONG_TRACES[case]
    rate = trace(tmp_path, **{"t": [0, 5, 6], "r": [1.0, 2.0, 3.0], **columns}).model_copy(update=changes)
    with pytest.raises(Refusal) as raised:
        curve_of(rate, HOUR, lookup([tmp_path]))
    assert message in str(raised.value)
    assert raised.value.at == (field,)


# The cosine


@given(st.integers(-(10**20), 10**20), st.integers(1, 10**18))
def test_the_integer_cosine_is_the_cosine(numerator, denominator):
    assert abs(cosine(numerator, denominator) / FIXED - math.cos(2 * math.pi * float(Fraction(numerator, denominator) % 1))) < 2e-15


@pytest.mark.parametrize(("numerator", "exact"), [(0, 1.0), (1, 0.5), (2, -0.5), (3, -1.0), (6, 1.0), (-1, 0.5)])
def test_the_cosine_at_sixths_of_a_turn(numerator, exact):
    assert abs(cosine(numerator, 6) - int(exact * FIXED)) < 1000


@pytest.mark.parametrize("period_s", [0.001, 0.5, 60.0, 61.2345, 86_400.0])
def test_a_cosine_rate_follows_its_formula(period_s):
    rate = CosineRate(mean_per_s=1000.0, amplitude_per_s=900.0, period_s=period_s, phase_s=period_s / 3)
    made = curve(rate)
    for start, end, value in zip(made.starts_ns, [*made.starts_ns[1:], made.period_ns], made.rates, strict=True):
        expected = 1000 + 900 * math.cos(2 * math.pi * ((start + end) / 2 / made.period_ns - 1 / 3))
        assert value / 1e6 == pytest.approx(expected, abs=1e-2)
    turn = 2 * math.pi / period_s
    for part in range(1, 8):
        time_s = part * 0.37 * period_s
        swing = math.sin(turn * (time_s - rate.phase_s)) - math.sin(-turn * rate.phase_s)
        exact = 1000 * time_s + 900 * swing / turn
        assert Even(made).count_before(int(time_s * SECOND)) == pytest.approx(exact, abs=1.5 + 2e-3 * 1000 * period_s * 0.01)


@given(
    st.lists(st.integers(0, 10**15) | st.integers(0, 100), min_size=1, max_size=30),
    st.integers(1, 10**15) | st.integers(1, 10**7),
    st.integers(1, 10**17) | st.integers(1, 10**9),
)
def test_recorded_times_are_divided_by_the_speed(gaps, speed_micro, horizon_ns):
    places = sorted(gaps)
    speed = float(Fraction(speed_micro, 10**6))
    exact = as_written_micro(speed)
    made = Recorded(np.array(places, np.int64), speed, horizon_ns)
    expected = [place * 10**6 // exact for place in places]
    kept = [time for time in expected if time < horizon_ns]
    assert made.count_before(horizon_ns) == len(kept)
    assert made.times_ns(0, len(kept)).tolist() == kept


def random_patterns() -> st.SearchStrategy[Rate]:
    plain = st.sampled_from([
        ConstantRate(per_s=700),
        StepsRate(steps=(Step(at_s=1, per_s=100), Step(at_s=3, per_s=2000))),
        RampRate(from_per_s=100, to_per_s=900, start_s=1, end_s=4),
        CosineRate(mean_per_s=500, amplitude_per_s=500, period_s=2.5),
        SpikesRate(base_per_s=100, peak_per_s=3000, every_s=0.7, duration_s=0.1),
        RandomWalkRate(start_per_s=50, change_per_s=20, min_per_s=10, max_per_s=90, step_s=0.1, seed=5),
    ])  # fmt: skip
    return st.recursive(
        plain, lambda below: st.builds(SwitchedRate, before=below, at_s=st.sampled_from([0.0, 0.35, 2.5, 9.0]), after=below), max_leaves=3
    )


@given(before=random_patterns(), after=random_patterns(), at_s=st.floats(0, 12).map(lambda at_s: round(at_s, 3)))
def test_a_switched_rate_is_one_pattern_and_then_another(before: Rate, after: Rate, at_s: float) -> None:
    horizon_ns = 10 * SECOND
    whole = curve(SwitchedRate(before=before, at_s=at_s, after=after), horizon_ns)
    one, other = curve(before, horizon_ns), curve(after, horizon_ns)
    at_ns = round(at_s * SECOND)
    for time_ns in sorted({0, 1, SECOND // 3, at_ns, at_ns + 1, at_ns + 777_777_777, 9 * SECOND, horizon_ns}):
        if time_ns > horizon_ns:
            continue
        expected = one.area(min(time_ns, at_ns)) + max(0, other.area(time_ns) - other.area(min(at_ns, time_ns)))
        assert whole.area(time_ns) == expected
    same = curve(SwitchedRate(before=before, at_s=at_s, after=before), horizon_ns)
    number = one.count_before(horizon_ns, RECORD)
    assert number == same.count_before(horizon_ns, RECORD)
    assert np.array_equal(one.times_ns(np.arange(number), RECORD), same.times_ns(np.arange(number), RECORD))


def test_a_switched_rate_of_too_many_pieces_says_which() -> None:
    spikes = SpikesRate(every_s=0.001, duration_s=0.0005)
    for name, rate in (("before", SwitchedRate(before=spikes, at_s=3000)), ("after", SwitchedRate(at_s=10, after=spikes))):
        with pytest.raises(Refusal) as refused:
            curve(rate)
        assert refused.value.at == (name,)

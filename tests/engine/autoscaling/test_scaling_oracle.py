"""Parallelism that follows a load which is known beforehand: against all covers of short runs.

What this catches: a segment that does not carry its load or does not make up for its outage, a cover that is not the cheapest, gaps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.autoscaling.fixed import plan
from engine.autoscaling.known_load import MINUTE_NS, Truth, by_minute, mean_rate
from engine.autoscaling.limits import Limit
from engine.autoscaling.oracle import Segment, cheapest_cover, orders
from engine.spec.experiment import scaling
from engine.workloads.curves import Curve

S = 10**9


def truth(rates: Sequence[int], workers_max: int = 70, horizon_ns: int | None = None, **bounds: Limit) -> Truth:
    exact_rates = [Fraction(rate) for rate in rates]
    return Truth(
        rates_per_s=exact_rates,
        mean_per_s=sum(exact_rates, Fraction(0)) / len(rates),
        horizon_ns=len(rates) * MINUTE_NS if horizon_ns is None else horizon_ns,
        capacity_per_s={"source": Fraction(400), "window": Fraction(150), "sink": Fraction(3000)},
        per_input={"source": Fraction(1), "window": Fraction(1), "sink": Fraction(1, 46)},
        parts={"source": 70, "window": 128, "sink": None},
        bounds={"source": Limit(1, 70), "window": Limit(1, 128), "sink": Limit(1, 70)} | bounds,
        workers_max=workers_max,
    )


def covers(minutes: int) -> Iterator[list[int]]:
    """All ways to cut so many minutes: where segments begin."""
    for chosen in range(2 ** (minutes - 1)):
        yield [0, *(minute for minute in range(1, minutes) if chosen >> (minute - 1) & 1)]


def price(about: Truth, starts: list[int], outage_s: int, drain_s: int | None, action_cost: int) -> tuple[int, int, int]:
    """Of one cover, as the design says it; by the second."""
    minutes = len(about.rates_per_s)
    lacking_ns = worker_ns = 0
    for start, end in zip(starts, [*starts[1:], minutes], strict=True):
        rate, enough = max(about.rates_per_s[start:end]), True
        if start and drain_s is not None:
            seconds = range(start * 60, min(start * 60 + outage_s + drain_s, end * 60))
            serving_s = len(seconds) - outage_s
            if serving_s > 0:
                rate = max(rate, sum(about.rates_per_s[second // 60] for second in seconds) / serving_s)
            else:
                enough = False
        needed = about.needed(rate)
        if not (enough and needed.enough):
            lacking_ns += (end - start) * MINUTE_NS
        worker_ns += about.workers(needed.parallelism) * (end - start) * MINUTE_NS + (action_cost * S if start else 0)
    return lacking_ns, worker_ns, len(starts) - 1


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    rates=st.lists(st.sampled_from((0, 100, 450, 800, 2000, 9000)), min_size=1, max_size=8),
    outage_s=st.sampled_from((0, 40, 70)),
    drain_s=st.sampled_from((None, 30, 60, 300)),
    action_cost=st.sampled_from((0, 500)),
    workers_max=st.sampled_from((20, 70)),
)
def test_no_cover_is_cheaper(rates: list[int], outage_s: int, drain_s: int | None, action_cost: int, workers_max: int) -> None:
    about = truth(rates, workers_max)
    found = cheapest_cover(about, outage_s * S, None if drain_s is None else drain_s * S, action_cost * S)
    assert [found[0].start_ns, *(segment.end_ns for segment in found)] == [*(segment.start_ns for segment in found), about.horizon_ns]
    starts = [segment.start_ns // MINUTE_NS for segment in found]
    best = min(price(about, each, outage_s, drain_s, action_cost) for each in covers(len(rates)))
    assert price(about, starts, outage_s, drain_s, action_cost) == best
    for segment in found:
        if segment.enough:
            for minute in range(segment.start_ns // MINUTE_NS, -(-segment.end_ns // MINUTE_NS)):
                assert all(carries(about, segment, vertex, about.rates_per_s[minute]) for vertex in about.capacity_per_s)


def carries(about: Truth, segment: Segment, vertex: str, rate: Fraction) -> bool:
    """The busiest instance too: parts are divided as evenly as may be."""
    parts, p = about.parts[vertex], segment.parallelism[vertex]
    busiest = Fraction(1, p) if parts is None else Fraction(-(-parts // p), parts)
    return rate * about.per_input[vertex] * busiest <= about.capacity_per_s[vertex]


def test_it_rescales_where_that_is_cheaper() -> None:
    about = truth([2000] * 30 + [100] * 30)
    found = cheapest_cover(about, 40 * S, 300 * S, 0)
    assert [segment.start_ns // MINUTE_NS for segment in found] == [0, 30]
    assert all(segment.enough for segment in found)
    assert orders(found) == [(30 * MINUTE_NS, found[1].parallelism)]
    dear = cheapest_cover(about, 40 * S, 300 * S, 10**6 * S)
    assert [segment.start_ns for segment in dear] == [0]


def test_what_no_worker_is_left_for_lasts_as_short_as_it_can() -> None:
    about = truth([100, 100, 9000, 100, 100], workers_max=20)
    found = cheapest_cover(about, 40 * S, 30 * S, 0)
    assert [(segment.start_ns // MINUTE_NS, segment.enough) for segment in found if not segment.enough] == [(2, False)]
    assert max(about.workers(segment.parallelism) for segment in found) <= 20


def test_more_workers_than_shares_do_not_help() -> None:
    """With 65 to 127 instances on 128 key groups one of them has two groups."""
    about = truth([150 * 64 + 1], workers_max=500, window=Limit(1, 127))
    assert about.needed(Fraction(150 * 64)).parallelism["window"] == 64
    assert about.needed(Fraction(150 * 64 + 1)) == ({"source": 35, "window": 127, "sink": 1}, False)
    assert truth([1], workers_max=500).needed(Fraction(150 * 64 + 1)).parallelism["window"] == 128


@pytest.mark.parametrize(("what", "window"), [("maximum", 16), ("mean", 8)])
def test_fixed_parallelism(what: Any, window: int) -> None:
    """1.1 times 2,000 and 1,050 records per second; 14.7 and 7.7 instances with equal shares."""
    about = scaling.fixed.Fixed.model_validate({"kind": "fixed", "for": what, "per_input": {"source": 1}})
    first, orders = plan(about, truth([2000] * 30 + [100] * 30))
    assert (first["window"], orders) == (window, [])


def test_rates_of_several_sources_by_minute() -> None:
    """They change within a minute, at different times, and the last one is not whole."""
    million = 10**6
    a = Curve([0, 30 * S, 60 * S], [10 * million, 20 * million, 5 * million])
    b = Curve([0, 20 * S, 30 * S, 100 * S], [7 * million, 50 * million, million, 9 * million])
    assert by_minute([a, b], 110 * S) == [60, 14]
    total = (10 * 30 + 20 * 30 + 5 * 50) + (7 * 20 + 50 * 10 + 1 * 70 + 9 * 10)
    assert mean_rate([a, b], 110 * S) == Fraction(total, 110)
    assert (
        truth(by_minute([a], 110 * S), horizon_ns=110 * S).horizon_ns
        == cheapest_cover(truth([1, 2], horizon_ns=110 * S), 0, None, 0)[-1].end_ns
    )


def test_a_period_begins_anew_within_a_minute() -> None:
    wave = Curve([0, 25 * S], [10**6, 3 * 10**6], period_ns=50 * S)
    assert by_minute([wave], 120 * S) == [3, 3]

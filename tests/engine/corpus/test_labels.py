"""Labels come from runs: what they say of queries that are idle, overloaded or empty (specification, section 9, points 5 and 13)."""

from __future__ import annotations

import pytest

from engine.corpus.labels import Labels, growth_per_s, measure
from engine.corpus.queries import DrawnQuery
from engine.corpus.traces import DrawnHost, Trace, trace
from engine.costmodels.description import Filter, Sink, Source


def filtered(rate_per_s: int, literal: int = 11, cpu_percent: float = 100) -> Trace:
    """A source, a filter that lets integers below the literal pass, and a sink, all on one host."""
    operators = (Source(rate_per_s, 3, 3, 3), Filter("<", "int", literal), Sink())
    query = DrawnQuery(operators, ((0, 1), (1, 2)), "linear")
    return Trace(query, (DrawnHost(cpu_percent, 8000, 1000, 5, 3),), (0, 0, 0))


def latencies_ms(of: Labels) -> tuple[float, float]:
    """Of processing, and end to end."""
    assert of.processing_ms is not None
    assert of.end_to_end_ms is not None
    return of.processing_ms, of.end_to_end_ms


def test_a_host_that_keeps_up_is_not_backpressured() -> None:
    found = measure(filtered(400), seed=1, horizon_s=6)
    assert (found.success, found.backpressured) == (True, False)
    assert found.throughput_per_s == pytest.approx(400, rel=0.1)
    processing_ms, end_to_end_ms = latencies_ms(found)
    assert processing_ms <= end_to_end_ms < 50


def test_an_overloaded_host_waits_in_the_log_ever_longer() -> None:
    """End-to-end latency grows with the run, while what is taken in is through after a bounded time."""
    waits_ms = []
    for horizon_s in (4, 8):
        found = measure(filtered(25_600, cpu_percent=50), seed=1, horizon_s=horizon_s)
        assert (found.success, found.backpressured) == (True, True)
        processing_ms, end_to_end_ms = latencies_ms(found)
        waits_ms.append(end_to_end_ms - processing_ms)
    assert waits_ms[1] == pytest.approx(2 * waits_ms[0], rel=0.25)


def test_a_query_from_which_nothing_arrives_fails_and_has_no_costs() -> None:
    assert measure(filtered(400, literal=-10), seed=1, horizon_s=3) == Labels(3, "nothing arrived")


def test_labels_are_a_pure_function_of_the_trace_and_seed_and_no_formula() -> None:
    of = trace("tests", 2, 5)
    assert measure(of, seed=1, horizon_s=3) == measure(of, seed=1, horizon_s=3)
    assert measure(of, seed=1, horizon_s=3) != measure(of, seed=2, horizon_s=3)


def test_growth_of_the_backlog_is_that_of_the_last_third() -> None:
    assert growth_per_s([(1, 0), (6, 100), (7, 150), (9, 250)], 9) == 50
    assert growth_per_s([(6, 100), (9, 40)], 9) == 0
    assert growth_per_s([(9, 40)], 9) == 0

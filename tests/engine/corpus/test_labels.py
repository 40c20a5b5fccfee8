"""Labels come from runs: what they say of queries that are idle, overloaded or empty (specification, section 9, points 5 and 13)."""

from __future__ import annotations

import pytest

from engine.corpus.labels import Labels, ReceiveQueue, SourceLog, growth_per_s, horizon_s, measure, measured
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
    found = measure(measured(filtered(400), seed=1, horizon_s=6))
    assert (found.success, found.backpressured) == (True, False)
    assert found.throughput_per_s == pytest.approx(400, rel=0.1)
    processing_ms, end_to_end_ms = latencies_ms(found)
    assert processing_ms <= end_to_end_ms < 50


def test_an_overloaded_host_waits_in_the_log_ever_longer() -> None:
    """End-to-end latency grows with the run, while what is taken in is through after a bounded time."""
    waits_ms = []
    for lasts_s in (4, 8):
        found = measure(measured(filtered(25_600, cpu_percent=50), seed=1, horizon_s=lasts_s))
        assert (found.success, found.backpressured) == (True, True)
        processing_ms, end_to_end_ms = latencies_ms(found)
        waits_ms.append(end_to_end_ms - processing_ms)
    assert waits_ms[1] == pytest.approx(2 * waits_ms[0], rel=0.25)


def test_runs_are_long_enough_for_four_windows() -> None:
    """43 s at least, with a drain of 3 s."""
    horizons = {horizon_s(trace("tests", 1, index).query) for index in range(60)}
    assert horizons == {43, 45, 77}


def test_a_query_from_which_nothing_arrives_fails_and_has_no_costs() -> None:
    assert measure(measured(filtered(400, literal=-10), seed=1, horizon_s=3)) == Labels(3, "nothing arrived")


def test_labels_are_a_pure_function_of_the_trace_and_seed_and_no_formula() -> None:
    of = trace("tests", 2, 5)
    assert measure(measured(of, seed=1, horizon_s=3)) == measure(measured(of, seed=1, horizon_s=3))
    assert measure(measured(of, seed=1, horizon_s=3)) != measure(measured(of, seed=2, horizon_s=3))


def test_a_log_that_fills_while_a_window_fires_does_not_grow() -> None:
    assert growth_per_s([0, 0, 0, 50, 100, 150, 200, 250, 300]) == 50
    assert growth_per_s([0, 80, 5, 80, 5, 80, 5, 80, 90]) == 0
    assert growth_per_s([90, 80, 70, 60, 50, 40, 30, 20, 10]) == 0
    assert growth_per_s([90]) == 0


def test_what_was_written_before_the_drain_is_read_by_the_end_or_overdue() -> None:
    """Ten records come in each second."""
    assert SourceLog(10, [0, 0, 20, 30, 20, 10], [10, 10, 0, 0, 20, 20]).overdue == 0
    assert SourceLog(10, [0, 0, 10, 20, 30, 40], [10, 10, 0, 0, 0, 0]).overdue == 10


def test_a_queue_fills_if_its_busiest_channel_does_within_four_minutes() -> None:
    growing = [100 * second for second in range(30)]  # 24,000 after four minutes
    assert not ReceiveQueue(growing, [3000]).fills
    assert ReceiveQueue([2 * waiting for waiting in growing], [3000]).fills
    assert not ReceiveQueue([2 * waiting for waiting in growing], [3000, 3000]).fills  # either channel holds half of it
    assert not ReceiveQueue([0] * 30, [0]).fills

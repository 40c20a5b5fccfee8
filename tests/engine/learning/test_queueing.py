"""Costs by queueing formulas: what a query delivers, waits for and can bear."""

from __future__ import annotations

import pytest

from engine.costmodels.description import Filter, Host, Query, Sink, Source, Window, WindowedAggregate
from engine.costmodels.features import JointGraph, joint_graph
from engine.learning.queueing import SPAN_S, bound, demands

STRONG, FAR = Host(800, 32000, 10000, 1), Host(800, 32000, 10000, 80)


def chain(rate_per_s: int, hosts: list[Host], placed: list[int], window: Window | None = None) -> JointGraph:
    operators: list[object] = [Source(rate_per_s, 3, 3, 3), Filter("<", "int", 3)]
    if window is not None:
        operators.append(WindowedAggregate("sum", "int", None, window))
    operators.append(Sink())
    query = Query(tuple(operators), tuple((n, n + 1) for n in range(len(operators) - 1)))  # type: ignore[arg-type]
    return joint_graph(query, hosts, placed, [1.0, 0.5, *([0.001] if window else []), 1.0])


def test_a_light_load_passes_through() -> None:
    found = bound(chain(100, [STRONG], [0, 0, 0]))
    assert found.throughput == pytest.approx(50)
    assert 0 < found.processing_latency < 5
    assert found.end_to_end_latency == found.processing_latency
    assert (found.flows, found.success) == (1, 1)


def test_a_hop_takes_the_sender_s_latency() -> None:
    near, far = (bound(chain(100, [host, STRONG], [0, 1, 1])) for host in (STRONG, FAR))
    assert far.processing_latency - near.processing_latency == pytest.approx(79)


def test_an_overloaded_host_falls_behind() -> None:
    light, heavy = (bound(chain(rate, [STRONG], [0, 0, 0])) for rate in (100, 100_000))
    assert (light.flows, heavy.flows) == (1, 0)
    assert heavy.throughput < 50_000
    assert heavy.end_to_end_latency - heavy.processing_latency <= SPAN_S / 2 * 1000
    assert heavy.end_to_end_latency > light.end_to_end_latency + 1000


def test_the_oldest_record_waits_for_its_window() -> None:
    time = bound(chain(100, [STRONG], [0] * 4, Window("tumbling", "time", 4000, 4000)))
    assert time.throughput == pytest.approx(1 / 4)
    assert 4000 < time.processing_latency < 4100
    count = bound(chain(100, [STRONG], [0] * 4, Window("sliding", "count", 20, 10)))
    assert count.throughput == pytest.approx(50 / 10)
    assert 400 < count.processing_latency < 500


def test_memory_and_long_windows_decide_success() -> None:
    small = Host(800, 460, 10000, 1)
    assert bound(chain(25600, [small], [0] * 4, Window("tumbling", "time", 16000, 16000))).success == 0
    assert bound(chain(1, [STRONG], [0] * 4, Window("tumbling", "count", 640, 640))).success == 0


def test_demands_are_those_of_a_light_load_times_its_rate() -> None:
    once, tenfold = (demands(chain(rate, [STRONG, FAR], [0, 1, 1])) for rate in (100, 1000))
    assert tenfold == pytest.approx([10 * cores for cores in once])
    assert demands(chain(100, [STRONG], [0, 0, 0])) == once, "wherever operators run"

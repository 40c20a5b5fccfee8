"""Processor sharing, pools and ranks: worked examples, and what no random document would reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core import layout as L
from engine.core.control.ranks import HELD, rank
from engine.core.world import World

from ...support.agreement import MS, assert_agreement, traced
from ...support.worked_examples import chains_on_a_host, first_services


@pytest.mark.parametrize(
    ("cores", "extra", "chains", "took_ms"),
    [
        (1, {}, 1, 10.0),
        (1, {}, 2, 20.0),  # both at half the speed
        (2, {}, 2, 10.0),
        (1.5, {}, 2, 13.333334),  # 2^20 x 1.5 / 2 units per ns
        (0.5, {}, 1, 20.0),
        (1, {"tax": 0.2}, 1, 10.0),  # one thread on one core pays no tax
        (1, {"tax": 0.2}, 2, 25.0),
        (1, {"quota_cores": 0.5, "quota_period_ms": 4.0}, 1, 18.0),  # 2 of every 4 ms: 0-2, 4-6, .., 16-18
        (2, {"quota_cores": 0.5, "quota_period_ms": 4.0}, 2, 37.0),  # 1 ms of every 4 for both at once
    ],
)
def test_worked_examples(cores: float, extra: dict[str, Any], chains: int, took_ms: float) -> None:
    made = chains_on_a_host({"kind": "processor_sharing", **extra}, cores, chains)
    simulation = traced(made)
    for start_ns, end_ns in first_services(simulation):
        assert end_ns - start_ns == pytest.approx(took_ms * MS, abs=30)
    assert_agreement(made, simulation)


def test_a_thread_that_comes_late_shares_from_then_on() -> None:
    """A has the core alone for 4 of its 10 ms; then both run at half the speed: A ends 12 ms later, B 20 - 6 / 2 .. after that alone."""
    made = chains_on_a_host({"kind": "processor_sharing"}, 1, 2)
    made["query"]["operators"][2]["cost"] = {"record_us": 10_000.0, "output_us": 0.0, "control_us": 0.0}
    made["workload"]["sources"]["source1"]["rate"] = {"kind": "constant", "per_s": 1.0}
    made["query"]["operators"][0]["cost"]["record_us"] = 6_000.0
    made["query"]["operators"][2]["cost"]["record_us"] = 10_000.0
    simulation = traced(made)
    (a_start, a_end), (b_start, b_end) = first_services(simulation)
    assert a_start == b_start
    assert a_end - a_start == pytest.approx(12 * MS, abs=30)  # 6 ms of work at half the speed
    assert b_end - b_start == pytest.approx(16 * MS, abs=30)  # 6 ms in these 12, the other 4 alone


@pytest.mark.slow
def test_seven_hundred_threads_on_one_host() -> None:
    made = chains_on_a_host({"kind": "processor_sharing", "tax": 0.05}, 24, 360, gap_ms=10.0, service_ms=1.0)
    made["workload"]["horizon_s"] = 0.05
    assert_agreement(made)


def test_a_pool_serves_with_all_cores() -> None:
    simulation = traced(chains_on_a_host({"kind": "pool"}, 3, 7))
    ends_ms = sorted((end_ns - start_ns, start_ns) for start_ns, end_ns in first_services(simulation))
    first_ns = ends_ms[0][1]
    assert [(start_ns - first_ns) // (10 * MS) for _, start_ns in ends_ms] == [0, 0, 0, 1, 1, 1, 2]


class Ranks:
    """A scheduling policy: lets the last source go first, and holds the first back until 1.5 s."""

    def __init__(self) -> None:
        self.next_ns = 0

    def act(self, world: World, now_ns: int) -> None:
        w = world.arrays
        sources = np.flatnonzero(w.inst[:, L.I_SOURCE] == 1).tolist()
        first = HELD if now_ns == 0 else 0
        rank(world, {source: first if n == 0 else -n for n, source in enumerate(sources)}, now_ns)
        self.next_ns = 1_500 * MS if now_ns == 0 else L.FAR

    def state(self) -> Any:
        return self.next_ns

    def restore(self, state: Any) -> None:
        self.next_ns = state


@pytest.mark.parametrize("kind", ["pool", "shared_fifo"])
def test_ranks_come_before_the_order_of_arrival(kind: str) -> None:
    simulation = traced(chains_on_a_host({"kind": kind}, 1, 3), controls=[Ranks()])
    held, second, first = (start_ns for start_ns, _ in first_services(simulation, after_ns=500 * MS))
    assert first == 1_000 * MS
    assert second == first + 10 * MS
    assert held == 1_500 * MS


def test_a_thread_that_is_held_back_waits() -> None:
    simulation = traced(chains_on_a_host({"kind": "processor_sharing"}, 1, 3), controls=[Ranks()])
    held, second, first = (start_ns for start_ns, _ in first_services(simulation, after_ns=500 * MS))
    assert first == second == 1_000 * MS
    assert held == 1_500 * MS

"""What a scheduling policy ranks and what a rescale holds do not meet: an instance that is held gets its rank when it is released."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine.core import layout as L
from engine.core.control.active_instances import hold, release
from engine.core.control.ranks import HELD, is_held, rank, set_ranks
from engine.core.world import World
from engine.lowering import processors

from ...support.agreement import finished, simulated
from ...support.query_examples import counting

MS = 1_000_000


class At:
    """Does something at each of some times."""

    def __init__(self, acts: dict[int, Any]):
        self.acts = dict(sorted(acts.items()))

    @property
    def next_ns(self) -> int:
        return next(iter(self.acts), L.FAR)

    def act(self, world: World, now_ns: int) -> None:
        self.acts.pop(now_ns)(world, now_ns)

    def state(self) -> Any:
        return [list(self.acts)]

    def restore(self, state: Any) -> None:
        self.acts = {time_ns: act for time_ns, act in self.acts.items() if time_ns in state[0]}


def services(acts: dict[int, Any], copies: int = 3, cores: int = 1) -> list[tuple[int, int]]:
    """Instance and start of every service."""
    simulation = finished(counting(horizon_s=2, per_s=800, copies=copies, cores=cores), trace=True, controls=[At(acts)])
    return [(instance, start_ns) for instance, start_ns, *_ in simulation.service_trace().tolist()]


SOURCES, COUNTS = (0, 1, 2), (3, 4, 5)


@pytest.mark.parametrize("scanned", [0, 10**9], ids=["heaps", "scan"])
def test_an_instance_that_is_held_keeps_the_rank_that_it_is_given_meanwhile(scanned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "SCANNED_MAX", scanned)
    acts = {
        100 * MS: lambda world, now_ns: hold(world, 3),
        200 * MS: lambda world, now_ns: rank(world, {3: -5, 4: 1}, now_ns),
        400 * MS: lambda world, now_ns: release(world, 3, now_ns),
    }
    found = services(acts)
    held = [start_ns for instance, start_ns in found if instance == 3 and 101 * MS < start_ns < 400 * MS]
    assert held == []
    after = [instance for instance, start_ns in found if 401 * MS < start_ns < 420 * MS]
    assert set(after) == {3}  # the least rank, with much to catch up, has the only core to itself
    assert len({instance for instance, start_ns in found if start_ns > 1000 * MS}) == 9


@pytest.mark.parametrize("scanned", [0, 10**9], ids=["heaps", "scan"])
def test_a_policy_that_pauses_an_instance_survives_a_hold(scanned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processors, "SCANNED_MAX", scanned)
    acts = {
        100 * MS: lambda world, now_ns: rank(world, {4: HELD}, now_ns),
        200 * MS: lambda world, now_ns: hold(world, 4),
        300 * MS: lambda world, now_ns: release(world, 4, now_ns),
        500 * MS: lambda world, now_ns: rank(world, {4: 0}, now_ns),
    }
    found = services(acts)
    assert [start_ns for instance, start_ns in found if instance == 4 and 101 * MS < start_ns < 500 * MS] == []
    assert any(instance == 4 and start_ns >= 500 * MS for instance, start_ns in found)


def test_ranks_of_many_instances_are_set_in_one_call() -> None:
    one, many = simulated(counting(copies=8)), simulated(counting(copies=8))
    for simulation in (one, many):
        simulation.run_until(700 * MS)
    instances = np.arange(24, dtype=np.int64)
    ranks = instances[::-1].copy()
    hold(many._world, 7)
    hold(one._world, 7)
    set_ranks(many._world, instances, ranks, 700 * MS)
    for i, value in zip(instances.tolist(), ranks.tolist(), strict=True):
        rank(one._world, {i: value}, 700 * MS)
    assert is_held(many._world.arrays, 7)
    assert many._world.arrays.inst[7, L.I_RANK] == HELD
    for simulation in (one, many):
        release(simulation._world, 7, 700 * MS)
        simulation.run_until(simulation.end_ns)
    assert many._world.arrays.inst[:, L.I_RANK].tolist() == ranks.tolist()
    assert one.service_trace().tolist() == many.service_trace().tolist()

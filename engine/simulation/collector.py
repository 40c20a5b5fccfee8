"""Pauses of a garbage collector that stops the world (docs/event-core.md, section 13)."""

from __future__ import annotations

from typing import Any, NamedTuple

from engine.core import layout as L
from engine.core.control.pauses import pause
from engine.core.world import World
from engine.spec import Experiment
from engine.spec.experiment.memory import Budget, CollectorPauses

PPM = 1_000_000


class Collected(NamedTuple):
    """A host whose collector pauses. budget_bytes: memory at a share of 1."""

    host: int
    budget_bytes: int
    about: CollectorPauses


class Collector:
    """A control: at the end of each period, a host that is short of memory stands still, the longer the shorter."""

    def __init__(self, collected: Collected, until_ns: int):
        self._of, self._until_ns = collected, until_ns
        self._next_ns = collected.about.every_ns

    @property
    def next_ns(self) -> int:
        return self._next_ns if self._next_ns <= self._until_ns else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        self._next_ns = now_ns + self._of.about.every_ns
        used_bytes = int(world.arrays.memory[self._of.host, L.Z_USED])
        span_ns = self._of.about.span_ns(used_bytes * PPM // self._of.budget_bytes)
        if span_ns:
            pause(world, self._of.host, span_ns, now_ns)

    def state(self) -> Any:
        return self._next_ns

    def restore(self, state: Any) -> None:
        self._next_ns = state


def collectors(experiment: Experiment) -> list[Collector]:
    found = []
    for host in experiment.expanded_hosts():
        if isinstance(host.memory, Budget) and host.memory.pauses is not None:
            collected = Collected(host.index, host.memory.budget_bytes(host.memory_bytes), host.memory.pauses)
            found.append(Collector(collected, experiment.workload.end_ns))
    return found

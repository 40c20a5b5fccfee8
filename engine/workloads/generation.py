"""Ends generators that wait for the system; a control, since generators are outside the system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.core import layout as L
from engine.core.control.ranks import look_again
from engine.core.world import World


class GenerationEnds:
    """Records that coordinated sources have not read before the horizon are never generated (docs/event-core.md, section 5). The end marker
    of the log stays.

    instances: those of these sources.
    """

    def __init__(self, instances: Sequence[int], horizon_ns: int):
        self._instances = list(instances)
        self._next_ns = horizon_ns - 1

    @property
    def next_ns(self) -> int:
        return self._next_ns

    def act(self, world: World, now_ns: int) -> None:
        self._next_ns = L.FAR
        w = world.arrays
        for instance in self._instances:
            first, end = int(w.inst[instance, L.I_LOG]), int(w.inst[instance, L.I_LOG_END])
            if first < end and w.log[end - 1, L.D_TRIGGER] == L.LOG_END:
                end -= 1
            w.inst[instance, L.I_LOG] = end
        look_again(world, self._instances, now_ns)

    def state(self) -> Any:
        return self._next_ns

    def restore(self, state: Any) -> None:
        self._next_ns = state

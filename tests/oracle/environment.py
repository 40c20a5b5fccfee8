"""A SimPy environment in which simultaneous events follow the model's structural order.

SimPy's event heap holds `(time, priority, insertion number, event)`. Here the priority is a tuple of our own, `(phase, number, ...)`,
so that what happens first at one instant is a property of the model (docs/event-core.md, section 2) and never of insertion.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from heapq import heappush

import simpy


class Phase(IntEnum):
    """The phases of an instant (section 2), and what the network does (4.1): faults come first; when trunks work is all the same."""

    FAULT = 0
    COMPLETION = 1
    WAKE_UP = 2
    TICK = 3
    ARRIVAL = 4
    DISPATCH = 5
    LOOK = 6  # at what the host holds
    SHARE = 7  # under processor sharing: the rate from here on
    TRUNK = 8
    CONTROL = 9  # faults


class Moment:
    """What SimPy asks of an event, and no more: the oracle has hundreds of thousands."""

    __slots__ = ("callbacks", "is_work")
    _ok = True

    def __init__(self, callback: Callable[[], None], is_work: Callable[[], bool]):
        self.callbacks: list[Callable[[Moment], None]] | None = [lambda _: callback()]
        self.is_work = is_work


class StructuralEnvironment(simpy.Environment):
    """Runs callbacks at integer nanoseconds in the order `(time, phase, numbers)`."""

    def at(
        self,
        time_ns: int,
        phase: Phase,
        numbers: tuple[int, ...],
        callback: Callable[[], None],
        is_work: Callable[[], bool] = lambda: True,
    ) -> None:
        """Call `callback` at `time_ns` (not in the past) in this phase; `numbers` orders the phase, for example `(instance,)`.

        is_work: whether the run has not ended while this is to come.
        """
        heappush(self._queue, (time_ns, (phase, *numbers), next(self._eid), Moment(callback, is_work)))

    def run_through(self, time_ns: int) -> bool:
        """Let everything happen up to and including `time_ns`; True if nothing at all is left to do."""
        while self.peek() <= time_ns:
            self.step()
        return not any(event.is_work() for *_, event in self._queue)

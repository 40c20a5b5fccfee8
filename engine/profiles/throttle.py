"""Backpressure by one switch: if a queue is too long, all receivers stop, wherever they are (Karimov 2020, 2.2, Storm)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.active_instances import hold, release
from engine.core.kernels import bulk
from engine.core.tables import Arrays, Words
from engine.core.world import World


class Throttle:
    """Looks at the queues every `check_ns`. If one holds more than `high` records, all receivers are held from `notify_ns` later on; when
    no queue holds more than `low`, they are released, as late. Marks are in real records. receivers, watched: numbers of operators.

    stops: (start, end) of the times at which receivers were held, in ns; the last end is FAR while they are.
    """

    def __init__(self, receivers: Sequence[int], watched: Sequence[int], high: int, low: int, check_ns: int, notify_ns: int):
        self._receivers, self._watched = list(receivers), list(watched)
        self._high, self._low, self._check_ns, self._notify_ns = high, low, check_ns, notify_ns
        self._check_at, self._on, self._orders = check_ns, False, list[list[int]]()  # orders: time, 1 to hold or 0 to release
        self.stops: list[list[int]] = []

    @property
    def next_ns(self) -> int:
        return min(self._check_at, self._orders[0][0] if self._orders else L.FAR)

    def holds(self, world: World) -> bool:
        """Whether receivers are held, or an order is on its way."""
        return bool(self._orders) or bool(self.stops and self.stops[-1][1] == L.FAR)

    def act(self, world: World, now_ns: int) -> None:
        if self._check_at <= now_ns:
            self._check_at += self._check_ns
            self._check(world.arrays, now_ns)
        while self._orders and self._orders[0][0] <= now_ns:
            _, stops = self._orders.pop(0)
            self._switch(world, stops == 1, now_ns)

    def _check(self, w: Arrays, now_ns: int) -> None:
        longest = int(bulk.longest_queue(w.inst, w.op, w.msg, _rows(w, self._watched)))
        if not self._on and longest > self._high:
            self._on = True
        elif self._on and longest <= self._low:
            self._on = False
        else:
            return
        self._orders.append([now_ns + self._notify_ns, int(self._on)])

    def _switch(self, world: World, stops: bool, now_ns: int) -> None:
        if stops:
            self.stops.append([now_ns, L.FAR])
        else:
            self.stops[-1][1] = now_ns
        for i in _rows(world.arrays, self._receivers).tolist():
            if stops:
                hold(world, i)
            else:
                release(world, i, now_ns)

    def frame(self, since_ns: int, now_ns: int) -> dict[str, Any]:
        """When receivers were held between two times, as [start, end] in s."""
        held = [[max(start, since_ns) / 1e9, min(end, now_ns) / 1e9] for start, end in self.stops if end > since_ns and start < now_ns]
        return {"stopped_s": held}

    def summary(self, since_ns: int, now_ns: int) -> dict[str, Any]:
        """How often receivers were stopped between two times, and for which share of that time."""
        held_ns = [min(end, now_ns) - max(start, since_ns) for start, end in self.stops if end > since_ns and start < now_ns]
        return {"stops": len(held_ns), "stopped": round(sum(held_ns) / max(1, now_ns - since_ns), 6)}

    def state(self) -> Any:
        return {"check_at": self._check_at, "on": self._on, "orders": self._orders, "stops": self.stops}

    def restore(self, state: Any) -> None:
        self._check_at, self._on = state["check_at"], state["on"]
        self._orders, self.stops = [[*order] for order in state["orders"]], [[*stop] for stop in state["stops"]]


def _rows(w: Arrays, operators: Sequence[int]) -> Words:
    """Numbers of the operators' instances."""
    return np.flatnonzero(np.isin(w.inst[:, L.I_OP], operators))

"""Drops records past the retention of source logs; a control, since the log is outside the system under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.world import World
from engine.spec.experiment.retention import KeepFor


class Retention:
    """At every check, after all other events at that time, unread records older than the retention are dropped.

    logs: retention by source instance. dropped: records so far, by instance. The end marker of the log stays.
    """

    def __init__(self, logs: Mapping[int, KeepFor], instances: int):
        self._logs = dict(logs)
        self._next_ns = {instance: kept.check_ns for instance, kept in logs.items()}
        self.dropped: NDArray[np.int64] = np.zeros(instances, np.int64)

    @property
    def next_ns(self) -> int:
        return min(self._next_ns.values(), default=L.FAR)

    def act(self, world: World, now_ns: int) -> None:
        w = world.arrays
        for instance, kept in self._logs.items():
            if self._next_ns[instance] > now_ns:
                continue
            self._next_ns[instance] += kept.check_ns
            first, end = int(w.inst[instance, L.I_LOG]), int(w.inst[instance, L.I_LOG_END])
            if first < end and w.log[end - 1, L.D_TRIGGER] == L.LOG_END:
                end -= 1
            old = int(np.searchsorted(w.log[first:end, L.D_APPEND], now_ns - kept.keep_ns, side="left"))
            self.dropped[instance] += np.count_nonzero(w.log[first : first + old, L.D_TRIGGER] >= 0)
            w.inst[instance, L.I_LOG] += old

    def state(self) -> Any:
        return {"next_ns": list(self._next_ns.values()), "dropped": self.dropped.tolist()}

    def restore(self, state: Any) -> None:
        self._next_ns = dict(zip(self._logs, state["next_ns"], strict=True))
        self.dropped = np.array(state["dropped"], np.int64)

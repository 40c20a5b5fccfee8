"""A host whose cores run at another speed for a while."""

from __future__ import annotations

from engine.core import layout as L
from engine.core.world import World

from .occurrences import FaultControl


class SlowHostControl(FaultControl):
    def begin(self, world: World, now_ns: int) -> None:
        """Faults that overlap multiply."""
        w = world.arrays
        speed = int(w.host[self.host, L.H_OWN_SPEED])
        for other in self.all:
            if isinstance(other, SlowHostControl) and other.host == self.host and other.on:
                speed = max(1, speed * other.fault.factor_milli // 1000)
        w.host[self.host, L.H_SPEED] = speed
        w.inst[w.inst[:, L.I_HOST] == self.host, L.I_COST] = -1  # instances keep the duration of their last service

    end = begin


control = SlowHostControl

"""A host that is lost with everything in its memory, and may come back empty."""

from __future__ import annotations

from engine.core.loss import kill, restart
from engine.core.world import World

from .occurrences import FaultControl


class HostLossControl(FaultControl):
    features = ("losses",)

    def begin(self, world: World, now_ns: int) -> None:
        kill(world, self.host, now_ns, self.next_ns)

    def end(self, world: World, now_ns: int) -> None:
        """Losses that overlap last until the latest restart."""
        if not any(isinstance(other, HostLossControl) and other.host == self.host and other.on for other in self.all):
            restart(world, self.host, now_ns)

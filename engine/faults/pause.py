"""A host that pauses for a while."""

from __future__ import annotations

from engine.core.control.pauses import pause
from engine.core.world import World

from .fault_control import FaultControl


class PauseControl(FaultControl):
    def begin(self, world: World, now_ns: int) -> None:
        """Pause the host: nothing happens on it until the end of the pause, and services in progress end that much later
        (docs/event-core.md, section 10)."""
        pause(world, self.host, self.fault.span_ns, now_ns)

    def end(self, world: World, now_ns: int) -> None:
        """Nothing to do: the host resumes by itself."""


control = PauseControl

"""A host that runs out of memory, dies, and is restarted (docs/event-core.md, section 13.2)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from engine.core import layout as L
from engine.core.control.host_failure import restart, restart_after_oom
from engine.core.world import World

from .host_loss import Loss, is_lost


class Supervisor:
    """Restarts the process on one host a fixed time after its death.

    Deaths are not known in advance: call `look` whenever the event loop returns.
    deaths: time in ns and bytes used, for each.
    """

    features = ("losses",)

    def __init__(self, host: int, restart_after_ns: int):
        self.host = host
        self._restart_after_ns = restart_after_ns
        self.losses: Iterable[Loss] = ()  # all losses of the run
        self.deaths: list[list[int]] = []
        self.on = False
        self.next_ns = L.FAR

    def look(self, world: World) -> None:
        death = restart_after_oom(world, self.host, self._restart_after_ns)
        if death is not None:
            self.deaths.append(list(death))
            self.on, self.next_ns = True, self.back_ns(death[0])

    def back_ns(self, died_ns: int) -> int:
        """Return when it is restarted after a death."""
        return died_ns + self._restart_after_ns

    def act(self, world: World, now_ns: int) -> None:
        self.on, self.next_ns = False, L.FAR
        if not is_lost(self.host, self.losses):
            restart(world, self.host, now_ns)

    def state(self) -> Any:
        return [self.on, self.next_ns, self.deaths]

    def restore(self, state: Any) -> None:
        self.on, self.next_ns, deaths = state
        self.deaths = [list(death) for death in deaths]

"""What acts rarely and in Python: autoscalers, coordinators, faults. They act between windows, never inside one."""

from __future__ import annotations

from typing import Any, Protocol

from engine.core.world import World


class Control(Protocol):
    """A policy that acts at times of its own.

    The loop stops at `next_ns`; everything at times <= next_ns has happened when `act` is called, frames of the same time come after it.
    Controls that
    are due at the same time act in the order in which they were given. What a control remembers is part of the run's state: `state` gives
    it as
    JSON values, which are saved, forked and hashed with the arrays (so no sets, no floats that depend on the machine, no references).
    One that needs a feature of the loop names it in `features` (`engine.core.weave.FEATURES`).
    """

    @property
    def next_ns(self) -> int:
        """When it wants to act next, later than the last time; `layout.FAR` for never."""
        ...

    def act(self, world: World, now_ns: int) -> None:
        """Read and change the world. Must move `next_ns` on."""
        ...

    def state(self) -> Any:
        """All that it remembers, as JSON values."""
        ...

    def restore(self, state: Any) -> None: ...

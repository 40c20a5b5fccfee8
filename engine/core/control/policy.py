"""Interface of controls, which act rarely and in Python: autoscalers, coordinators, faults. They act between windows, never inside one."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

from engine.core.world import World


class Control(Protocol):
    """A policy that acts at times of its own.

    The loop stops at `next_ns`. When it calls `act`, everything at times <= next_ns has happened; frames of the same time come afterwards.
    Controls due at the same time act in the order in which they were given. A control's memory is part of the run's state: `state` returns
    it as JSON values, which are saved, forked and hashed with the arrays (so no sets, no floats that depend on the machine, no references).
    A control that needs a feature of the loop names it in `features` (`engine.core.weave.FEATURES`). One that reads epochs says in
    `epochs_kept` how many of each source instance it needs.
    """

    @property
    def next_ns(self) -> int:
        """Time of the next action, later than the last one; `layout.FAR` for never."""
        ...

    def act(self, world: World, now_ns: int) -> None:
        """Read and change the world. Must advance `next_ns`."""
        ...

    def state(self) -> Any:
        """The control's memory as JSON values."""
        ...

    def restore(self, state: Any) -> None: ...


@runtime_checkable
class Chooser(Protocol):
    """A control that chooses anew on one host when a watermark that it watches has risen (`engine.core.control.ranks.watch`)."""

    def choose(self, world: World, host: int, now_ns: int) -> None:
        """Everything on this host at times <= now_ns has happened, and nothing later. Other hosts may be earlier or later: it reads and
        changes this host alone."""
        ...

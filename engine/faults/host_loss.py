"""Loss of a host with everything in its memory; it may come back empty."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from engine.core.control.host_failure import kill, restart
from engine.core.world import World
from engine.spec import Experiment

from .fault_control import FaultControl


class Loss(Protocol):
    """An outage of a host."""

    host: int
    on: bool


def is_lost(host: int, losses: Iterable[Loss]) -> bool:
    """Return whether one of the losses keeps the host down: overlapping losses last until the latest restart."""
    return any(loss.on for loss in losses if loss.host == host)


class HostLossControl(FaultControl):
    features = ("losses",)

    losses: Iterable[Loss] = ()  # all losses of the run

    def __init__(self, experiment: Experiment, number: int):
        super().__init__(experiment, number)
        if self.span_ns is None:
            # a spare host takes its place; a valid document has enough of them
            self.span_ns = experiment.policies.checkpointing.takeover_ns

    def begin(self, world: World, now_ns: int) -> None:
        kill(world, self.host, now_ns, self.next_ns)

    def end(self, world: World, now_ns: int) -> None:
        if not is_lost(self.host, self.losses):
            restart(world, self.host, now_ns)


control = HostLossControl

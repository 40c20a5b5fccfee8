"""Loss of a host with everything in its memory; it may come back empty."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from engine.core.control.host_failure import kill, restart
from engine.core.world import World
from engine.spec import Experiment
from engine.spec.experiment.occurrences.in_commit import InCommit

from .fault_control import FaultControl


class Loss(Protocol):
    """An outage of a host."""

    host: int
    on: bool


def is_lost(host: int, losses: Iterable[Loss]) -> bool:
    """Return whether one of the losses keeps the host down: overlapping losses last until the latest restart."""
    return any(loss.on for loss in losses if loss.host == host)


class Stores(Protocol):
    """The local stores of hosts, which have to know when a host is lost (`engine.state.stores`)."""

    def lost(self, world: World, host: int, now_ns: int, disk_lost: bool) -> None: ...
    def started(self, world: World, host: int, now_ns: int) -> None: ...


class HostLossControl(FaultControl):
    features = ("losses",)

    losses: Iterable[Loss] = ()  # all losses of the run
    stores: Stores | None = None

    def __init__(self, experiment: Experiment, number: int):
        super().__init__(experiment, number)
        if self.span_ns is None:
            # a spare host takes its place; a valid document has enough of them
            self.span_ns = experiment.policies.checkpointing.takeover_ns

    def strikes(self, commit: int, step: str) -> bool:
        """Whether the host is to be lost in this commit of its stores, before this step."""
        when = self.fault.when
        return isinstance(when, InCommit) and (when.commit, when.before) == (commit, step)

    def strike(self, now_ns: int) -> None:
        """Lose the host in the next nanosecond."""
        self.next_ns = now_ns + 1

    def begin(self, world: World, now_ns: int) -> None:
        if self.stores is not None:
            self.stores.lost(world, self.host, now_ns, not self.fault.disk_survives)
        kill(world, self.host, now_ns, self.next_ns)

    def end(self, world: World, now_ns: int) -> None:
        if not is_lost(self.host, self.losses):
            restart(world, self.host, now_ns)
            if self.stores is not None:
                self.stores.started(world, self.host, now_ns)


control = HostLossControl

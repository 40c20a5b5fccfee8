"""The control that begins and ends a fault of a host."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from engine.core import layout as L
from engine.core.random import RandomStream
from engine.core.world import World
from engine.spec import Experiment
from engine.spec.experiment.faults.host_fault import HostFault

from . import occurrences


class FaultControl(ABC):
    """A fault that begins at the times of its occurrence and ends a fixed time later, or never. Subclasses define its effects.

    number: index among the document's faults.
    """

    factor_milli = 1000  # factor of the host's speed during the fault, in thousandths

    def __init__(self, experiment: Experiment, number: int):
        fault = experiment.faults[number]
        assert isinstance(fault, HostFault)
        self.fault: Any = fault
        self.host = next(host.index for host in experiment.expanded_hosts() if host.name == fault.host)
        self._random = RandomStream(experiment.workload.seed, "fault", number)
        self.span_ns: int | None = fault.span_ns  # None: permanent
        self.all: list[FaultControl] = [self]  # the controls of all faults of the run
        self._begun = 0  # number of times it has begun
        self.on = False
        self.next_ns = self._begins_next_ns(0)

    def _begins_next_ns(self, now_ns: int) -> int:
        """Time of the next begin. now_ns: end of the last one, 0 before the first."""
        at_ns = occurrences.next_ns(self.fault.when, self._random, self._begun, now_ns)
        return L.FAR if at_ns is None else at_ns

    def act(self, world: World, now_ns: int) -> None:
        self.on = not self.on
        if self.on:
            self._begun += 1
            self.next_ns = L.FAR if self.span_ns is None else now_ns + self.span_ns
            self.begin(world, now_ns)
        else:
            self.next_ns = self._begins_next_ns(now_ns)
            self.end(world, now_ns)

    def set_speed(self, world: World) -> None:
        """Set the host's speed from its active faults, whose factors multiply. Services in progress keep their speed."""
        w = world.arrays
        speed = int(w.host[self.host, L.H_OWN_SPEED])
        for fault in self.all:
            if fault.on and fault.host == self.host:
                speed = max(1, speed * fault.factor_milli // 1000)
        w.host[self.host, L.H_SPEED] = speed
        w.inst[w.inst[:, L.I_HOST] == self.host, L.I_COST] = -1  # instances cache the duration of their last service

    @abstractmethod
    def begin(self, world: World, now_ns: int) -> None:
        """Apply the fault to the host."""

    @abstractmethod
    def end(self, world: World, now_ns: int) -> None:
        """End the fault."""

    def state(self) -> Any:
        return [self._begun, self.on, self.next_ns]

    def restore(self, state: Any) -> None:
        self._begun, self.on, self.next_ns = state

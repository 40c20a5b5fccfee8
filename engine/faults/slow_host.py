"""A host whose cores run at a different speed for a while."""

from __future__ import annotations

from engine.core.world import World
from engine.spec import Experiment

from .fault_control import FaultControl


class SlowHostControl(FaultControl):
    def __init__(self, experiment: Experiment, number: int):
        super().__init__(experiment, number)
        self.factor_milli = self.fault.factor_milli

    def begin(self, world: World, now_ns: int) -> None:
        self.set_speed(world)

    def end(self, world: World, now_ns: int) -> None:
        self.set_speed(world)


control = SlowHostControl

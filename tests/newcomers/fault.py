"""A fault from outside the package, all of it in one file: parameters and what acts."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from engine.core.world import World
from engine.faults.fault_control import FaultControl
from engine.spec import Experiment
from engine.spec.base.units import Number, milliseconds_ns, quantity
from engine.spec.experiment.faults.host_fault import PassingFault


class HotHostControl(FaultControl):
    """Halves the speed of the host at the beginning and after each step."""

    def __init__(self, experiment: Experiment, number: int):
        super().__init__(experiment, number)
        self._ends_ns = 0

    def act(self, world: World, now_ns: int) -> None:
        if self.on and now_ns < self._ends_ns:
            self._slow_down(world, now_ns)
        else:
            super().act(world, now_ns)

    def begin(self, world: World, now_ns: int) -> None:
        self.factor_milli, self._ends_ns = 1000, self.next_ns
        self._slow_down(world, now_ns)

    def end(self, world: World, now_ns: int) -> None:
        self.set_speed(world)

    def _slow_down(self, world: World, now_ns: int) -> None:
        self.factor_milli //= 2
        self.next_ns = min(self._ends_ns, now_ns + milliseconds_ns(self.fault.step_ms))
        self.set_speed(world)

    def state(self) -> Any:
        return [super().state(), self.factor_milli, self._ends_ns]

    def restore(self, state: Any) -> None:
        begun, self.factor_milli, self._ends_ns = state
        super().restore(begun)


class HotHost(PassingFault):
    """The host overheats: it runs at half its speed, after each step at half of that, until it has cooled down."""

    title: ClassVar[str] = "Hot host"
    icon: ClassVar[str] = "gauge"
    source: ClassVar[str] = "Newcomer et al., section 7"
    kind: Literal["hot_host"] = "hot_host"
    step_ms: Number = quantity(
        1000.0, unit="ms", ge=0.000001, le=1e12, title="Step", description="Time after which its speed halves again."
    )
    control: ClassVar[type[FaultControl]] = HotHostControl

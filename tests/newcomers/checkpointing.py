"""A checkpointing protocol from outside the package: uncoordinated checkpoints that become rarer as a run goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from engine.checkpointing.setup import ProtocolContext, ProtocolSetup
from engine.checkpointing.uncoordinated import UncoordinatedCoordinator, UncoordinatedWorker, logged_setup, searching
from engine.spec.base.problems import Problem, pointer
from engine.spec.base.units import Number, quantity
from engine.spec.experiment.checkpointing.checkpoints import AT
from engine.spec.experiment.checkpointing.logged import LoggedCheckpoints


class GrowingIntervals(LoggedCheckpoints):
    """As uncoordinated, but each interval of a worker is longer than the one before."""

    title: ClassVar[str] = "Growing intervals"
    source: ClassVar[str] = "Newcomer et al., section 4"
    kind: Literal["growing"] = "growing"
    growth: Number = quantity(2, unit="x", ge=1, le=100, title="Growth", description="An interval over the one before.")

    def own_problems(self, draft: Any) -> Iterator[Problem]:
        if draft.workload is not None and self.interval_ns * (1 + self.growth) > draft.workload.horizon_ns:
            message = f"growth is {self.growth:g}, so that there would be no second checkpoint; choose less, or a longer run"
            yield Problem(pointer(*AT, "growth"), "outside_run", message, self.growth)

    def build(self, run: ProtocolContext) -> ProtocolSetup:
        timers = self.interval_ns, self.jitter_ns, run.until_ns, run.seed
        worker = GrowingWorker(run.costs, run.may_lose_hosts, *timers)
        worker.growth = self.growth
        return logged_setup(self, run, worker, UncoordinatedCoordinator(*searching(self, run)))


class GrowingWorker(UncoordinatedWorker):
    growth: float

    def next_interval_ns(self, host: int) -> int:
        return round(self.interval_ns * self.growth ** self.numbers.get(host, 0))

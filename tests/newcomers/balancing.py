"""A balancing from outside the package, all of it in one file: parameters and plan."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from engine.spec.base.units import Integer, quantity
from engine.spec.experiment.balancings.base import Balancing


class Largest(Balancing):
    """The largest worksets of the busiest worker go to the idlest one."""

    title: ClassVar[str] = "Largest"
    source: ClassVar[str] = "Newcomer et al., section 8"
    kind: Literal["largest"] = "largest"
    count: Integer = quantity(1, unit="worksets", ge=1, le=100, title="Worksets", description="How many move before each window.")

    def plan(self, loads: Any) -> None:
        source, target = (by_load(range(len(loads.by_worker)), key=loads.by_worker.__getitem__) for by_load in (max, min))
        for workset in sorted(loads.worksets[source].values(), key=lambda workset: -workset.load)[: self.count]:
            before = loads.imbalance
            loads.move(workset, source, target, 0.0)
            loads.moves[-1] = loads.moves[-1]._replace(benefit=before - loads.imbalance)

"""A drift from outside the package, all of it in one file: parameters and factors."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from engine.spec.base.units import Integer, Number, quantity
from engine.spec.experiment.drifts.base import Drift


class CompactionDrift(Drift):
    """Every so many steps one costs more: then the store compacts its files."""

    title: ClassVar[str] = "Compaction"
    source: ClassVar[str] = "Newcomer et al., section 12"
    kind: Literal["compaction"] = "compaction"
    step_s: Number = quantity(1.0, unit="s", ge=0.001, le=1e6, title="Step", description="Length of a step.")
    every: Integer = quantity(10, unit="steps", ge=1, le=10**6, title="Every", description="One of so many steps costs more.")
    factor: Number = quantity(2.0, unit="x", ge=1, le=7, title="Factor", description="How many times the usual cost services then cost.")

    def factors(self, random: Any, steps: int) -> Any:
        return np.where(np.arange(steps) % self.every == self.every - 1, self.factor, 1.0)

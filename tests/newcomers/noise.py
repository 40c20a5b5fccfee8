"""A law of noise from outside the package, all of it in one file: parameters and quantiles."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np

from engine.spec.base.units import Number, quantity
from engine.spec.experiment.noises.base import Noise


class TriangularNoise(Noise):
    """Costs between two bounds around the mean; the nearer to the mean, the more probable."""

    title: ClassVar[str] = "Triangular"
    source: ClassVar[str] = "Newcomer et al., section 11"
    kind: Literal["triangular"] = "triangular"
    reach: Number = quantity(0.5, unit="", ge=0, le=1, title="Reach", description="Largest deviation as a share of the mean.")

    def quantiles(self, share: Any) -> tuple[Any, Any]:
        beyond = self.reach * (1 - np.sqrt(2 * share))
        return 1 - beyond, 1 + beyond

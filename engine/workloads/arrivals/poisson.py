"""The arrivals `poisson`."""

from __future__ import annotations

from engine.spec.experiment.arrivals.poisson import PoissonArrivals

from .base import Arrivals, SourceLoad
from .gamma import Gamma


def arrivals(law: PoissonArrivals, load: SourceLoad) -> Arrivals:
    return Gamma(load.curve, 1, load.seed, load.operator_id, load.horizon_ns, load.scale)

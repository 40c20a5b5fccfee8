"""The curve of the rate `random_walk`."""

from __future__ import annotations

from engine.spec.experiment.rates.random_walk import RandomWalkRate

from ..curves import Curve
from .walk import walk


def curve(rate: RandomWalkRate, horizon_ns: int) -> Curve:
    change = int(rate.change_per_s)
    return walk(rate, horizon_ns, int(rate.start_per_s), change, change, least=int(rate.min_per_s), most=int(rate.max_per_s))

"""The curve of the rate `increasing`."""

from __future__ import annotations

from engine.spec.experiment.rates.increasing import IncreasingRate

from ..curves import Curve
from .walk import walk


def curve(rate: IncreasingRate, horizon_ns: int) -> Curve:
    top = int(rate.top_per_s)
    return walk(rate, horizon_ns, 0, top // 30, top // 22, moves_first=True)

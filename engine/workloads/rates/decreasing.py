"""The curve of the rate `decreasing`."""

from __future__ import annotations

from engine.spec.experiment.rates.decreasing import DecreasingRate

from ..curves import Curve
from .walk import walk


def curve(rate: DecreasingRate, horizon_ns: int) -> Curve:
    top = int(rate.top_per_s)
    return walk(rate, horizon_ns, top + top // 1250, top // 21, top // 28, moves_first=True)

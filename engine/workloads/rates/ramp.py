"""The curve of the rate `ramp`."""

from __future__ import annotations

from itertools import pairwise

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.rates.ramp import RampRate

from ..curves import Curve, from_zero, grid, micro


def curve(rate: RampRate, horizon_ns: int) -> Curve:
    """Return the curve. Each grid step has the rate at its middle, so the area at the grid's edges equals that of the straight line."""
    start_ns, end_ns = seconds_ns(rate.start_s), seconds_ns(rate.end_s)
    low, high = micro(rate.from_per_s), micro(rate.to_per_s)
    length_ns = end_ns - start_ns
    edges = [start_ns + offset_ns for offset_ns in grid(length_ns)] + [end_ns]
    rates = [low + (high - low) * (before + after - 2 * start_ns) // (2 * length_ns) for before, after in pairwise(edges)]
    return from_zero(edges, [*rates, high], low)

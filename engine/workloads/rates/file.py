"""The curve of the rate `file`."""

from __future__ import annotations

from engine.spec.base.units import scaled
from engine.spec.experiment.rates.file import FileRate
from engine.spec.rules.flow import Datasets

from ..curves import MICRO, Curve, from_zero
from ..traces import rate_trace


def curve(rate: FileRate, datasets: Datasets) -> Curve:
    """Return the curve of a file. If several rows fall on the same ns at this speed, the last one counts."""
    times_ns, per_s = rate_trace(rate, datasets)
    speed, factor = scaled(rate.speed, MICRO), scaled(rate.factor, MICRO)
    starts = [time_ns * MICRO // speed for time_ns in times_ns]
    rates = [value * factor // MICRO for value in per_s]
    kept = [number for number in range(len(starts)) if number + 1 == len(starts) or starts[number] < starts[number + 1]]
    return from_zero([starts[number] for number in kept], [rates[number] for number in kept])

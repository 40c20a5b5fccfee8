"""The curve of the rate `spikes`."""

from __future__ import annotations

import numpy as np

from engine.core.random import RandomStream
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.rates.spikes import SpikesRate

from ..curves import Curve, micro, steps_until


def curve(rate: SpikesRate, horizon_ns: int) -> Curve:
    every_ns, duration_ns = seconds_ns(rate.every_s), seconds_ns(rate.duration_s)
    base, peak = micro(rate.base_per_s), micro(rate.peak_per_s)
    if rate.placing == "regular":
        return Curve([0, duration_ns], [peak, base], every_ns) if duration_ns < every_ns else Curve([0], [peak])
    periods = np.array(steps_until(horizon_ns, rate.every_s, "every_s"))
    late = RandomStream(rate.seed, "spikes").below(np.arange(len(periods)), every_ns - duration_ns + 1)
    starts, rates = [0], [base]
    for start_ns in (periods + late).tolist():
        for edge_ns, value in ((start_ns, peak), (start_ns + duration_ns, base)):
            if edge_ns == starts[-1]:  # spikes that touch
                rates[-1] = value
            else:
                starts.append(edge_ns)
                rates.append(value)
    return Curve(starts, rates)

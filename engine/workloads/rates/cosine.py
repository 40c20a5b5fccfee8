"""The curve of the rate `cosine`."""

from __future__ import annotations

from itertools import pairwise

from engine.spec.base.units import seconds_ns
from engine.spec.experiment.rates.cosine import CosineRate

from ..curves import FIXED, MICRO, Curve, cosine, grid, micro, steps_until
from ..javarandom import JavaRandom


def curve(rate: CosineRate, horizon_ns: int) -> Curve:
    """Return the curve. Smooth: each grid step has the rate at its middle. With steps: each has the rate at its start, plus noise."""
    period_ns, phase_ns = seconds_ns(rate.period_s), seconds_ns(rate.phase_s)
    mean, amplitude = micro(rate.mean_per_s), micro(rate.amplitude_per_s)

    def at(time_ns: int) -> int:
        return mean + amplitude * cosine(time_ns - phase_ns, period_ns) // FIXED

    if not rate.step_s:
        edges = [*grid(period_ns), period_ns]
        return Curve(edges[:-1], [max(0, at((before + after) // 2)) for before, after in pairwise(edges)], period_ns)
    chance = JavaRandom(rate.seed)
    noise = micro(rate.noise_per_s)
    rates = []
    starts = steps_until(horizon_ns, rate.step_s, "step_s")
    for start_ns in starts:
        exact = at(start_ns) + 2 * chance.share_of(noise) - noise
        chance.skip(2)  # the original generator also draws for a spike, which these experiments do not use
        rates.append(max(0, exact // MICRO * MICRO))
    return Curve(starts, rates)

"""How much chance there is in what was measured over seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.core.random import RandomStream


@dataclass(frozen=True)
class Interval:
    """A mean, and between what bounds it would lie with other seeds; no bounds from a single value."""

    mean: float
    low: float | None
    high: float | None
    count: int


def interval(values: Sequence[float], *, confidence: float = 0.95, draws: int = 2000) -> Interval:
    """The mean of values and its bootstrap interval: percentiles of the means of samples drawn with replacement. The draws are the same
    each time. Values: at least one.

    Source: Efron 1979, "Bootstrap methods: another look at the jackknife"; of few values (below some eight) the interval is too narrow.
    """
    of = np.array(values, np.float64)
    if len(of) == 0:
        raise ValueError("there are no values; an interval needs at least one")
    mean = float(of.mean())
    if len(of) == 1:
        return Interval(mean, None, None, 1)
    chosen = RandomStream(0, "bootstrap").below(np.arange(draws * len(of)), len(of)).reshape(draws, len(of))
    means = np.sort(of[chosen].mean(axis=1))
    outside = (1 - confidence) / 2
    low, high = (float(means[round(share * (draws - 1))]) for share in (outside, 1 - outside))
    return Interval(mean, low, high, len(of))

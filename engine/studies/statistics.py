"""How much chance there is in what was measured over seeds, and whether two measurements differ by more than chance."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream

Floats = NDArray[np.float64]

ROWS_TOGETHER = 200
"""So many lists are looked at together: what is computed of them fits in the processor's cache."""


@dataclass(frozen=True)
class Interval:
    """A mean, and between what bounds it would lie with other seeds; no bounds from a single value."""

    mean: float
    low: float | None
    high: float | None
    count: int


@dataclass(frozen=True)
class Difference:
    """How much greater the mean is than that of a baseline, and between what bounds that would lie with other seeds.

    p: how often chance alone would make means differ by as much or more, if both had the same; small: they differ. Bounds and p are None
    where a side has a single value. pairs: how many seeds of both sides were held against each other; 0: the sides were taken apart.
    """

    difference: float
    low: float | None
    high: float | None
    p: float | None
    pairs: int


def interval(values: Sequence[float], *, confidence: float = 0.95, draws: int = 2000) -> Interval:
    """The mean of values and its bootstrap interval: percentiles of the means of samples drawn with replacement. The draws are the same
    each time. Values: at least one.

    Source: Efron 1979, "Bootstrap methods: another look at the jackknife"; of few values (below some eight) the interval is too narrow.
    """
    (found,) = intervals([values], confidence=confidence, draws=draws)
    return found


def intervals(rows: Sequence[Sequence[float]], *, confidence: float = 0.95, draws: int = 2000) -> list[Interval]:
    """The intervals of many lists of values, each as `interval` gives it."""
    if not all(rows):
        raise ValueError("there are no values; an interval needs at least one")
    found: dict[int, Interval] = {}
    for count in {len(row) for row in rows}:
        of_count = [n for n, row in enumerate(rows) if len(row) == count]
        for first in range(0, len(of_count), ROWS_TOGETHER):
            together = of_count[first : first + ROWS_TOGETHER]
            of = np.array([rows[n] for n in together], np.float64)
            bounds = _bounds(_means(of, draws), confidence) if count > 1 else [(None, None)] * len(of)
            for n, mean, (low, high) in zip(together, of.mean(axis=1).tolist(), bounds, strict=True):
                found[n] = Interval(mean, low, high, count)
    return [found[n] for n in range(len(rows))]


def difference(base: Mapping[int, float], other: Mapping[int, float], *, confidence: float = 0.95, draws: int = 2000) -> Difference:
    """Of two measurements by seed, each of at least one: the mean of the other less that of the base, with its bootstrap interval and a
    two-sided t test.

    Where the sides share seeds (at least two, and half of the larger side's), these are held against each other in pairs and the rest
    is left out: the same seed gives both the same input, so what chance does to both cancels out. Otherwise the sides are independent.

    Source: Student 1908, "The probable error of a mean" (pairs); Welch 1947, "The generalization of Student's problem" (independent);
    common random numbers: Law, Simulation modeling and analysis, 11.2. Of few seeds the test is fair, the interval too narrow.
    """
    if not base or not other:
        raise ValueError("a side has no values; a difference needs at least one of each")
    common = sorted(base.keys() & other.keys())
    if len(common) >= 2 and 2 * len(common) >= max(len(base), len(other)):
        apart = np.array([other[seed] - base[seed] for seed in common], np.float64)
        error = float(apart.std(ddof=1)) / math.sqrt(len(apart))
        ((low, high),) = _bounds(_means(apart[None], draws), confidence)
        return Difference(float(apart.mean()), low, high, _p(float(apart.mean()), error, len(apart) - 1), len(apart))
    left, right = (np.array([side[seed] for seed in sorted(side)], np.float64) for side in (base, other))
    by = float(right.mean() - left.mean())
    if min(len(left), len(right)) == 1:
        return Difference(by, None, None, None, 0)
    ((low, high),) = _bounds(_means(right[None], draws, "other") - _means(left[None], draws), confidence)
    first, second = (float(side.var(ddof=1)) / len(side) for side in (left, right))
    spread = first**2 / (len(left) - 1) + second**2 / (len(right) - 1)
    freedom = (first + second) ** 2 / spread if spread else 1.0
    return Difference(by, low, high, _p(by, math.sqrt(first + second), freedom), 0)


def _means(rows: Floats, draws: int, *names: str) -> Floats:
    """Means of samples drawn with replacement from each of some lists, (lists, values); shape (lists, draws)."""
    times = _times(rows.shape[1], draws, *names)
    means: Floats = sum(rows[:, [n]] * of for n, of in enumerate(times)) / rows.shape[1]
    return means


@lru_cache(maxsize=16)
def _times(count: int, draws: int, *names: str) -> Floats:
    """How often each of so many values is in each sample, (values, draws). The same for every metric of a comparison."""
    chosen = RandomStream(0, "bootstrap", *names).below(np.arange(draws * count), count).reshape(draws, count)
    return np.stack([(chosen == n).sum(axis=1) for n in range(count)]).astype(np.float64)


def _bounds(means: Floats, confidence: float) -> list[tuple[float, float]]:
    """Of the means of each list."""
    outside = (1 - confidence) / 2
    ranks = [round(share * (means.shape[1] - 1)) for share in (outside, 1 - outside)]
    bounds: list[tuple[float, float]] = np.partition(means, ranks, axis=1)[:, ranks].tolist()
    return bounds


def _p(mean: float, error: float, freedom: float) -> float:
    """Two-sided probability of a mean so far from 0 under Student's t. Values that all agree leave nothing to chance."""
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    from scipy.special import stdtr  # a fifth of a second, for those who compare

    return float(2 * stdtr(freedom, -abs(mean / error)))

"""Statistics over seeds: intervals of means, and significance of differences."""

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
"""Number of lists processed together, so that intermediate results fit in the processor cache."""


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval over seeds; no bounds for a single value."""

    mean: float
    low: float | None
    high: float | None
    count: int


@dataclass(frozen=True)
class Difference:
    """Excess of a mean over a baseline's mean, with its confidence interval over seeds.

    p: probability of at least this difference if both had the same mean. Bounds and p are None if a side has a single value. pairs: number
    of seeds compared in pairs; 0 if the sides were treated as independent. distinguishable: whether the interval excludes 0, so that the
    difference is more than chance; None without an interval.
    """

    difference: float
    low: float | None
    high: float | None
    p: float | None
    pairs: int
    distinguishable: bool | None


def interval(values: Sequence[float], *, confidence: float = 0.95, draws: int = 2000) -> Interval:
    """Return the mean of values (at least one) and its bootstrap interval: percentiles of the means of samples drawn with replacement. The
    draws are the same each time.

    Source: Efron 1979, "Bootstrap methods: another look at the jackknife"; for few values (fewer than about eight) the interval is too
    narrow.
    """
    (found,) = intervals([values], confidence=confidence, draws=draws)
    return found


def intervals(rows: Sequence[Sequence[float]], *, confidence: float = 0.95, draws: int = 2000) -> list[Interval]:
    """Return the intervals of many lists of values, as by `interval`."""
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


def mean_interval(values: Sequence[float], *, confidence: float = 0.95) -> Interval:
    """Return the mean of values (at least one) and Student's interval of it: mean +- t x standard error.

    Source: Student 1908, "The probable error of a mean".
    """
    of = np.array(values, np.float64)
    if not len(of):
        raise ValueError("there are no values; an interval needs at least one")
    mean = float(of.mean())
    if len(of) == 1:
        return Interval(mean, None, None, 1)
    reach = _reach(float(of.std(ddof=1)) / math.sqrt(len(of)), len(of) - 1, confidence)
    return Interval(mean, mean - reach, mean + reach, len(of))


def difference(base: Mapping[int, float], other: Mapping[int, float], *, confidence: float = 0.95) -> Difference:
    """Compare two measurements by seed, each with at least one seed: the other's mean minus the base's, with Student's interval and
    two-sided test. Both follow from the same t, so the interval excludes 0 exactly if p is below 1 - confidence.

    If the sides share seeds (at least two, and half of the larger side's), these are compared in pairs and the rest is left out: the same
    seed gives both the same input, so common random effects cancel out. Otherwise the sides are treated as independent.

    Source: Student 1908, "The probable error of a mean" (pairs); Welch 1947, "The generalization of Student's problem" (independent);
    common random numbers: Law, Simulation modeling and analysis, 10.2 (intervals of differences) and 11.2.
    """
    if not base or not other:
        raise ValueError("a side has no values; a difference needs at least one of each")
    common = sorted(base.keys() & other.keys())
    if len(common) >= 2 and 2 * len(common) >= max(len(base), len(other)):
        apart = np.array([other[seed] - base[seed] for seed in common], np.float64)
        error = float(apart.std(ddof=1)) / math.sqrt(len(apart))
        return _judged(float(apart.mean()), error, len(apart) - 1, len(apart), confidence)
    left, right = (np.array([side[seed] for seed in sorted(side)], np.float64) for side in (base, other))
    by = float(right.mean() - left.mean())
    if min(len(left), len(right)) == 1:
        return Difference(by, None, None, None, 0, None)
    first, second = (float(side.var(ddof=1)) / len(side) for side in (left, right))
    spread = first**2 / (len(left) - 1) + second**2 / (len(right) - 1)
    freedom = (first + second) ** 2 / spread if spread else 1.0
    return _judged(by, math.sqrt(first + second), freedom, 0, confidence)


def _judged(mean: float, error: float, freedom: float, pairs: int, confidence: float) -> Difference:
    """The difference with its interval, mean +- t x error, and its p. error: standard error of the mean difference."""
    reach = _reach(error, freedom, confidence)
    low, high = mean - reach, mean + reach
    return Difference(mean, low, high, _p(mean, error, freedom), pairs, low > 0 or high < 0)


def _reach(error: float, freedom: float, confidence: float) -> float:
    """Return half the width of Student's interval. error: standard error of the mean."""
    if not error:
        return 0.0
    from scipy.special import stdtrit  # imported on use: it takes a fifth of a second

    return float(stdtrit(freedom, (1 + confidence) / 2)) * error


def _means(rows: Floats, draws: int) -> Floats:
    """Return the means of samples drawn with replacement. rows: (lists, values). Shape (lists, draws)."""
    times = _times(rows.shape[1], draws)
    means: Floats = sum(rows[:, [n]] * of for n, of in enumerate(times)) / rows.shape[1]
    return means


@lru_cache(maxsize=16)
def _times(count: int, draws: int) -> Floats:
    """Return how often each value occurs in each sample, (values, draws). The same for every metric of a comparison."""
    chosen = RandomStream(0, "bootstrap").below(np.arange(draws * count), count).reshape(draws, count)
    return np.stack([(chosen == n).sum(axis=1) for n in range(count)]).astype(np.float64)


def _bounds(means: Floats, confidence: float) -> list[tuple[float, float]]:
    """Return the interval bounds of each list's means."""
    outside = (1 - confidence) / 2
    ranks = [round(share * (means.shape[1] - 1)) for share in (outside, 1 - outside)]
    bounds: list[tuple[float, float]] = np.partition(means, ranks, axis=1)[:, ranks].tolist()
    return bounds


def _p(mean: float, error: float, freedom: float) -> float:
    """Return the two-sided probability of a mean this far from 0 under Student's t; 0 or 1 if all values are equal."""
    if error == 0:
        return 1.0 if mean == 0 else 0.0
    from scipy.special import stdtr  # imported on use: it takes a fifth of a second

    return float(2 * stdtr(freedom, -abs(mean / error)))

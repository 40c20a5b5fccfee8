"""Rank test: whether one set of values tends to be greater than another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RankTest:
    """greater: probability that a value of the other side exceeds one of the base, counting ties as half; 0.5: no difference. p:
    probability that chance alone separates the ranks at least as much; None if a side has a single value."""

    greater: float
    p: float | None


SPLITS_MAX = 20_000


def rank_test(base: Sequence[float], other: Sequence[float]) -> RankTest:
    """Two-sided test of whether values of one side tend to be greater. Each side has at least one value.

    Ranks are robust to long tails of latencies and independent of the scale. The test is exact, including ties, if there are at most 20,000
    ways to split the values (two sides of 8 have 12,870); otherwise it uses the normal approximation, corrected for ties.

    Source: Mann and Whitney 1947, "On a test of whether one of two random variables is stochastically larger than the other".
    """
    from scipy import stats  # imported on use: it takes a second

    if not base or not other:
        raise ValueError("a side has no values; a test needs at least one of each")
    n, m = len(base), len(other)
    exact = min(n, m) > 1 and math.comb(n + m, m) <= SPLITS_MAX
    found = stats.mannwhitneyu(other, base, method=stats.PermutationMethod(n_resamples=SPLITS_MAX) if exact else "asymptotic")
    greater = float(found.statistic) / (n * m)
    if min(n, m) == 1:
        return RankTest(greater, None)
    alike = min(*base, *other) == max(*base, *other)
    return RankTest(greater, 1.0 if alike else float(found.pvalue))

"""Whether one set of values tends to be above another, by their ranks alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class RankTest:
    """greater: how often a value of the other side is above one of the base, ties half; 0.5: neither is. p: how often chance alone would
    part the ranks of the values as much or more; None where a side has a single value."""

    greater: float
    p: float | None


SPLITS_MAX = 20_000


def rank_test(base: Sequence[float], other: Sequence[float]) -> RankTest:
    """Whether values of one side tend to be above those of the other, two-sided; each side has at least one.

    Ranks do not mind that latencies have long tails, nor on which scale they are measured. Exact, ties included, over all ways to split
    the values where these are at most 20,000 (two sides of 8 have 12,870); by the normal approximation, corrected for ties, beyond.

    Source: Mann and Whitney 1947, "On a test of whether one of two random variables is stochastically larger than the other".
    """
    from scipy import stats  # a second, for those who compare

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

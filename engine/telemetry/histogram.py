"""Mergeable latency histograms: exact below 128 ns, then 64 buckets per octave, so a percentile is within 1/128 (0.8 %) of a sample's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import BUCKETS

Words = NDArray[np.int64]


def _bounds() -> tuple[Words, Words]:
    index = np.arange(BUCKETS, dtype=np.int64)
    shift = np.maximum((index - 128) // 64 + 1, 0)
    low = np.where(index < 128, index, ((index - 128) % 64 + 64) << shift)
    return low, low + (np.int64(1) << shift) - 1


LOW_NS, HIGH_NS = _bounds()
"""Minimum and maximum latency of each bucket."""


def percentiles_ns(counts: Words, shares: Sequence[float]) -> list[int | None]:
    """Return nearest-rank percentiles: for each share, the middle of the bucket that contains the sample of rank ceil(share x n), at least
    the first. None without samples.

    counts: (BUCKETS,). shares: each 0 <= share <= 1.
    """
    sums = np.cumsum(counts)
    total = int(sums[-1])
    if total == 0:
        return [None] * len(shares)
    ranks = [max(1, -(-round(share * 1_000_000) * total // 1_000_000)) for share in shares]
    buckets = np.searchsorted(sums, ranks)
    middles: list[int | None] = ((LOW_NS[buckets] + HIGH_NS[buckets]) // 2).tolist()
    return middles


def maximum_ns(counts: Words) -> int | None:
    """Return the upper bound of the last bucket with a sample."""
    used = np.flatnonzero(counts)
    return int(HIGH_NS[used[-1]]) if len(used) else None


def sparse(counts: Words) -> tuple[Words, Words]:
    """Return (buckets, counts) of the buckets with samples."""
    used = np.flatnonzero(counts)
    return used, counts[used]

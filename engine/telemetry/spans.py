"""Latency over any span of virtual time, from the histograms of frames.

A histogram belongs to a frame: the samples delivered after the frame's start, up to and including its end. Frames entirely inside a span
are counted exactly. For a frame cut by the span's bounds it is unknown which of its samples lie inside: the samples of the span are those
of the whole frames and *some* of those of the cut frames. A percentile of a span is therefore an estimate, in which cut frames count by the
share of their time inside, and two bounds that hold for any choice of "some".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import BUCKETS

from .histogram import HIGH_NS, LOW_NS, percentiles_ns

Words = NDArray[np.int64]

PARTS = 1_000_000
"""Shares of frames, and percentile ranks, are in millionths."""


class Percentile(NamedTuple):
    """value_ns: middle of its bucket. low_ns, high_ns: inclusive bounds of the percentile of the raw samples."""

    value_ns: int
    low_ns: int
    high_ns: int


@dataclass(frozen=True)
class SpanHistogram:
    """Samples of a span, by bucket; (BUCKETS,) each. + merges histograms of spans or runs. At most 9 x 10^12 samples in total.

    whole: samples of frames inside the span. cut: samples of frames it cuts. inside: samples of cut frames, weighted by the share of the
    frame inside, in millionths of a sample.
    """

    whole: Words
    cut: Words
    inside: Words

    @classmethod
    def empty(cls) -> SpanHistogram:
        return cls(*(np.zeros(BUCKETS, np.int64) for _ in range(3)))

    @classmethod
    def of(cls, frame: Words, bucket: Words, count: Words, share: Words) -> SpanHistogram:
        """frame, bucket, count: (n,) as in the latency files, in any order; sinks are added up. share: by frame, the part of it inside the
        span, in millionths (`shares`)."""
        made = cls.empty()
        part = share[frame]
        whole, cut = part == PARTS, (part > 0) & (part < PARTS)
        np.add.at(made.whole, bucket[whole], count[whole])
        np.add.at(made.cut, bucket[cut], count[cut])
        np.add.at(made.inside, bucket[cut], count[cut] * part[cut])
        return made

    def __add__(self, other: SpanHistogram) -> SpanHistogram:
        return SpanHistogram(self.whole + other.whole, self.cut + other.cut, self.inside + other.inside)

    @property
    def samples(self) -> float:
        """Number of samples; exact if no frame is cut."""
        return int(self.whole.sum()) + int(self.inside.sum()) / PARTS

    def percentiles(self, shares: Sequence[float]) -> list[Percentile | None]:
        """Return nearest-rank percentiles (`percentiles_ns`); 1.0 is the maximum. None if the span has no samples, or none by estimate.

        If no frame is cut, value_ns equals that of `percentiles_ns`, and the bounds are those of its bucket.
        """
        values = percentiles_ns(self.whole * PARTS + self.inside, shares)
        return [None if value is None else Percentile(value, *self._bounds(share)) for value, share in zip(values, shares, strict=True)]

    def _bounds(self, share: float) -> tuple[int, int]:
        """Return the bounds. The percentile is at most v if at least as many of the samples as its rank are at most v. The percentile is
        lowest if only samples of cut frames below v are inside, and highest if only those above v are."""
        part, whole = round(share * PARTS), np.cumsum(self.whole)
        below = np.cumsum(self.cut)
        above = below[-1] - below
        least = np.argmax(whole + below >= np.maximum(1, _rank(part, whole[-1] + below)))
        most = np.argmax(whole >= _rank(part, whole[-1] + above))
        return int(LOW_NS[least]), int(HIGH_NS[most])


def shares(end_ns: Words, from_ns: int, to_ns: int) -> Words:
    """Return the part of each frame inside the span (from_ns, to_ns], in millionths; 0 and the full share are exact.

    end_ns: (frames,) ascending; the first frame starts at 0.
    """
    start_ns = np.concatenate([np.zeros(min(1, len(end_ns)), np.int64), end_ns[:-1]])
    common = np.minimum(end_ns, to_ns) - np.maximum(start_ns, from_ns)
    length = end_ns - start_ns
    part = (np.maximum(common, 0) / np.maximum(length, 1) * PARTS).round().astype(np.int64)
    inside = np.where(common >= length, PARTS, np.minimum(np.maximum(part, 1), PARTS - 1))
    return np.where(common <= 0, 0, inside)


def _rank(part: int, count: Words) -> Words:
    """ceil(share x count); the share in millionths."""
    rank: Words = -(-part * count // PARTS)
    return rank

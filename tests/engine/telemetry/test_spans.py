"""Percentiles of spans that cut frames: the bounds hold whatever the cut frames have inside, and no tighter ones would."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.core.layout import BUCKETS
from engine.spec.experiment.spans import Span
from engine.telemetry.histogram import HIGH_NS, LOW_NS, percentiles_ns
from engine.telemetry.spans import PARTS, SpanHistogram, shares

SHARES = (0.01, 0.5, 0.95, 0.99, 1.0)


def counts(samples: list[int]) -> Any:
    made = np.zeros(BUCKETS, np.int64)
    np.add.at(made, np.searchsorted(HIGH_NS, samples), 1)
    return made


def exact(samples: list[int], share: float) -> int:
    """Nearest rank."""
    return sorted(samples)[max(1, -(-round(share * PARTS) * len(samples) // PARTS)) - 1]


SAMPLES = st.lists(st.integers(0, 10**10), max_size=6)


@given(SAMPLES, SAMPLES, st.integers(1, PARTS - 1))
def test_bounds_hold_for_every_choice_and_are_reached(whole: list[int], cut: list[int], part: int) -> None:
    histogram = SpanHistogram(counts(whole), counts(cut), counts(cut) * part)
    choices = [whole + list(some) for size in range(len(cut) + 1) for some in combinations(cut, size)]
    for share, found in zip(SHARES, histogram.percentiles(SHARES), strict=True):
        possible = [exact(samples, share) for samples in choices if samples]
        if found is None:
            assert not possible
            continue
        assert found.low_ns <= min(possible)
        assert max(possible) <= found.high_ns
        assert LOW_NS[np.searchsorted(HIGH_NS, min(possible))] == found.low_ns
        assert HIGH_NS[np.searchsorted(HIGH_NS, max(possible))] == found.high_ns
        assert found.low_ns <= found.value_ns <= found.high_ns


@given(SAMPLES.filter(len))
def test_whole_frames_are_as_exact_as_the_histogram(samples: list[int]) -> None:
    found = SpanHistogram.empty() + SpanHistogram(counts(samples), *[np.zeros(BUCKETS, np.int64)] * 2)
    assert found.samples == len(samples)
    for share, one, middle in zip(SHARES, found.percentiles(SHARES), percentiles_ns(counts(samples), SHARES), strict=True):
        assert one is not None
        assert one.value_ns == middle
        assert one.low_ns <= exact(samples, share) <= one.high_ns
        assert abs(one.value_ns - exact(samples, share)) <= exact(samples, share) / 128 + 1


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=8), st.integers(0, 10**10), st.integers(1, 10**10))
def test_shares_of_frames_are_whole_only_where_they_lie_inside(lengths: list[int], from_ns: int, length_ns: int) -> None:
    end_ns = np.cumsum(lengths)
    to_ns = from_ns + length_ns
    found = shares(end_ns, from_ns, to_ns)
    for end, length, share in zip(end_ns.tolist(), lengths, found.tolist(), strict=True):
        common = max(0, min(end, to_ns) - max(end - length, from_ns))
        assert (share == PARTS, share == 0) == (common == length, common == 0)
        assert abs(share - common / length * PARTS) <= 1


def test_a_span_that_ends_before_it_begins_is_refused() -> None:
    with pytest.raises(ValidationError, match="must be later"):
        Span(from_s=3.0, to_s=3.0)

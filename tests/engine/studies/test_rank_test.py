"""The rank test: values of tables, ties, and that the approximation agrees with what is exact."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.studies import ranks
from engine.studies.ranks import RankTest, rank_test

SIDE = st.lists(st.integers(0, 9).map(float), min_size=2, max_size=7)


def test_sides_that_do_not_overlap() -> None:
    """Two of the C(10, 5) = 252 splits are as far apart."""
    found = rank_test([1, 2, 3, 4, 5], [6, 7, 8, 9, 10.5])
    assert (found.greater, found.p) == (1.0, pytest.approx(2 / 252))
    assert rank_test([6, 7, 8, 9, 10.5], [1, 2, 3, 4, 5]).p == found.p


def test_too_few_values_say_nothing_and_equal_ones_no_difference() -> None:
    assert rank_test([1.0], [2.0]).p is None
    assert rank_test([3.0] * 40, [3.0] * 40) == RankTest(0.5, 1.0)
    with pytest.raises(ValueError, match="no values"):
        rank_test([], [1.0])


@given(SIDE, SIDE)
def test_greater_is_the_share_of_pairs(base: list[float], other: list[float]) -> None:
    pairs = [(b > a) + (b == a) / 2 for a in base for b in other]
    assert rank_test(base, other).greater == pytest.approx(sum(pairs) / len(pairs))


def test_the_approximation_agrees_with_all_splits(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    sides = [(generator.integers(0, 12, 8) * 1.0, generator.integers(0, 12, 7) + shift) for shift in (0, 1, 2, 4) for _ in range(5)]
    exact = [rank_test(list(a), list(b)).p for a, b in sides]
    monkeypatch.setattr(ranks, "SPLITS_MAX", 0)
    for (a, b), p in zip(sides, exact, strict=True):
        assert p is not None
        assert rank_test(list(a), list(b)).p == pytest.approx(p, abs=0.015 if p < 0.2 else 0.06)


def test_chance_alone_is_rarely_significant() -> None:
    generator = np.random.default_rng(2)
    p = [rank_test(list(generator.exponential(size=20)), list(generator.exponential(size=25))).p for _ in range(400)]
    assert 0.02 < np.mean([one is not None and one < 0.05 for one in p]) < 0.08

"""Sparklines. Catches: a lost peak, more points than a list can bear, an average where nothing was measured."""

from __future__ import annotations

from webapp.lab.sparklines import POINTS, sparkline


def test_few_values_stay_as_they_are_in_three_digits() -> None:
    assert sparkline([1.0, None, 12.3456]) == [1.0, None, 12.3]


def test_many_values_become_the_peaks_of_equal_stretches() -> None:
    values: list[float | None] = [1.0] * 1000
    values[617] = 99.0
    points = sparkline(values)
    assert len(points) == POINTS
    assert [n for n, point in enumerate(points) if point == 99.0] == [617 * POINTS // 1000]
    assert set(points) == {1.0, 99.0}


def test_stretches_without_a_value_are_gaps_and_nothing_at_all_is_empty() -> None:
    assert sparkline([None] * 500 + [2.0] * 500) == [None] * (POINTS // 2) + [2.0] * (POINTS // 2)
    assert sparkline([None] * 5) == sparkline([]) == []

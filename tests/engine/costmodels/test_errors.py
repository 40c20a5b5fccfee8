"""q-errors and classes, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.costmodels.errors import Classes, balanced, errors, q_errors

costs = st.floats(0, 1e9)


@given(costs, costs, st.floats(1e-3, 10))
def test_q_errors_are_at_least_1_and_alike_in_both_directions(a: float, b: float, least: float) -> None:
    (forth,), (back,) = q_errors([a], [b], least), q_errors([b], [a], least)
    assert forth == back >= 1
    assert (forth == 1) == (max(a, least) == max(b, least))


def test_what_is_below_the_least_counts_as_the_least() -> None:
    """A negative prediction is no good one."""
    assert q_errors([2.0, 0.0, 4.0], [1.0, 0.0, -4.0], 0.1).tolist() == [2, 1, pytest.approx(40)]
    found = errors([2.0, 0.0, 4.0], [1.0, 0.0, -4.0], 0.1)
    assert (found.count, found.q50, found.clipped) == (3, 2, 2)
    assert found.q95 == pytest.approx(2 + 0.9 * 38)


def test_the_interval_of_the_median_narrows_with_the_number_of_values() -> None:
    random = np.random.default_rng(1)
    widths = []
    for count in (30, 3000):
        measured = random.lognormal(3, 1, count)
        found = errors(measured.tolist(), (measured * random.lognormal(0, 0.5, count)).tolist(), 0.1)
        assert found.low <= found.q50 <= found.high
        widths.append(found.high - found.low)
    assert widths[1] < widths[0] / 3


@pytest.mark.parametrize(("measured", "predicted"), [([], []), ([1.0], [float("nan")]), ([float("inf")], [1.0])])
def test_without_finite_values_there_is_no_error(measured: list[float], predicted: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        errors(measured, predicted, 0.1)


def test_classes_are_counted() -> None:
    found = Classes.of([True, True, True, False, False], [True, True, False, True, False])
    assert found == Classes(2, 1, 1, 1)
    assert found.accuracy == 0.6
    assert found.precision == pytest.approx(2 / 3)
    assert found.recall == pytest.approx(2 / 3)
    assert not found.one_class_only
    assert Classes.of([True], [True]).one_class_only
    assert Classes.of([], []).accuracy is None


@given(st.lists(st.booleans(), max_size=40), st.integers(0, 9))
def test_balanced_parts_have_as_many_of_each(classes: list[bool], seed: int) -> None:
    chosen = balanced(classes, seed)
    assert len(set(chosen)) == len(chosen) == 2 * min(classes.count(True), classes.count(False))
    assert 2 * sum(classes[n] for n in chosen) == len(chosen)
    assert chosen == balanced(classes, seed)

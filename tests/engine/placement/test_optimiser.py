"""The choice among candidates: filters, relaxation, ties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.costmodels.ensembles import Predicted, Vote
from engine.placement.optimiser import choose

YES, NO = Vote(3, 3), Vote(1, 3)


def of(*members: float, success: Vote = YES, flows: Vote = YES) -> Predicted:
    return Predicted(members, success, flows)


def test_an_ensemble_takes_the_mean_and_the_majority() -> None:
    assert of(1, 2, 6).mean == 3
    assert of(1, 2, 6).spread == 5
    assert [Vote.of(votes).passes for votes in ([True, True, False], [True, False, False], [True, False])] == [True, False, False]


def test_the_lowest_cost_is_best_or_the_highest() -> None:
    candidates, predicted = [(0, 0), (0, 1), (1, 1)], [of(3), of(1), of(2)]
    assert choose(candidates, predicted).order == (1, 2, 0)
    assert choose(candidates, predicted, highest=True).order == (0, 2, 1)


def test_what_fails_or_falls_behind_comes_last_and_is_named() -> None:
    found = choose([(0,), (1,), (2,)], [of(1, success=NO), of(2, flows=NO), of(3)])
    assert found.order == (2, 0, 1)
    assert found.filtered == {0: "fails", 1: "falls behind"}
    assert not found.relaxed


def test_filters_are_dropped_only_if_nothing_is_left() -> None:
    """First that of falling behind, then that of failing."""
    found = choose([(0,), (1,)], [of(1, success=NO), of(2, flows=NO)])
    assert (found.best, found.filtered, found.relaxed) == (1, {0: "fails"}, ("falls behind",))
    found = choose([(0,), (1,)], [of(1, success=NO), of(2, success=NO, flows=NO)])
    assert (found.best, found.filtered, found.relaxed) == (0, {}, ("fails",))


def test_equal_ones_go_by_fewer_hosts() -> None:
    assert choose([(0, 1, 2), (0, 0, 2), (0, 0, 1), (3, 3, 4)], [of(1)] * 4).order == (2, 1, 3, 0)


def test_options_against_predictions_that_are_too_good() -> None:
    """Off unless asked for."""
    candidates, predicted = [(n,) for n in range(20)], [of(n, n + (9 if n == 0 else 0)) for n in range(20)]
    assert choose(candidates, predicted).best == 1
    assert choose(candidates, predicted, spread_max=5).filtered == {0: "members differ"}
    assert choose(candidates, predicted, quantile=0.1).best == 2
    found = choose(candidates[:1], predicted[:1], spread_max=5)
    assert (found.best, found.relaxed) == (0, ("members differ",))


def test_without_candidates_there_is_no_choice() -> None:
    with pytest.raises(ValueError, match="no candidate"):
        choose([], [])


votes = st.sampled_from([YES, NO])
numbers = st.floats(0, 1e6)


@given(st.lists(st.tuples(numbers, votes, votes), min_size=1, max_size=12), st.booleans())
def test_the_best_is_never_one_that_a_better_one_would_replace(all: list[tuple[float, Vote, Vote]], highest: bool) -> None:
    predicted = [of(cost, success=success, flows=flows) for cost, success, flows in all]
    found = choose([(n,) for n in range(len(all))], predicted, highest)
    assert sorted(found.order) == list(range(len(all)))
    best = predicted[found.best]
    for n, one in enumerate(predicted):
        good = one.success.passes and one.flows.passes
        if good and not found.relaxed:
            assert best.success.passes
            assert best.flows.passes
            assert best.mean >= one.mean if highest else best.mean <= one.mean
        assert not (good and n in found.filtered)

"""Placements without a model: they obey the rules and what is pinned, or there is none."""

from __future__ import annotations

from engine.placement.heuristics import HEURISTICS, all_on_one, top_down
from engine.placement.space import Space

CHAIN = Space(3, ((0, 1), (1, 2)), (1, 2, 3))
STRENGTH = (100.0, 400.0, 800.0)


def test_everything_goes_to_the_strongest_host() -> None:
    assert all_on_one(CHAIN, STRENGTH) == (2, 2, 2)


def test_sources_stay_on_the_weakest_host() -> None:
    assert top_down(CHAIN, STRENGTH) == (0, 2, 2)


def test_of_equal_hosts_the_first_is_the_strongest() -> None:
    assert all_on_one(CHAIN, (5.0, 5.0, 5.0)) == (0, 0, 0)


def test_pinned_operators_stay_and_a_broken_rule_leaves_none() -> None:
    pinned = Space(3, CHAIN.edges, CHAIN.bins, ((1,), None, None))
    assert all_on_one(pinned, STRENGTH) == (1, 2, 2)
    backwards = Space(3, CHAIN.edges, CHAIN.bins, (None, (0,), None))
    assert [heuristic(backwards, STRENGTH) for heuristic in HEURISTICS.values()] == [None, (0, 0, 2)]

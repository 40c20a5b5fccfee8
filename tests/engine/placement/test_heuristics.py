"""Placements without a model: they obey the rules and what is pinned, or there is none."""

from __future__ import annotations

from engine.placement.heuristics import HEURISTICS, all_on_one, bottom_up, top_down
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


def test_bottom_up_moves_on_where_a_host_is_full() -> None:
    """Hosts of bins 1, 2, 3 have 100, 200 and 300 percent of a core."""
    chain = Space(4, ((0, 1), (1, 2), (2, 3)), (1, 2, 3))
    strength = (100.0, 200.0, 300.0)
    assert bottom_up(chain, strength, (30, 30, 30, 1)) == (0, 0, 0, 0)
    assert bottom_up(chain, strength, (60, 60, 60, 60)) == (0, 1, 1, 1)
    assert bottom_up(chain, strength, (90, 150, 60, 10)) == (0, 1, 2, 2)
    assert bottom_up(chain, strength, (900, 900, 900, 900)) == (2, 2, 2, 2), "nothing is stronger than the last one"
    join = Space(4, ((0, 2), (1, 2), (2, 3)), (1, 2, 3))
    assert bottom_up(join, strength, (60, 60, 10, 10)) == (0, 1, 1, 1), "data never flows back"

"""Plans of the online monitor (Aniello et al. 2013), by hand and against all placements."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.relocation.plans import Readings, judged, planned

CHAIN = {("source", "filter"): 1000.0, ("filter", "sink"): 200.0}


def readings(cores: float = 0.2, per_s: dict[tuple[str, str], float] | None = None) -> Readings:
    return Readings(dict.fromkeys(("source", "filter", "sink"), cores), CHAIN if per_s is None else per_s)


def test_all_share_a_host_that_can_take_them() -> None:
    assert planned(readings(), [1.0, 1.0]) == {"source": 0, "filter": 0, "sink": 0}


def test_the_larger_host_is_the_less_loaded_one_when_all_are_empty() -> None:
    assert set(planned(readings(), [1.0, 4.0, 2.0]).values()) == {1}


def test_the_least_traffic_is_cut_where_not_all_fit() -> None:
    plan = planned(readings(0.4), [0.9, 0.9])
    assert plan["source"] == plan["filter"] != plan["sink"]


def test_a_pair_that_fits_nowhere_goes_to_two_hosts() -> None:
    plan = planned(readings(0.6), [0.9, 0.9, 0.9])
    assert len(set(plan.values())) == 3


def test_an_edge_without_traffic_moves_nothing_apart() -> None:
    assert planned(readings(per_s={("source", "filter"): 1000.0, ("filter", "sink"): 0.0}), [1.0, 1.0]) == dict.fromkeys(
        ("source", "filter", "sink"), 0
    )


def test_what_fits_nowhere_has_a_place_all_the_same() -> None:
    plan = planned(readings(2.0), [0.9, 0.9])
    assert set(plan) == {"source", "filter", "sink"}


def test_an_operator_without_traffic_goes_to_the_least_loaded_host() -> None:
    lone = Readings({"source": 0.5, "sink": 0.5, "lone": 0.1}, {("source", "sink"): 10.0})
    assert planned(lone, [1.1, 1.0]) == {"source": 0, "sink": 0, "lone": 1}


@given(
    st.lists(st.floats(0.01, 0.5), min_size=4, max_size=4),
    st.lists(st.floats(1, 1000), min_size=4, max_size=4),
    st.lists(st.floats(0.6, 3.0), min_size=2, max_size=3),
)
def test_plans_keep_to_the_capacity_where_one_after_the_other_fits(cores: list[float], rates: list[float], capacity: list[float]) -> None:
    """It is a heuristic: no plan that fits has less traffic than the best of all, and what fits anywhere breaks no capacity."""
    names = ("a", "b", "c", "d")
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d")]
    measured = Readings(dict(zip(names, cores, strict=True)), dict(zip(edges, rates, strict=True)))
    plan = planned(measured, capacity)
    every = [dict(zip(names, hosts, strict=True)) for hosts in product(range(len(capacity)), repeat=4)]
    fit = [
        places for places in every if all(load <= most for load, most in zip(measured.loads(places, len(capacity)), capacity, strict=True))
    ]
    keeps = all(load <= most + 1e-9 for load, most in zip(measured.loads(plan, len(capacity)), capacity, strict=True))
    if keeps and fit:
        assert measured.crossing_per_s(plan) >= min(map(measured.crossing_per_s, fit)) - 1e-9
    if sum(cores) <= min(capacity):
        assert keeps


NOW = {"source": 0, "filter": 1, "sink": 0}


@pytest.mark.parametrize(
    ("plan", "improvement", "worth", "why"),
    [
        (NOW, 0.1, False, "its plan is what runs"),
        ({"source": 0, "filter": 0, "sink": 0}, 0.1, True, "traffic between hosts would go from 1,200 to 0 records/s"),
        (
            {"source": 0, "filter": 0, "sink": 1},
            0.9,
            False,
            "traffic between hosts would go from 1,200 to 200 records/s, which is not worth",
        ),
        ({"source": 0, "filter": 0, "sink": 1}, 0.8, True, "from 1,200 to 200"),
    ],
)
def test_a_move_must_save_enough(plan: dict[str, int], improvement: float, worth: bool, why: str) -> None:
    verdict = judged(readings(), [1.0, 1.0], NOW, plan, improvement)
    assert verdict.worth == worth
    assert why in verdict.why


def test_a_host_with_too_much_to_do_is_relieved_whatever_the_traffic() -> None:
    now = {"source": 0, "filter": 0, "sink": 0}
    verdict = judged(readings(0.5), [0.9, 0.9], now, {"source": 0, "filter": 1, "sink": 1}, 0.1)
    assert verdict.worth
    assert verdict.why == "a host has 0.60 cores more to do than it should, with the plan 0.10"


def test_traffic_is_not_saved_at_the_cost_of_a_host() -> None:
    assert not judged(readings(0.5), [0.9, 0.9], NOW, {"source": 0, "filter": 0, "sink": 0}, 0.1).worth

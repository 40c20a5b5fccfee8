"""Placements that obey the rules, against a search through all assignments; and the numbers of placements in the specification."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.core.random import Chance
from engine.placement.space import Broken, Space, bin_of, space_of
from engine.spec.experiment.cluster import Cluster, expand
from engine.spec.experiment.query import Query

BINS = (1, 1, 2, 2, 3)
ALIKE = (1, 1, 1, 1, 1)
JOIN_TREE = ((0, 1), (2, 3), (1, 4), (3, 4), (4, 5), (5, 6))


def chain(length: int) -> tuple[tuple[int, int], ...]:
    return tuple((k, k + 1) for k in range(length - 1))


@pytest.mark.parametrize(
    ("edges", "operators", "by_rule_3", "by_both"),
    [(chain(3), 3, 105, 45), (chain(4), 4, 365, 101), (chain(5), 5, 1045, 201), (JOIN_TREE, 7, 11485, 1489)],
)
def test_as_many_placements_as_the_specification_counts(
    edges: tuple[tuple[int, int], ...], operators: int, by_rule_3: int, by_both: int
) -> None:
    assert sum(1 for _ in Space(operators, edges, ALIKE)) == by_rule_3
    assert sum(1 for _ in Space(operators, edges, BINS)) == by_both


def obeys(edges: Sequence[tuple[int, int]], bins: Sequence[int], placed: Sequence[int]) -> bool:
    """By the rules' own words: no path of hosts leaves one and comes back."""
    if any(bins[placed[b]] < bins[placed[a]] for a, b in edges):
        return False
    hops = {(placed[a], placed[b]) for a, b in edges if placed[a] != placed[b]}
    reached = set(hops)
    while more := {(a, d) for a, b in reached for c, d in hops if b == c} - reached:
        reached |= more
    return all(a != b for a, b in reached)


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    operators = draw(st.integers(1, 5))
    pairs = [(a, b) for b in range(operators) for a in range(b)]
    edges = tuple(edge for edge in pairs if draw(st.booleans()))
    renamed = draw(st.permutations(range(operators)))
    bins = tuple(draw(st.lists(st.integers(1, 3), min_size=1, max_size=3)))
    some = st.lists(st.integers(0, len(bins) - 1), unique=True).map(lambda hosts: tuple(sorted(hosts)))
    hosts = draw(st.none() | st.tuples(*[st.none() | some] * operators))
    return Space(operators, tuple((renamed[a], renamed[b]) for a, b in edges), bins, hosts)


@given(spaces())
def test_the_space_is_all_that_obey(space: Space) -> None:
    may = [range(len(space.bins)) if space.hosts is None or of is None else of for of in space.hosts or [None] * space.operators]
    every = {placed for placed in product(*may) if obeys(space.edges, space.bins, placed)}
    listed = list(space)
    assert len(listed) == len(set(listed))
    assert set(listed) == every
    for placed in product(*may):
        assert (space.broken(placed) is None) == (placed in every)


@given(spaces(), st.integers(1, 30), st.integers(0, 99))
def test_candidates_are_different_placements_of_the_space(space: Space, count: int, seed: int) -> None:
    found, every = space.candidates(count, Chance(seed)), set(space)
    assert len(found) == len(set(found)) <= count
    assert set(found) <= every
    assert found == space.candidates(count, Chance(seed))
    if len(every) <= count:
        assert set(found) == every


def test_candidates_are_as_many_as_asked_for_where_the_space_is_large() -> None:
    space = Space(7, JOIN_TREE, BINS)
    assert len(space.candidates(25, Chance(1))) == 25
    assert space.candidates(25, Chance(1)) != space.candidates(25, Chance(2))


def test_what_breaks_a_rule_is_named() -> None:
    space = Space(3, chain(3), BINS)
    assert space.broken((0, 2, 4)) is None
    assert space.broken((0, 4, 2)) == Broken(2, (1, 2))
    broken = space.broken((0, 1, 0))
    assert broken is not None
    assert broken.rule == 3
    assert broken.edge in chain(3)


def test_two_branches_may_not_cross() -> None:
    """Each branch alone never returns, but between them data goes both ways."""
    assert Space(4, ((0, 1), (2, 3)), (1, 1)).broken((0, 1, 1, 0)) == Broken(3, (0, 1))


@pytest.mark.parametrize(
    ("cores", "speed", "memory_mb", "mbit_per_s", "latency_ms", "bin"),
    [
        (1, 0.5, 1000, 25, 160, 1),
        (4, 1, 8000, 400, 20, 2),
        (8, 1, 32000, 10000, 1, 3),
        (8, 1, 32000, 25, 160, 1),  # two of each: the lower
        (3, 1, 4000, 400, 20, 1),  # values of two bins: the lower
        (1, 1, 8000, 10000, 1, 3),
    ],
)
def test_the_bin_is_that_of_most_features(
    cores: float, speed: float, memory_mb: float, mbit_per_s: int, latency_ms: float, bin: int
) -> None:
    host = {"name": "h", "cores": cores, "speed": speed, "memory_mb": memory_mb, "egress_mbit_per_s": mbit_per_s}
    (machine,) = expand(Cluster.model_validate({"hosts": [host | {"egress_latency_ms": latency_ms}]}))
    assert bin_of(machine) == bin


def test_pinned_operators_and_forbidden_hosts() -> None:
    operators = [{"id": "in", "kind": "source"}, {"id": "work", "kind": "union"}, {"id": "out", "kind": "sink"}]
    edges = [{"source": "in", "target": "work"}, {"source": "work", "target": "out"}]
    query = Query.model_validate({"operators": operators, "edges": edges})
    hosts = expand(Cluster.model_validate({"hosts": [{"name": "w", "count": 3, "cores": 1}]}))
    assert sum(1 for _ in space_of(query, hosts)) == 27 - 6  # all, but those that come back to the first host
    assert {placed[0] for placed in space_of(query, hosts, {"in": "w2"})} == {1}
    assert list(space_of(query, hosts, {"in": "w1"}, ["w1", "w2"])) == [(0, 2, 2)]

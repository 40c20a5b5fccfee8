"""Selectivities that are estimated from samples, against what the streams' values come to."""

from __future__ import annotations

import pytest

from engine.corpus.corpora import Corpus
from engine.corpus.selectivities import estimated
from engine.corpus.traces import trace
from engine.costmodels import sampling
from engine.costmodels.description import Aggregate, Filter, Join, Query, Sink, Source, Window, WindowedAggregate

SECONDS_4 = Window("tumbling", "time", 4000, 4000)


def mean(query: Query, n: int, repeats: int = 40) -> float:
    return sum(estimated(query, seed)[n] for seed in range(repeats)) / repeats


@pytest.mark.parametrize(
    ("function", "dtype", "literal", "share"),
    [
        ("<", "int", -10, 0),
        ("<=", "int", 0, 11 / 21),
        ("!=", "int", 3, 20 / 21),
        (">", "double", 0.0, 0.45),
        ("contains", "string", "a", 1 / 16),
        ("not endswith", "string", "0", 15 / 16),
    ],
)
def test_filters_pass_what_the_values_come_to(function: str, dtype: str, literal: int | float | str, share: float) -> None:
    query = Query((Source(100, 3, 3, 3), Filter(function, dtype, literal), Sink()), ((0, 1), (1, 2)))  # type: ignore[arg-type]
    assert mean(query, 1) == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize(("key", "share"), [("int", 1 / 21), ("double", 1 / 11), ("string", 1 / 16)])
def test_joins_pair_what_the_keys_come_to(key: str, share: float) -> None:
    """Doubles are no keys here: the stream's own key with eleven values stands for them."""
    operators = (Source(100, 3, 3, 3), Source(100, 3, 3, 3), Join(key, SECONDS_4), Sink())  # type: ignore[arg-type]
    assert mean(Query(operators, ((0, 2), (1, 2), (2, 3))), 2) == pytest.approx(share, rel=0.02)


@pytest.mark.parametrize(("group_by", "groups"), [(None, 1), ("int", 21), ("string", 16)])
@pytest.mark.parametrize(("window", "held"), [(SECONDS_4, 400), (Window("sliding", "count", 640, 192), 640)])
def test_aggregates_give_groups_of_a_window(group_by: str | None, groups: int, window: Window, held: int) -> None:
    operators = (Source(100, 3, 3, 3), WindowedAggregate("min", "int", group_by, window), Sink())  # type: ignore[arg-type]
    assert mean(Query(operators, ((0, 1), (1, 2))), 1) == pytest.approx(groups / held, rel=0.02)


def test_an_aggregate_of_a_join_counts_the_results_of_a_firing() -> None:
    """400 records of each side, of which one pair in 21 meets."""
    operators = (Source(100, 3, 3, 3), Source(100, 3, 3, 3), Join("int", SECONDS_4), Aggregate("sum", "int", None), Sink())
    assert mean(Query(operators, ((0, 2), (1, 2), (2, 3), (3, 4))), 3) == pytest.approx(21 / 160_000, rel=0.02)


def test_all_are_shares() -> None:
    for index in range(300):
        query = trace("training", 1, index).query
        found = estimated(query, index)
        assert len(found) == len(query.operators)
        assert all(0 <= share <= 1 for share in found)
        assert found == estimated(query, index)


def test_counts_of_a_run_give_the_same_shares() -> None:
    """Windows of 4 s and of 100 records, each tried pair and record once."""
    join = (Source(100, 3, 3, 3), Source(50, 3, 3, 3), Join("int", SECONDS_4), Aggregate("sum", "int", None), Sink())
    edges = ((0, 2), (1, 2), (2, 3), (3, 4))
    assert sampling.counted(Query(join, edges), [100, 50, 800, 0.25, 0.25]) == pytest.approx((1, 1, 800 * 4 / (400 * 200), 0.25 / 800, 1))
    grouped = (
        Source(100, 3, 3, 3),
        Filter("<", "int", 0),
        WindowedAggregate("min", "int", "int", Window("sliding", "count", 100, 30)),
        Sink(),
    )
    edges = ((0, 1), (1, 2), (2, 3))
    assert sampling.counted(Query(grouped, edges), [100, 60, 42, 42]) == pytest.approx((1, 0.6, 21 / 100, 1))
    assert sampling.counted(Query(grouped, edges), [100, 0, 0, 0]) == (1, 0, 0, 1)


def test_a_run_that_keeps_up_has_the_shares_that_were_estimated() -> None:
    row = Corpus.of("calibration", 1, 5).row(4)  # two joins over windows of time, and an aggregate of their results
    assert row.labels.backpressured is False
    assert row.measured_selectivities == pytest.approx(row.selectivities, rel=0.1)

"""Draws of a corpus: shares, grids, rules, and that a trace depends on its seed and index alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import astuple, fields

import pytest

from engine.core.random import Chance
from engine.corpus import grid
from engine.corpus.grid import TRAINING, UNSEEN, Hardware
from engine.corpus.queries import DrawnQuery, chain_of_filters, drawn, of_template, structure
from engine.corpus.traces import Trace
from engine.corpus.traces import trace as drawn_trace
from engine.costmodels.description import Aggregate, Filter, Join, Operator, Source, WindowedAggregate
from engine.placement.space import Space

COUNT = 3000


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return [drawn_trace("training", 1, index) for index in range(COUNT)]


def number_of(query: DrawnQuery, kind: type[Operator]) -> int:
    return sum(isinstance(operator, kind) for operator in query.operators)


def near(found: float, share: float) -> bool:
    """Within four standard deviations of the share of so many draws."""
    return bool(abs(found / COUNT - share) < 4 * (share * (1 - share) / COUNT) ** 0.5)


def test_shares_are_those_of_the_source(traces: list[Trace]) -> None:
    """The numbers of filters follow from the coins: the source counts 35, 34, 24 and 6 %."""
    templates: Counter[str] = Counter(trace.query.template for trace in traces)
    assert all(near(templates[name], share) for name, share in (("linear", 0.35), ("two_way", 0.34), ("three_way", 0.31)))
    filters = Counter(number_of(trace.query, Filter) for trace in traces)
    assert set(filters) == {1, 2, 3, 4}
    assert all(near(filters[count], share) for count, share in ((1, 0.3475), (2, 0.335), (3, 0.24), (4, 0.0775)))
    aggregating = sum(bool(number_of(trace.query, Aggregate) + number_of(trace.query, WindowedAggregate)) for trace in traces)
    assert near(aggregating, 0.5)


def test_no_filter_follows_a_filter(traces: list[Trace]) -> None:
    for query in (trace.query for trace in traces):
        assert not any(isinstance(query.operators[a], Filter) and isinstance(query.operators[b], Filter) for a, b in query.edges)


def test_queries_are_trees_to_one_sink(traces: list[Trace]) -> None:
    for query in (trace.query for trace in traces):
        senders = Counter(receiver for _, receiver in query.edges)
        assert sorted(sender for sender, _ in query.edges) == list(range(len(query.operators) - 1))
        assert all(sender < receiver for sender, receiver in query.edges)
        for n, operator in enumerate(query.operators):
            assert senders[n] == (0 if isinstance(operator, Source) else 2 if isinstance(operator, Join) else 1)
        assert number_of(query, Join) == {"linear": 0, "two_way": 1, "three_way": 2}[query.template]


def test_both_joins_of_three_streams_are_alike(traces: list[Trace]) -> None:
    joins = [[each for each in trace.query.operators if isinstance(each, Join)] for trace in traces if trace.query.template == "three_way"]
    assert all(first == second for first, second in joins)


def test_all_values_of_the_grid_are_drawn_and_no_others(traces: list[Trace]) -> None:
    operators = [(trace.query.template, operator) for trace in traces for operator in trace.query.operators]
    for template, rates in grid.RATES.items():
        assert {one.rate_per_s for of, one in operators if isinstance(one, Source) and of == template} == set(rates)
    windows = [one.window for _, one in operators if isinstance(one, Join | WindowedAggregate)]
    assert {window.size for window in windows if window.policy == "time"} == set(grid.TIMES_MS)
    assert {window.size for window in windows if window.policy == "count"} == set(grid.COUNTS)
    assert all(window.slide == window.size for window in windows if window.kind == "tumbling")
    sliding = {round(window.slide / window.size, 1) for window in windows if window.kind == "sliding" and window.policy == "time"}
    assert sliding == set(grid.SLIDES)
    filters = {(one.dtype, one.function) for _, one in operators if isinstance(one, Filter)}
    assert filters == {(dtype, function) for dtype, functions in grid.FUNCTIONS.items() for function in functions}
    assert {one.group_by for _, one in operators if isinstance(one, Aggregate | WindowedAggregate)} == {None, *grid.DTYPES}
    for feature in fields(Hardware):
        for bin in (1, 2, 3):
            found = {getattr(host, feature.name) for trace in traces for host in trace.hosts if host.bin == bin}
            assert found == set(getattr(TRAINING, feature.name)[bin - 1])


def test_the_grid_is_table_2_of_the_source() -> None:
    every = {
        feature.name: sorted({value for values in getattr(TRAINING, feature.name) for value in values}) for feature in fields(Hardware)
    }
    assert every == {
        "cpu_percent": [50, 100, 200, 300, 400, 500, 600, 700, 800],
        "ram_mb": [1000, 2000, 4000, 8000, 16000, 24000, 32000],
        "mbit_per_s": [25, 50, 100, 200, 400, 800, 1600, 3200, 6400, 10000],
        "latency_ms": [1, 2, 5, 10, 20, 40, 80, 160],
    }


def test_unseen_hardware_is_inside_the_ranges_and_new() -> None:
    for feature in fields(Hardware):
        known, new = ({value for values in getattr(of, feature.name) for value in values} for of in (TRAINING, UNSEEN))
        assert not known & new
        assert min(known) < min(new)
        assert max(new) < max(known)


def test_placements_obey_the_rules(traces: list[Trace]) -> None:
    for each in traces:
        space = Space(len(each.query.operators), each.query.edges, tuple(host.bin for host in each.hosts))
        assert space.broken(each.placed) is None
        assert set(each.placed) == set(range(len(each.hosts)))
        assert len(each.hosts) <= 5
        assert each.hosts[each.placed[-1]].bin == 3
    assert {len(each.hosts) for each in traces} == {1, 2, 3, 4, 5}


def test_a_trace_depends_on_its_seed_and_index_alone(traces: list[Trace]) -> None:
    assert [drawn_trace("training", 1, index) for index in (2999, 7)] == [traces[2999], traces[7]]
    assert drawn_trace("training", 2, 7) != traces[7]
    assert drawn_trace("unseen hardware", 1, 7) != traces[7]
    assert drawn_trace("training", 1, 7).group == traces[7].group


def test_groups_are_queries(traces: list[Trace]) -> None:
    """All placements of a query have one, and different queries have different ones."""
    queries = {each.group: each.query for each in traces}
    assert len(queries) == len({each.query for each in traces})


def test_chains_of_filters_are_new_to_training(traces: list[Trace]) -> None:
    known = {structure(each.query) for each in traces}
    chance = Chance(1)
    for count in (2, 3, 4):
        for query in (chain_of_filters(count, chance) for _ in range(50)):
            assert structure(query) not in known
            filters = [operator for operator in query.operators if isinstance(operator, Filter)]
            assert len(set(map(astuple, filters))) == count
            assert query.edges == tuple((n, n + 1) for n in range(count + 1))


def test_a_structure_does_not_depend_on_the_order_of_inputs() -> None:
    queries = [of_template("two_way", Chance(seed)) for seed in range(40)]
    assert len({structure(query) for query in queries}) == 8  # a filter on the second stream, an aggregate, a last filter: each or not
    swapped = queries[0].operators, tuple(reversed(queries[0].edges))
    assert structure(DrawnQuery(*swapped, "two_way")) == structure(queries[0])


def test_training_draws_each_template() -> None:
    assert {drawn(Chance(seed)).template for seed in range(20)} == {"linear", "two_way", "three_way"}

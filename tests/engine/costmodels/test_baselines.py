"""Baselines predict what they can know and nothing else, and splits keep each query, and what is fitted, on one side."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from engine.corpus.traces import Trace, trace
from engine.costmodels.baselines import NEIGHBOURS, Constant, Nearest
from engine.costmodels.description import Filter, Host, Query, Sink, Source
from engine.costmodels.encoding import Encoder
from engine.costmodels.examples import Examples
from engine.costmodels.features import JointGraph, joint_graph
from engine.costmodels.flat import VECTORS
from engine.costmodels.flat.boosting import Trees, train_trees, vectors
from engine.costmodels.metrics import METRICS
from engine.costmodels.splits import Split, split

from .test_features import graphs

LATENCY, FLOWS, SUCCESS = METRICS["processing_latency"], METRICS["flows"], METRICS["success"]


def filtered(rate_per_s: int, share: float = 0.5, latency_ms: float = 10) -> JointGraph:
    """A source and a filter on one host, and a sink on another."""
    query = Query((Source(rate_per_s, 3, 3, 3), Filter("<", "int", 3), Sink()), ((0, 1), (1, 2)))
    return joint_graph(query, [Host(100, 1000, 25, latency_ms), Host(800, 32000, 10000, 1)], [0, 0, 1], [1.0, share, 1.0])


def some(count: int, seed: int) -> Examples:
    """Costs that follow from the rate and the latency."""
    random = np.random.default_rng(seed)
    given = [(int(random.integers(10, 1000)), float(random.uniform(0.1, 1)), float(random.uniform(1, 160))) for _ in range(count)]
    return Examples([filtered(*each) for each in given], [rate * latency_ms for rate, _, latency_ms in given])


def fast(examples: Examples) -> Examples:
    """Classes: whether the source is slower than 500 records a second."""
    return replace(examples, targets=[float(float(graph.nodes[0].features["event_rate"]) < 500) for graph in examples.graphs])


TRAINING, VALIDATION, TEST = some(200, 1), some(50, 2), some(100, 3)


def missed(of: Trees | Nearest | Constant) -> float:
    """The mean difference of logarithms."""
    return float(np.mean(np.abs(np.log1p(np.maximum(of.predict(TEST.graphs), 0)) - np.log1p(TEST.targets))))


# -- constant and nearest ------------------------------------------------------------------------------------------------------------------


def test_the_constant_is_the_median_or_the_more_frequent_class() -> None:
    assert Constant.of([1.0, 100.0, 7.0]).predict(TEST.graphs[:3]).tolist() == [7, 7, 7]
    assert (Constant.of([1.0, 0.0, 1.0]).predict(TEST.graphs[:2]) > 0.5).all()
    assert not (Constant.of([0.0, 0.0, 1.0]).predict(TEST.graphs[:2]) > 0.5).any()
    assert Constant.of([1.0]).predict([]).tolist() == []


def test_the_nearest_give_their_geometric_mean_or_their_share() -> None:
    near, far = [filtered(100 + n) for n in range(NEIGHBOURS)], [filtered(1000 + n) for n in range(NEIGHBOURS)]
    costs, classes = [0.0, 1.0, 3.0, 7.0, 15.0], [1.0, 1.0, 0.0, 1.0, 0.0]
    found = Nearest(LATENCY, [*far, *near], [1e6] * NEIGHBOURS + costs).predict([filtered(90), filtered(2000)])
    assert found.tolist() == pytest.approx([2**2 - 1, 1e6])
    assert Nearest(FLOWS, [*far, *near], [1.0] * NEIGHBOURS + classes).predict([filtered(90), filtered(2000)]).tolist() == [0.6, 1]


def test_what_is_near_does_not_depend_on_units() -> None:
    """The rates differ by thousands, the shares by tenths: without scales, rates alone would count."""
    given = [each for each in ((1000, 0.1), (10_500, 0.1), (11_000, 0.9), (20_000, 0.9)) for _ in range(NEIGHBOURS)]
    nearest = Nearest(LATENCY, [filtered(rate, share) for rate, share in given], [rate for rate, _ in given])
    assert nearest.predict([filtered(11_000, 0.1), filtered(10_500, 0.9)]).tolist() == pytest.approx([10_500, 11_000])


def test_fewer_than_five_neighbours_are_enough() -> None:
    found = Nearest(LATENCY, [filtered(10), filtered(20)], [3.0, 3.0]).predict([filtered(15), filtered(15, 0.9)])
    assert found.tolist() == pytest.approx([3, 3])


# -- trees ---------------------------------------------------------------------------------------------------------------------------------


def test_trees_learn_what_their_vector_knows() -> None:
    """The authors' vector knows no rate and no host, the paper's no host."""
    authors, paper, strong = (missed(train_trees(LATENCY, name, TRAINING, VALIDATION, 1)) for name in VECTORS)
    nearest, constant = missed(Nearest(LATENCY, TRAINING.graphs, TRAINING.targets)), missed(Constant.of(TRAINING.targets))
    assert strong < nearest < constant
    assert strong < 0.5 * paper
    assert paper < 0.9 * constant < authors


def test_trees_learn_classes() -> None:
    found = train_trees(FLOWS, "paper", fast(TRAINING), fast(VALIDATION), 1).predict(TEST.graphs)
    assert ((found > 0) & (found < 1)).all()
    assert np.mean((found > 0.5) == (np.asarray(fast(TEST).targets) > 0.5)) > 0.95


def test_only_costs_of_the_strong_vector_are_learned_as_logarithms() -> None:
    trees = [train_trees(LATENCY, name, TRAINING, VALIDATION, 1) for name in VECTORS]
    assert {of.vector for of in trees if of.logarithmic} == {"strong"}
    assert not train_trees(FLOWS, "strong", fast(TRAINING), fast(VALIDATION), 1).logarithmic
    assert all(of.predict(TRAINING.graphs).max() > 10_000 for of in trees if of.vector != "authors")


def test_trees_are_the_same_for_the_same_seed() -> None:
    one, again = (train_trees(LATENCY, "strong", TRAINING, VALIDATION, 1).predict(TEST.graphs) for _ in range(2))
    assert one.tolist() == again.tolist()


def test_the_best_rounds_by_validation_count() -> None:
    """Nothing holds in validation that holds in training, so the first rounds are the best."""
    turned = replace(VALIDATION, targets=[max(VALIDATION.targets) - target for target in VALIDATION.targets])
    found = train_trees(LATENCY, "strong", TRAINING, turned, 1)
    assert found.booster.current_iteration() < 5 < train_trees(LATENCY, "strong", TRAINING, VALIDATION, 1).booster.current_iteration()


def test_the_vector_of_the_authors_leaves_out_selectivities_for_success() -> None:
    others = [filtered(100, share) for share in (0.1, 0.9)]
    for metric, known in ((LATENCY, True), (FLOWS, True), (SUCCESS, False)):
        one, other = vectors("authors", metric, others).tolist()
        assert (one != other) == known
    assert vectors("authors", SUCCESS, others).shape == (2, 8)


# -- splits --------------------------------------------------------------------------------------------------------------------------------

GROUPS = [f"query {n}" for n in range(2000)]


def sides(groups: list[str], of: Split) -> list[set[str]]:
    return [{groups[n] for n in numbers} for numbers in (of.training, of.validation, of.test)]


def test_each_trace_is_on_one_side_and_no_query_on_two() -> None:
    placements = [group for group in GROUPS for _ in range(3)]
    found = split(placements, 1)
    assert sorted([*found.training, *found.validation, *found.test]) == list(range(6000))
    training, validation, test = sides(placements, found)
    assert not training & validation
    assert not training & test
    assert not validation & test


def test_sides_do_not_depend_on_order_or_on_other_traces() -> None:
    shuffled = np.random.default_rng(1).permutation(GROUPS).tolist()
    assert sides(GROUPS, split(GROUPS, 1)) == sides(shuffled, split(shuffled, 1))
    assert sides(GROUPS[::3], split(GROUPS[::3], 1)) == [side & set(GROUPS[::3]) for side in sides(GROUPS, split(GROUPS, 1))]


def test_sides_have_8_1_and_1_tenth_of_the_queries_and_follow_the_seed() -> None:
    """Within four standard deviations."""
    for seed in (1, 2):
        training, validation, test = sides(GROUPS, split(GROUPS, seed))
        assert abs(len(training) - 1600) < 4 * (2000 * 0.8 * 0.2) ** 0.5
        assert all(abs(len(part) - 200) < 4 * (2000 * 0.1 * 0.9) ** 0.5 for part in (validation, test))
    assert split(GROUPS, 1) != split(GROUPS, 2)
    assert split([], 1) == Split((), (), ())


def test_placements_of_one_query_stay_together() -> None:
    """Whatever hosts a query is on."""
    traces = [trace("tests", 1, index) for index in range(100)]
    moved = [Trace(of.query, traces[0].hosts[:1], (0,) * len(of.query.operators)) for of in traces]
    found = split([of.group for of in [*traces, *moved]], 1)
    for part in (found.training, found.validation, found.test):
        assert part
        assert {n for n in part if n < 100} == {n - 100 for n in part if n >= 100}


def test_scales_change_with_training_graphs_and_not_with_others() -> None:
    traces = graphs(60, "tests")
    parts = split([f"query {n}" for n in range(60)], 1)
    odd = filtered(123_456)

    def encoder(replaced: int | None = None) -> Encoder:
        return Encoder.fitted(odd if n == replaced else traces[n] for n in parts.training)

    usual = encoder()
    assert encoder(replaced=parts.training[0]).scales != usual.scales
    assert all(encoder(replaced=n) == usual for n in (*parts.validation, *parts.test))

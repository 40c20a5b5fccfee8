"""Evaluations: what they try and on what, that work is kept, and how a pick counts. Catches an evaluation that flatters a model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from engine.corpus.labels import Labels
from engine.corpus.queries import structure
from engine.corpus.traces import trace
from engine.costmodels.examples import Examples
from engine.costmodels.metrics import METRICS
from engine.costmodels.storage import load
from engine.costmodels.training import Settings
from engine.learning import teaching
from engine.learning.evaluations import evaluate
from engine.learning.evaluations.accuracy import QUERIES, query_of
from engine.learning.evaluations.speedups import BINS, ONE, Pick, _best, _scores, problem
from engine.learning.examples import examples
from engine.learning.lessons import SPLIT_SEED, Lesson, parts_of
from engine.learning.predictors import HostsExchanged, PlacementExchanged
from engine.learning.stock import Stock
from engine.placement.space import Space
from engine.spec.figure.evaluations import Accuracy, Bounds, Models, OfHosts, Scored, Speedups

from . import made_up
from .made_up import TRACES, row

FLAT = Accuracy(traces=TRACES, predictors=("flat paper", "constant"), groups=("query", "latency_ms"))
SMALL = Models(hidden=8, members=1, epochs=2, batch=128)


@pytest.fixture
def stock(tmp_path: Path) -> Stock:
    made_up.corpus(tmp_path / "corpora" / "any name")
    return Stock(tmp_path, 1)


def of(rows: tuple[Scored, ...], **at: str) -> list[Scored]:
    return [one for one in rows if all(one.at[name] == value for name, value in at.items())]


def test_groups_are_parts_of_the_whole(stock: Stock) -> None:
    found = evaluate(FLAT, stock)
    assert found.runs == TRACES
    for metric in METRICS.values():
        (whole,) = of(found.rows, metric=metric.title, predictor="constant", group="all")
        for group in FLAT.groups:
            parts = of(found.rows, metric=metric.title, predictor="constant", group=group)
            assert sum(part.scores["count"] or 0 for part in parts) == whole.scores["count"]
            assert ("q50" in whole.scores) != metric.classifies
    latency = of(found.rows, metric="Throughput", predictor="constant", group="latency_ms")
    assert [one.at["bin"] for one in latency] == sorted(one.at["bin"] for one in latency)
    assert {query_of(row(index)) for index in range(TRACES)} == set(QUERIES)


def test_what_was_found_is_kept(stock: Stock, tmp_path: Path) -> None:
    first = evaluate(FLAT, stock)
    shutil.rmtree(tmp_path / "corpora")
    assert evaluate(FLAT, Stock(tmp_path, 1)) == first


def test_training_leaves_out_what_a_case_forbids(stock: Stock) -> None:
    near = OfHosts(latency_ms=Bounds(most=40))
    lesson = Lesson((stock.corpus("training", 1, TRACES),), hosts=near, training_traces=20)
    parts = lesson.parts()
    assert len(parts.training) == 20
    for part in parts:
        assert all(host.latency_ms <= 40 for one in part for host in one.trace.hosts)
    whole = parts_of(stock.rows(lesson.corpora[0]))
    assert any(host.latency_ms > 40 for one in whole.training for host in one.trace.hosts)
    restricted = FLAT.model_copy(update={"cases": {"near": FLAT.cases["seen"].model_copy(update={"learns_from": near})}, "groups": ()})
    (learned,) = {one.scores["learned_from"] for one in of(evaluate(restricted, stock).rows, metric="Throughput")}
    assert learned == sum(one.labels.success for one in Lesson(lesson.corpora, hosts=near).parts().training)
    assert learned < sum(one.labels.success for one in whole.training)


def test_models_are_given_estimated_selectivities_unless_a_case_says_measured(stock: Stock) -> None:
    """In training and in tests."""
    plain = Lesson((stock.corpus("training", 1, TRACES),))
    for usual, counted in zip(plain.parts(), replace(plain, counted=True).parts(), strict=True):
        assert [one.selectivities for one in usual] == [row(one.index).selectivities for one in usual]
        assert [one.selectivities for one in counted] == [row(one.index).measured_selectivities for one in usual]
    case = FLAT.cases["seen"].model_copy(update={"selectivities": "measured"})
    tried = {"cases": {"seen": case}, "groups": (), "metrics": ("throughput",), "predictors": ("flat paper",)}
    found = [evaluate(FLAT.model_copy(update=tried | other), stock).rows[0].scores["q50"] for other in ({}, {"cases": FLAT.cases})]
    assert found[0] != found[1]


def test_lessons_that_differ_are_other_models(stock: Stock) -> None:
    corpus = stock.corpus("training", 1, TRACES)
    plain = Lesson((corpus,))
    others = [
        replace(plain, training_traces=20),
        replace(plain, shuffled=True),
        replace(plain, counted=True),
        replace(plain, initial=Path("other")),
    ]
    places = [stock.place_of_models(lesson, SMALL) for lesson in (plain, *others)]
    places.append(stock.place_of_models(plain, SMALL.model_copy(update={"hosts": "none"})))
    assert len(set(places)) == len(places)
    assert stock.place_of_models(plain, SMALL.model_copy(update={"members": 3})) == places[0], "an ensemble may grow"


def test_a_control_chooses_its_epoch_by_shuffled_labels_too(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the best of many epochs by true labels knows something of them."""
    seen: list[Examples] = []
    monkeypatch.setattr(teaching, "train", lambda metric, training, validation, *_: seen.extend([training, validation]))
    lesson = Lesson((stock.corpus("training", 1, TRACES),), shuffled=True)
    teaching.taught(lesson, lesson.parts(), teaching.Task("throughput", 42), Settings(), lambda epoch: None)
    for shuffled, rows in zip(seen, lesson.parts(), strict=False):
        plain = examples(METRICS["throughput"], rows, SPLIT_SEED).targets
        assert list(shuffled.targets) != list(plain)
        assert sorted(shuffled.targets) == sorted(plain)


@pytest.mark.slow
def test_networks_are_trained_and_tried_on_a_draw_of_their_own(stock: Stock, tmp_path: Path) -> None:
    made_up.corpus(tmp_path / "corpora" / "chains", "chains_of_2", 20)
    told: list[str] = []
    stock.told = told.append
    case = {"tested_on": {"draw": "chains_of_2", "traces": 20}}
    wanted = Accuracy.model_validate(
        {
            "traces": TRACES,
            "models": SMALL.model_dump(),
            "metrics": ["throughput", "success"],
            "predictors": ["costream", "hosts exchanged", "queueing"],
            "cases": {"chains": case, "shuffled": case | {"shuffled": True}},
        }
    )
    found = evaluate(wanted, stock)
    assert found.runs == TRACES + 2 * 20
    assert {one.scores["count"] for one in of(found.rows, metric="Throughput")} == {16.0}, "four of them fail"
    assert "model throughput-42: epoch 2" in told
    made = sorted((tmp_path / "evaluations" / "models").iterdir())
    assert len(made) == 2
    losses = [[epoch["loss"] for epoch in load(place / "throughput-42").epochs] for place in made]
    assert losses[0] != losses[1], "of labels in another order"
    before = {path: path.stat().st_mtime_ns for one in made for path in one.rglob("*.npz")}
    evaluate(wanted.model_copy(update={"predictors": ("costream",)}), stock)
    assert {path: path.stat().st_mtime_ns for path in before} == before, "models are not trained again"


@pytest.mark.deep
@pytest.mark.slow
def test_further_training_starts_from_the_models_that_are_there(stock: Stock, tmp_path: Path) -> None:
    of_two = made_up.corpus(tmp_path / "corpora" / "chains", "chains_of_2", 60)
    corpus = stock.corpus("training", 1, TRACES)
    (first,) = stock.models(Lesson((corpus,)), ["throughput"], SMALL)["throughput"]
    further = Lesson((of_two,), initial=stock.place_of_models(Lesson((corpus,)), SMALL))
    (tuned,) = stock.models(further, ["throughput"], SMALL, rate=1e-9)["throughput"]
    assert tuned.encoder == first.encoder, "what is scaled stays as it was"
    graphs = [row(index).graph for index in range(10)]
    assert tuned.predict(graphs) == pytest.approx(first.predict(graphs), rel=1e-3)
    (anew,) = stock.models(Lesson((of_two,)), ["throughput"], SMALL)["throughput"]
    assert anew.encoder != first.encoder


class Seen:
    """A predictor that keeps what it was asked."""

    def __init__(self) -> None:
        self.graphs: list[object] = []

    def predict(self, graphs):  # type: ignore[no-untyped-def]
        self.graphs += graphs
        return [0.0] * len(graphs)


def test_controls_change_hosts_and_placements_and_nothing_else() -> None:
    graph = next(one.graph for index in range(TRACES) if len((one := row(index)).trace.hosts) >= 3)
    for control in (HostsExchanged, PlacementExchanged):
        seen = Seen()
        control(seen).predict([graph])
        (changed,) = seen.graphs
        assert changed != graph
        assert changed.flow == graph.flow  # type: ignore[attr-defined]
        assert sorted(map(str, changed.nodes)) == sorted(map(str, graph.nodes))  # type: ignore[attr-defined]
        assert sorted(host for _, host in changed.placed_on) == sorted(host for _, host in graph.placed_on)  # type: ignore[attr-defined]


def test_problems_follow_the_rules_and_have_one_list_of_candidates() -> None:
    """The first placement is there before anything is predicted, and whoever chooses has the same list."""
    one = problem("two_way", True, 3, 25)
    assert one == problem("two_way", True, 3, 25)
    assert problem("two_way", True, 4, 25).query != one.query
    assert "Aggregate" in structure(one.query)
    space = Space(len(one.query.operators), one.query.edges, BINS)
    assert len(one.candidates) == len(set(one.candidates)) >= 25
    assert all(space.broken(placed) is None for placed in one.candidates)
    assert all(one.candidates[n] is not None for n in one.heuristics.values())
    seeds = {document["workload"]["seed"] for document in one.documents()}
    assert len(seeds) == 1, "all candidates have the same streams"
    assert one.query != trace("training", 1, 3).query


def labels(latency_ms: float | None, behind: bool = False) -> Labels:
    return Labels(43, "nothing arrived") if latency_ms is None else Labels(43, "", 1.0, latency_ms, latency_ms, 0.0, behind)


def test_how_a_pick_counts() -> None:
    """100 ms is the first placement's. A pick that fails or newly falls behind is worth nothing; the source leaves it out."""
    of_queries = [
        [labels(100), labels(10), labels(50)],  # ten times as fast, regret 1
        [labels(100), labels(None)],  # fails
        [labels(100), labels(5, behind=True)],  # falls behind
        [labels(100), labels(20)],  # the first one is kept
        [labels(None), labels(None)],  # nobody can help it
        [labels(None), labels(7)],  # there is nothing to compare with
        [labels(100), labels(50)],  # no gain was expected
    ]
    picks = [Pick(1, 9.0), Pick(1, 9.0), Pick(1, 9.0), Pick(0, 99.0), Pick(1, 9.0), Pick(1, 9.0), Pick(1, 110.0)]
    found = _scores("processing_latency", False, of_queries, picks)
    assert found["count"] == 5  # 10, 0, 0, 1, 2
    assert found["speedup"] == 1
    assert found["speedup_of_kept"] == pytest.approx(10)  # of 10, 20, 1
    assert found["failed"] == pytest.approx(2 / 6)
    assert found["kept"] == pytest.approx(1 / 7)
    nobody_gains = _scores("processing_latency", False, of_queries[:2], [Pick(1, 999.0), Pick(1, 999.0)])
    assert nobody_gains["speedup_of_kept"] == 1, "all stay where they are"
    assert found["regret"] == pytest.approx(1)  # of 1, 0.05, 5, 1, 1


def test_the_best_candidate_keeps_up_if_any_does() -> None:
    assert _best("processing_latency", False, [labels(None), labels(5, behind=True), labels(50), labels(20)]) == 3
    assert _best("processing_latency", False, [labels(None), labels(9, behind=True), labels(5, behind=True)]) == 2
    assert _best("throughput", True, [labels(None), labels(50)]) == 1


@pytest.mark.deep
@pytest.mark.slow
def test_speed_ups_are_measured(stock: Stock, monkeypatch: pytest.MonkeyPatch) -> None:
    """One query of each type, few candidates. Whoever picks the best of what was measured is as fast as can be."""
    found = evaluate(Speedups(traces=TRACES, models=SMALL, queries=1, candidates=2), stock)
    assert len({one.at["query"] for one in found.rows}) == 6
    for query in QUERIES:
        regrets = {str(one.at["chooser"]): one.scores["regret"] for one in of(found.rows, query=query)}
        assert {"costream", "flat paper", "random", "best of all", ONE} <= set(regrets)
        assert regrets["best of all"] in (1, None)
        (first,) = of(found.rows, query=query, chooser=ONE)
        assert first.scores["speedup"] in (1, None)
        assert first.scores["kept"] == 1
    assert found.runs > TRACES + 6 * 2
    monkeypatch.setattr("engine.learning.stock._observed", None)
    shutil.rmtree(stock.kept / "scores")
    assert evaluate(Speedups(traces=TRACES, models=SMALL, queries=1, candidates=2), stock) == found, "runs are kept"

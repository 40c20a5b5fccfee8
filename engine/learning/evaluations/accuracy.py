"""How far predictions are off, by case, metric, predictor and group of traces (Heinrich et al. 2024, experiments 1, 3 to 7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from engine.corpus import corpora
from engine.corpus.corpora import Corpus
from engine.corpus.grid import TRAINING
from engine.corpus.labels import Labels
from engine.corpus.rows import Row
from engine.costmodels.description import Aggregate, WindowedAggregate
from engine.costmodels.encoding import Floats
from engine.costmodels.errors import Classes, errors, q_errors
from engine.costmodels.metrics import METRICS, Metric
from engine.spec.figure.evaluations import Accuracy, Case, Scored, Scores

from ..examples import balanced_rows, examples, target, with_targets
from ..lessons import SPLIT_SEED, Lesson, parts_of
from ..predictors import NETWORKS, predictor
from ..stock import Members, Stock

TEST_SEED = 1
TUNING_SEED = 2
"""Draws for tuning share no trace with those for tests."""

AGAIN_SEED = 2
AGAIN_MOST = 200
"""Traces that are run again."""

ALL = "all"


def accuracy(evaluation: Accuracy, stock: Stock) -> Scores:
    assert evaluation.traces
    for draw in _draws(evaluation):
        Corpus.of(draw, TEST_SEED, 1)  # a name that is wrong is told before hours of work
    corpus = stock.corpus("training", evaluation.seed, evaluation.traces)
    rows, runs = [], evaluation.traces
    for name, case in evaluation.cases.items():
        one = _Case(evaluation, case, corpus, stock)
        if case.tested_on is not None:
            runs += len(one.tested)
        rows += [replace(scored, at={"case": name, **scored.at}) for scored in one.scored()]
    return Scores(tuple(rows), runs)


def _draws(evaluation: Accuracy) -> Iterator[str]:
    for case in evaluation.cases.values():
        if case.tested_on is not None:
            yield case.tested_on.draw
        if case.tuned_on is not None:
            yield from case.tuned_on.draws


class _Case:
    def __init__(self, evaluation: Accuracy, case: Case, corpus: Path, stock: Stock):
        self.evaluation, self.case, self.corpus, self.stock = evaluation, case, corpus, stock
        counted = case.selectivities == "measured"
        self.lesson = Lesson(
            (corpus,), hosts=case.learns_from, training_traces=case.training_traces, shuffled=case.shuffled, counted=counted
        )
        self.parts = self.lesson.restricted(parts_of(stock.rows(corpus)))
        if case.tested_on is None:
            self.tested_corpus, self.tested = corpus, self.parts.test
        else:
            assert case.tested_on.traces
            self.tested_corpus = stock.corpus(case.tested_on.draw, TEST_SEED, case.tested_on.traces)
            self.tested = list(map(self.lesson.seen, stock.rows(self.tested_corpus)))

    def scored(self) -> Iterator[Scored]:
        metrics = [METRICS[name] for name in self.evaluation.metrics]
        members = self._members()
        for metric in metrics:
            test = _test_rows(metric, self.tested, whole=self.case.tested_on is not None)
            if not test:
                continue
            training, validation = (examples(metric, rows, SPLIT_SEED) for rows in self.parts[:2])
            for name in self.evaluation.predictors:
                self.stock.told(f"{metric.title.lower()} by {name}")
                if name == "another run":
                    of, predicted = self._run_again(metric, test)
                else:
                    made = predictor(name, metric, members.get(metric.name, ()), training, validation)
                    of, predicted = test, made.predict([row.graph for row, _ in test])
                learned = {"learned_from": float(len(training)), "good": _share_of_good(metric, self.tested)}
                for group, bin, chosen in self._groups(of):
                    at: dict[str, str | float] = {"metric": metric.title, "predictor": name, "group": group, "bin": bin}
                    found = _scored(metric, [of[n][1] for n in chosen], predicted[chosen], at)
                    yield replace(found, scores=found.scores | learned)

    def _members(self) -> Members:
        evaluation, case = self.evaluation, self.case
        if not any(name in NETWORKS for name in evaluation.predictors):
            return {}
        models = evaluation.models_of(case)
        found = self.stock.models(self.lesson, evaluation.metrics, models)
        if (tuning := case.tuned_on) is None:
            return found
        assert tuning.traces
        each = -(-tuning.traces // len(tuning.draws))
        drawn = tuple(self.stock.corpus(draw, TUNING_SEED, each) for draw in tuning.draws)
        further = Lesson(drawn, counted=self.lesson.counted, initial=self.stock.place_of_models(self.lesson, models))
        return self.stock.models(further, evaluation.metrics, models.model_copy(update={"epochs": tuning.epochs}), tuning.rate)

    def _groups(self, of: Sequence[tuple[Row, float]]) -> Iterator[tuple[str, str | float, list[int]]]:
        """Names of groups, of their bins, and numbers of the traces in them."""
        yield ALL, ALL, list(range(len(of)))
        for group in self.evaluation.groups:
            bins: dict[str | float, list[int]] = {}
            for n, (row, _) in enumerate(of):
                bins.setdefault(GROUPS[group](row), []).append(n)
            for bin in sorted(bins, key=lambda bin: (isinstance(bin, str), bin if isinstance(bin, float) else QUERIES.index(bin))):
                yield group, bin, bins[bin]

    def _run_again(self, metric: Metric, test: Sequence[tuple[Row, float]]) -> tuple[list[tuple[Row, float]], Floats]:
        """As if a run with another seed were a prediction: what no model can know. A run that fails predicts nothing."""
        chosen = list(test[:AGAIN_MOST])
        corpus = corpora.opened(self.tested_corpus)
        documents = []
        for row, _ in chosen:
            document = corpus.document(row.index)
            document["workload"]["seed"] += AGAIN_SEED
            documents.append(document)
        labels: list[Labels] = self.stock.measured(documents, "runs again")
        values = [target(metric, of) for of in labels]
        return chosen, np.array([0.0 if value is None else value for value in values])


def _test_rows(metric: Metric, rows: Sequence[Row], whole: bool) -> list[tuple[Row, float]]:
    """Classes are balanced, unless there is one alone in a set of its own. whole: a set of its own."""
    balanced = balanced_rows(metric, rows, SPLIT_SEED)
    return balanced if balanced or not whole else with_targets(metric, rows)


def _share_of_good(metric: Metric, rows: Sequence[Row]) -> float | None:
    """Before classes are balanced."""
    values = [value for _, value in with_targets(metric, rows)]
    return sum(values) / len(values) if metric.classifies and values else None


def _scored(metric: Metric, measured: Sequence[float], predicted: Floats, at: dict[str, str | float]) -> Scored:
    if metric.classifies:
        classes = Classes.of([value > 0.5 for value in measured], (predicted > 0.5).tolist())
        shares = {"accuracy": classes.accuracy, "precision": classes.precision, "recall": classes.recall}
        return Scored(at, {"count": float(classes.count), **shares})
    off = errors(measured, predicted.tolist(), metric.least)
    scores: dict[str, float | None] = {"q50": off.q50, "q95": off.q95, "count": float(off.count), "clipped": float(off.clipped)}
    if metric.name == "throughput":
        each, least = q_errors(measured, predicted, metric.least), np.asarray(measured) < 1
        scores |= {"q50_below_1": _median(each[least]), "q50_from_1": _median(each[~least])}
    return Scored(at, scores, {"q50": off.low}, {"q50": off.high})


def _median(values: Floats) -> float | None:
    return float(np.median(values)) if len(values) else None


QUERIES = [f"{template}{aggregated}" for template in ("linear", "two-way join", "three-way join") for aggregated in ("", ", aggregated")]


def query_of(row: Row) -> str:
    """One of six types."""
    template = {"linear": "linear", "two_way": "two-way join", "three_way": "three-way join"}[row.trace.query.template]
    aggregated = any(isinstance(of, Aggregate | WindowedAggregate) for of in row.trace.query.operators)
    return f"{template}{', aggregated' if aggregated else ''}"


def _mean_of(name: str, grid: Sequence[Sequence[int]]) -> Callable[[Row], str | float]:
    """The greatest value of the grid that is not above the mean of the trace's hosts."""
    values = sorted({value for bin in grid for value in bin})

    def found(row: Row) -> float:
        mean = float(np.mean([getattr(host, name) for host in row.trace.hosts]))
        return float(max((value for value in values if value <= mean), default=values[0]))

    return found


GROUPS: Mapping[str, Callable[[Row], str | float]] = {
    "query": query_of,
    **{name: _mean_of(name, getattr(TRAINING, name)) for name in ("cpu_percent", "ram_mb", "mbit_per_s", "latency_ms")},
}

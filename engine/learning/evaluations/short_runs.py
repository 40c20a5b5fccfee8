"""Labels of short runs against those of runs that take as long as the source's (specification of Costream, 5.4)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.corpus.corpora import Corpus
from engine.corpus.experiments import Document
from engine.corpus.labels import Labels
from engine.costmodels.errors import errors
from engine.costmodels.metrics import METRICS, Metric
from engine.spec.figure.evaluations import Scored, Scores, ShortRuns

from ..examples import target
from ..stock import Stock

DRAW = "calibration"


def short_runs(evaluation: ShortRuns, stock: Stock) -> Scores:
    assert evaluation.experiments
    corpus = Corpus.of(DRAW, evaluation.seed, evaluation.experiments)
    short = [corpus.document(index) for index in range(evaluation.experiments)]
    long = [_longer(document, evaluation.length_s) for document in short]
    of_short, of_long = stock.measured(short, "short runs"), stock.measured(long, f"runs of {evaluation.length_s} s")
    rows = [Scored({"metric": metric.title}, _scores(metric, of_short, of_long)) for metric in METRICS.values()]
    return Scores(tuple(rows), len(short) + len(long))


def _longer(document: Document, length_s: int) -> Document:
    return document | {"workload": document["workload"] | {"horizon_s": length_s}}


def _scores(metric: Metric, short: Sequence[Labels], long: Sequence[Labels]) -> dict[str, float | None]:
    """Of experiments that have the label in both runs; of success, all have it."""
    pairs = [(target(metric, of), target(metric, other)) for of, other in zip(short, long, strict=True)]
    known = [(value, other) for value, other in pairs if value is not None and other is not None]
    if metric.classifies:
        same = sum((value > 0.5) == (other > 0.5) for value, other in known)
        return {"accuracy": same / len(known) if known else None, "count": float(len(known))}
    if not known:
        return {"q50": None, "q95": None, "count": 0.0}
    off = errors([other for _, other in known], [value for value, _ in known], metric.least)
    return {"q50": off.q50, "q95": off.q95, "count": float(len(known))}

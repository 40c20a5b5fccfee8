"""What models are worth on the test part: beside flat vectors, the nearest neighbours and a constant (specification 6, 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from engine.costmodels.errors import Classes, errors
from engine.costmodels.examples import Examples
from engine.costmodels.inference import Trained
from engine.costmodels.metrics import Metric

from .examples import examples
from .lessons import SPLIT_SEED, Parts
from .predictors import Ensemble, Predictor, predictor

POINTS_MAX = 500
PREDICTORS = ("costream", "flat authors", "flat paper", "flat strong", "nearest", "constant")


def measured(metric: Metric, by: Predictor, test: Examples) -> dict[str, Any]:
    """q-errors, or shares of correct classes."""
    predicted = by.predict(test.graphs)
    if not metric.classifies:
        return asdict(errors(test.targets, predicted.tolist(), metric.least))
    classes = Classes.of([target > 0.5 for target in test.targets], (predicted > 0.5).tolist())
    shares = {"accuracy": classes.accuracy, "precision": classes.precision, "recall": classes.recall}
    return {"count": classes.count, **shares, **asdict(classes), "one_class_only": classes.one_class_only}


def report(metric: Metric, members: Sequence[Trained], parts: Parts) -> dict[str, Any]:
    """By predictor, how far it is off. points: pairs of what was measured and what the network predicts, of a cost."""
    training, validation, test = (examples(metric, rows, SPLIT_SEED) for rows in parts)
    found = {name: measured(metric, predictor(name, metric, members, training, validation), test) for name in PREDICTORS}
    traces = {"training": len(training), "validation": len(validation), "test": len(test)}
    return {"metric": metric.name, "traces": traces, "off": found, "points": [] if metric.classifies else _points(members, test)}


def _points(members: Sequence[Trained], test: Examples) -> list[list[float]]:
    shown = Examples(test.graphs[:POINTS_MAX], test.targets[:POINTS_MAX])
    predicted = Ensemble(members).predict(shown.graphs)
    return [[float(f"{one:.4g}"), float(f"{other:.4g}")] for one, other in zip(shown.targets, predicted.tolist(), strict=True)]


def line(metric: Metric, name: str, off: Mapping[str, Any]) -> str:
    """One predictor in words."""
    if metric.classifies:
        return f"{name}: {off['accuracy']:.1%} correct of {off['count']}"
    return f"{name}: q50 {off['q50']:.2f} ({off['low']:.2f} to {off['high']:.2f}), q95 {off['q95']:.1f}, of {off['count']}"

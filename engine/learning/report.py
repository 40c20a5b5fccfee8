"""What models are worth on the test part: beside flat vectors, the nearest neighbours and a constant (specification 6, 9)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from engine.costmodels.baselines import Constant, Nearest
from engine.costmodels.encoding import Floats
from engine.costmodels.errors import Classes, errors
from engine.costmodels.examples import Examples
from engine.costmodels.features import JointGraph
from engine.costmodels.flat import VECTORS
from engine.costmodels.flat.boosting import train_trees
from engine.costmodels.inference import Trained
from engine.costmodels.metrics import Metric

from .examples import examples
from .teaching import SPLIT_SEED, Parts


class Predictor(Protocol):
    def predict(self, graphs: Sequence[JointGraph]) -> Floats: ...


class Ensemble:
    """The mean of costs, the majority of classes."""

    def __init__(self, members: Sequence[Trained]):
        self.members = members

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        found = np.array([member.predict(graphs) for member in self.members])
        mean: Floats = np.mean(found > 0.5 if self.members[0].metric.classifies else found, axis=0)
        return mean


def measured(metric: Metric, predictor: Predictor, test: Examples) -> dict[str, Any]:
    """q-errors, or shares of correct classes."""
    predicted = predictor.predict(test.graphs)
    if not metric.classifies:
        return asdict(errors(test.targets, predicted.tolist(), metric.least))
    classes = Classes.of([target > 0.5 for target in test.targets], (predicted > 0.5).tolist())
    shares = {"accuracy": classes.accuracy, "precision": classes.precision, "recall": classes.recall}
    return {"count": classes.count, **shares, **asdict(classes), "one_class_only": classes.one_class_only}


def report(metric: Metric, members: Sequence[Trained], parts: Parts) -> dict[str, Any]:
    """By predictor, how far it is off."""
    training, validation, test = (examples(metric, rows, SPLIT_SEED) for rows in parts)
    found = {name: measured(metric, predictor, test) for name, predictor in _predictors(metric, members, training, validation)}
    return {"metric": metric.name, "traces": {"training": len(training), "validation": len(validation), "test": len(test)}, "off": found}


def _predictors(metric: Metric, members: Sequence[Trained], training: Examples, validation: Examples) -> Iterator[tuple[str, Predictor]]:
    yield "costream", Ensemble(members)
    for vector in VECTORS:
        yield f"flat {vector}", train_trees(metric, vector, training, validation, SPLIT_SEED)
    yield "nearest", Nearest(metric, training.graphs, training.targets)
    yield "constant", Constant.of(training.targets)


def line(metric: Metric, name: str, off: Mapping[str, Any]) -> str:
    """One predictor in words."""
    if metric.classifies:
        return f"{name}: {off['accuracy']:.1%} correct of {off['count']}"
    return f"{name}: q50 {off['q50']:.2f} ({off['low']:.2f} to {off['high']:.2f}), q95 {off['q95']:.1f}, of {off['count']}"

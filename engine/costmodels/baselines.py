"""Predictors that any model has to beat: a constant, and the nearest neighbours (specification, section 9, point 5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .encoding import Floats
from .features import JointGraph
from .flat import strong
from .metrics import Metric

NEIGHBOURS = 5


@dataclass(frozen=True)
class Constant:
    """The median of training; of classes, which are balanced, the more frequent one."""

    value: float

    @classmethod
    def of(cls, targets: Sequence[float]) -> Constant:
        return cls(float(np.median(targets)))

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        return np.full(len(graphs), self.value)


class Nearest:
    """The geometric mean of the nearest traces of training, or the share of good ones, by our strongest vector in units of its spread."""

    def __init__(self, metric: Metric, graphs: Sequence[JointGraph], targets: Sequence[float]):
        self._metric = metric
        vectors = _vectors(graphs)
        self._middle, spread = vectors.mean(axis=0), vectors.std(axis=0)
        self._spread = np.where(spread > 0, spread, 1.0)
        self._vectors = (vectors - self._middle) / self._spread
        self._targets = np.asarray(targets, np.float64)

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        vectors = (_vectors(graphs) - self._middle) / self._spread
        found = np.zeros(len(graphs))
        for n, vector in enumerate(vectors):
            distances = np.square(self._vectors - vector).sum(axis=1)
            nearest = self._targets[np.argsort(distances, kind="stable")[:NEIGHBOURS]]
            found[n] = nearest.mean() if self._metric.classifies else np.expm1(np.log1p(nearest).mean())
        return found


def _vectors(graphs: Sequence[JointGraph]) -> Floats:
    return np.array([list(strong(graph).values()) for graph in graphs], np.float64)

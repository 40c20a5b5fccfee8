"""Boosted trees on flat vectors (after Ganapathi et al. 2009; specification 4.1). Needs lightgbm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import lightgbm
import numpy as np

from ..encoding import Floats
from ..examples import Examples
from ..features import JointGraph
from ..metrics import Metric
from . import VECTORS, authors_success

ROUNDS, PATIENCE = 1000, 100


@dataclass
class Trees:
    """vector: its name (`engine.costmodels.flat.VECTORS`). logarithmic: trained on the logarithm of 1 + the cost."""

    metric: Metric
    vector: str
    logarithmic: bool
    booster: Any

    def predict(self, graphs: Sequence[JointGraph]) -> Floats:
        """(graphs,) of costs, which may be negative, or of the probability of the good class."""
        found: Floats = np.asarray(self.booster.predict(vectors(self.vector, self.metric, graphs)), np.float64)
        return np.expm1(found) if self.logarithmic else found


def vectors(name: str, metric: Metric, graphs: Sequence[JointGraph]) -> Floats:
    """(graphs, numbers). The authors' own vector of success has no selectivities."""
    made = authors_success if (name, metric.name) == ("authors", "success") else VECTORS[name]
    return np.array([list(made(graph).values()) for graph in graphs], np.float64)


def train_trees(
    metric: Metric,
    vector: str,
    training: Examples,
    validation: Examples,
    seed: int,
) -> Trees:
    """With the authors' settings: squared error of the cost itself, or the classes' log-loss, at most 1,000 rounds, of which the best by
    validation counts. Our strongest vector is trained on logarithms."""
    logarithmic = vector == "strong" and not metric.classifies
    sets = [
        (vectors(vector, metric, part.graphs), np.log1p(part.targets) if logarithmic else np.asarray(part.targets, np.float64))
        for part in (training, validation)
    ]
    first = lightgbm.Dataset(*sets[0])
    parameters = {
        "objective": "binary" if metric.classifies else "regression",
        "num_leaves": 31,
        "learning_rate": 0.1,
        "min_data_in_leaf": 20,
        "seed": seed,
        "deterministic": True,
        "force_row_wise": True,
        "num_threads": 1,
        "verbosity": -1,
    }
    booster = lightgbm.train(
        parameters,
        first,
        ROUNDS,
        valid_sets=[lightgbm.Dataset(*sets[1], reference=first)],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    return Trees(metric, vector, logarithmic, booster)

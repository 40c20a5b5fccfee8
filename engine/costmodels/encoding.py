"""Features as numbers: scaled by the training split's median and quartiles, categories one-hot (Heinrich et al. 2024; specification 3.1).

An encoder is fitted on training graphs alone and is kept with the model, as JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .features import CATEGORICAL, NUMERIC, JointGraph, Node

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """Of a numeric feature in training. spread: between the quartiles, 1 where they are equal."""

    median: float
    spread: float
    least: float
    most: float


@dataclass(frozen=True)
class Outside:
    """A value that training has not seen. least, most: of a numeric feature in training, None for a category."""

    type: str
    feature: str
    value: float | str
    least: float | None = None
    most: float | None = None


@dataclass(frozen=True)
class Encoder:
    """scales: by type of node and numeric feature. categories: by type and categorical feature, the values seen, in order. A type that
    training did not have has neither."""

    scales: dict[str, dict[str, Scale]]
    categories: dict[str, dict[str, tuple[str, ...]]]

    @classmethod
    def fitted(cls, graphs: Iterable[JointGraph]) -> Encoder:
        by_type: dict[str, list[Node]] = {name: [] for name in NUMERIC}
        for graph in graphs:
            for node in graph.nodes:
                by_type[node.type].append(node)
        seen = {name: nodes for name, nodes in by_type.items() if nodes}
        scales = {
            name: {feature: _scale([float(node.features[feature]) for node in nodes]) for feature in NUMERIC[name]}
            for name, nodes in seen.items()
        }
        categories = {
            name: {feature: tuple(sorted({str(node.features[feature]) for node in nodes})) for feature in CATEGORICAL[name]}
            for name, nodes in seen.items()
        }
        return cls(scales, categories)

    def width(self, type: str) -> int:
        """Numbers that a node of this type has."""
        return len(self.scales.get(type, ())) + sum(map(len, self.categories.get(type, {}).values()))

    def encoded(self, type: str, nodes: Sequence[Node]) -> Floats:
        """(nodes, width). A category that training has not seen is all zeros."""
        scales, categories = self.scales.get(type, {}), self.categories.get(type, {})
        columns = [[(float(node.features[feature]) - scale.median) / scale.spread for node in nodes] for feature, scale in scales.items()]
        columns += [
            [float(node.features[feature] == value) for node in nodes] for feature, values in categories.items() for value in values
        ]
        return np.array(columns, np.float64).reshape(len(columns), len(nodes)).T

    def outside(self, graph: JointGraph) -> list[Outside]:
        """What the graph has and training had not, each once."""
        found: dict[Outside, None] = {}
        for node in graph.nodes:
            for feature, scale in self.scales.get(node.type, {}).items():
                value = float(node.features[feature])
                if not scale.least <= value <= scale.most:
                    found[Outside(node.type, feature, value, scale.least, scale.most)] = None
            for feature in CATEGORICAL[node.type]:
                category = str(node.features[feature])
                if category not in self.categories.get(node.type, {}).get(feature, ()):
                    found[Outside(node.type, feature, category)] = None
        return list(found)

    def as_json(self) -> dict[str, Any]:
        return {
            "scales": {name: {feature: vars(scale) for feature, scale in scales.items()} for name, scales in self.scales.items()},
            "categories": {name: {feature: list(values) for feature, values in of.items()} for name, of in self.categories.items()},
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Encoder:
        scales = {name: {feature: Scale(**scale) for feature, scale in scales.items()} for name, scales in value["scales"].items()}
        categories = {name: {feature: tuple(values) for feature, values in of.items()} for name, of in value["categories"].items()}
        return cls(scales, categories)


def _scale(values: Sequence[float]) -> Scale:
    low, median, high = np.percentile(values, [25, 50, 75]).tolist()
    return Scale(median, high - low or 1.0, min(values), max(values))

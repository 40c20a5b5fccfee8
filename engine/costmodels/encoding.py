"""Features as numbers: scaled by the training split's median and quartiles, categories one-hot (Heinrich et al. 2024; specification 3.1).

An encoder is fitted on training graphs alone and is kept with the model, as JSON.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .features import CATEGORICAL, NUMERIC, SELECTIVITY, JointGraph, Node
from .sampling import LEAST

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Scale:
    """Of a numeric feature in training. median, spread: of what is scaled, the value or the logarithm of 1 + it; spread: between the
    quartiles, 1 where they are equal. least, most: of the values themselves."""

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
    training did not have has neither. logarithmic: whether the logarithm of numeric features is scaled, which the source does not take."""

    scales: dict[str, dict[str, Scale]]
    categories: dict[str, dict[str, tuple[str, ...]]]
    logarithmic: bool = False

    @classmethod
    def fitted(cls, graphs: Iterable[JointGraph], logarithmic: bool = False) -> Encoder:
        by_type: dict[str, list[Node]] = {name: [] for name in NUMERIC}
        for graph in graphs:
            for node in graph.nodes:
                by_type[node.type].append(node)
        seen = {name: nodes for name, nodes in by_type.items() if nodes}
        scales = {
            name: {feature: _scale(feature, [float(node.features[feature]) for node in nodes], logarithmic) for feature in NUMERIC[name]}
            for name, nodes in seen.items()
        }
        categories = {
            name: {feature: tuple(sorted({str(node.features[feature]) for node in nodes})) for feature in CATEGORICAL[name]}
            for name, nodes in seen.items()
        }
        return cls(scales, categories, logarithmic)

    def width(self, type: str) -> int:
        """Numbers that a node of this type has."""
        return len(self.scales.get(type, ())) + sum(map(len, self.categories.get(type, {}).values()))

    def encoded(self, type: str, nodes: Sequence[Node]) -> Floats:
        """(nodes, width). A category that training has not seen is all zeros."""
        scales, categories = self.scales.get(type, {}), self.categories.get(type, {})
        columns = [
            (_taken(feature, [float(node.features[feature]) for node in nodes], self.logarithmic) - scale.median) / scale.spread
            for feature, scale in scales.items()
        ]
        columns += [
            np.array([float(node.features[feature] == value) for node in nodes])
            for feature, values in categories.items()
            for value in values
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
            "logarithmic": self.logarithmic,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Encoder:
        """Raises ValueError if types or features are not those of this version, or if a scale is no scale."""
        scales = {name: {feature: Scale(**scale) for feature, scale in scales.items()} for name, scales in value["scales"].items()}
        categories = {name: {feature: tuple(values) for feature, values in of.items()} for name, of in value["categories"].items()}
        for name in sorted(scales.keys() | categories.keys()):
            if name not in NUMERIC:
                raise ValueError(f"type {name} is unknown; this version has {', '.join(NUMERIC)}")
            _check_features(name, scales.get(name, ()), NUMERIC[name])
            _check_features(name, categories.get(name, ()), CATEGORICAL[name])
            for feature, scale in scales[name].items():
                _check_scale(f"{name}.{feature}", scale)
        return cls(scales, categories, bool(value["logarithmic"]))


def _check_features(type: str, given: Collection[str], known: Collection[str]) -> None:
    """Raises ValueError if a type has other features than this version knows."""
    for feature in sorted({*given} ^ {*known}):
        has = "has" if feature in given else "lacks"
        raise ValueError(f"{type} {has} feature {feature}; this version has {', '.join(known) or 'none'}")


def _check_scale(name: str, scale: Scale) -> None:
    """Raises ValueError."""
    for field, value in vars(scale).items():
        if not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
            raise ValueError(f"{field} of {name} is {value}; it must be a finite number")
    if scale.spread <= 0:
        raise ValueError(f"spread of {name} is {scale.spread}; it must be above 0")


def _taken(feature: str, values: Sequence[float], logarithmic: bool) -> Floats:
    """What is scaled. Selectivities differ by orders of magnitude below 1."""
    if not logarithmic:
        return np.asarray(values, np.float64)
    return np.log(np.maximum(values, LEAST)) if feature == SELECTIVITY else np.log1p(values)


def _scale(feature: str, values: Sequence[float], logarithmic: bool) -> Scale:
    low, median, high = np.percentile(_taken(feature, values, logarithmic), [25, 50, 75]).tolist()
    return Scale(median, high - low or 1.0, min(values), max(values))

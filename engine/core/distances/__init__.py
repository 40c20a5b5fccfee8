"""Distances between vectors: metrics, one file each.

Similarity joins rely on the triangle inequality (docs/similarity.md). `1 - cosine` does not meet it, so it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from .angular import angular
from .euclidean import euclidean

ANGULAR, EUCLIDEAN = range(2)


@dataclass(frozen=True)
class Distance:
    """code: as in the operators' parameters. largest: the largest distance of two vectors, None if there is none."""

    code: int
    title: str
    largest: float | None


DISTANCES = {
    "angular": Distance(ANGULAR, "Angle (1 is a half turn)", 1.0),
    "euclidean": Distance(EUCLIDEAN, "Euclidean", None),
}

NO_METRIC = {
    "cosine": "1 - cosine does not meet the triangle inequality, on which the join relies; use angular, which orders pairs in the same way",
    "squared_euclidean": "squares of distances do not meet the triangle inequality, on which the join relies; use euclidean",
}
"""Measures that people ask for, with the reason for which they are refused."""


def distance(code, product, left_square, right_square, difference_square):
    """The distance with this code, from what its vectors give: see the distances."""
    result = 0.0
    if code == ANGULAR:
        result = angular(product, left_square, right_square)
    else:
        result = euclidean(difference_square)
    return result

"""Distances between vectors or texts: metrics, one file each.

Similarity joins rely on the triangle inequality (docs/similarity.md). `1 - cosine` does not meet it, so it is refused.
"""

from __future__ import annotations

from dataclasses import dataclass

from .angular import angle_is_beyond, angular, cosine_bound
from .edit import edits
from .euclidean import euclidean

ANGULAR, EUCLIDEAN, EDIT = range(3)


@dataclass(frozen=True)
class Distance:
    """code: as in the operators' parameters. largest: the largest distance of two vectors, None if there is none. of_texts: whether it is
    between texts."""

    code: int
    title: str
    largest: float | None
    of_texts: bool = False


DISTANCES = {
    "angular": Distance(ANGULAR, "Angle (1 is a half turn)", 1.0),
    "euclidean": Distance(EUCLIDEAN, "Euclidean", None),
    "edit": Distance(EDIT, "Edits (letters inserted, deleted or replaced)", None, of_texts=True),
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


BEYOND = 1e300
"""In place of a distance that is larger than what was asked for."""
SLACK = 1e-9
"""How much larger, as a share and in half turns, so that rounding does not matter."""


def bound_of(name: str, reach: float) -> float:
    """The bound for `distance_up_to` that belongs to the distance with this name and the largest distance that matters."""
    code = DISTANCES[name].code
    if code == ANGULAR:
        return cosine_bound(reach * (1.0 + SLACK) + SLACK)
    return reach if code == EDIT else reach * reach * (1.0 + SLACK)


def text_distance(points, point_first, a, b, most, scratch):
    """The edits between the texts with these codes, or BEYOND if there are more than `most`. What points at the texts stands in the first
    word of `points`."""
    first = points[0]
    a_at = point_first[first + a]
    b_at = point_first[first + b]
    a_length = point_first[first + a + 1] - a_at
    b_length = point_first[first + b + 1] - b_at
    found = edits(points, a_at, a_length, b_at, b_length, most, scratch)
    result = BEYOND
    if found <= most:
        result = found + 0.0
    return result


def distance_up_to(code, product, left_square, right_square, difference_square, bound):
    """The distance as `distance` returns it, or BEYOND where it is surely larger than what the bound stands for: most pairs of vectors are
    told apart without a root or an arc cosine."""
    result = BEYOND
    if code == ANGULAR:
        if not angle_is_beyond(product, left_square * right_square, bound):
            result = angular(product, left_square, right_square)
    elif not difference_square > bound:
        result = euclidean(difference_square)
    return result

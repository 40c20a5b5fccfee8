"""The angle between two vectors, as a share of a half turn."""

import numpy as np

from engine.core.kernels.trigonometry import arccos
from engine.core.mathematics import cosine

PI = 3.141592653589793


def angular(product, left_square, right_square):
    """arccos(cosine) / pi, from 0 to 1. product: inner product of the vectors. *_square: their inner products with themselves.

    NaN where a vector is zero, which has no direction. Source: Siachamis 2024, 2.2.
    """
    return arccos(product / (np.sqrt(left_square) * np.sqrt(right_square))) / PI


SQUARES_MIN = 1e-290
"""Below this a product of squares has lost too many digits."""


def cosine_bound(half_turns: float) -> float:
    """The bound for `angle_is_beyond` of an angle: its cosine times the size of its cosine."""
    value = float(cosine(np.array([min(half_turns, 1.0) / 2.0]))[0])
    return value * abs(value)


def angle_is_beyond(product, squares, bound):
    """Whether the angle of two vectors is larger than that of the bound, from the product of the vectors and that of their squares. False
    where that is not certain."""
    return squares > SQUARES_MIN and product * abs(product) < bound * squares


def turn_of(x, y):
    """The direction of a vector of two coordinates, from -1 to 1 in half turns; accurate to some 1e-16 everywhere."""
    length = np.sqrt(x * x + y * y)
    if abs(x) > abs(y):  # the arc cosine is inaccurate near its ends
        angle = PI / 2.0 - arccos(y / length)
        if x < 0.0:
            angle = (PI if y >= 0.0 else -PI) - angle
    else:
        angle = arccos(x / length)
        if y < 0.0:
            angle = -angle
    return angle / PI

"""The angle between two vectors, as a share of a half turn."""

import numpy as np

from engine.core.kernels.trigonometry import arccos

PI = 3.141592653589793


def angular(product, left_square, right_square):
    """arccos(cosine) / pi, from 0 to 1. product: inner product of the vectors. *_square: their inner products with themselves.

    NaN where a vector is zero, which has no direction. Source: Siachamis 2024, 2.2.
    """
    return arccos(product / (np.sqrt(left_square) * np.sqrt(right_square))) / PI

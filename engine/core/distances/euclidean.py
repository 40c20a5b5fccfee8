"""The length of the difference between two vectors."""

import numpy as np


def euclidean(difference_square):
    """The square root of the sum of the squares of the coordinates' differences."""
    return np.sqrt(difference_square)

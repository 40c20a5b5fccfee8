"""Key distributions of the document, as pure functions of the record's number."""

from __future__ import annotations

import numpy as np

from engine.core.random import RandomStream
from engine.spec.experiment.skew import AnySkew, HotSkew, NormalSkew, RoundedSkew, UniformSkew, ZipfSkew

from . import draws
from .draws import Integers


def happens(stream: RandomStream, numbers: Integers, probability: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return True with this probability (to 2^-53)."""
    below = int(probability * (1 << draws.UNIT_BITS))  # exact: a power of two only moves the point
    return stream.below(numbers, 1 << draws.UNIT_BITS) < below


def keys(law: AnySkew, count: int, stream: RandomStream, hot: RandomStream, numbers: Integers) -> Integers:
    """Draw keys from 0 to count - 1. hot: a second stream, which decides whether a key is hot."""
    match law:
        case UniformSkew():
            return stream.below(numbers, count)
        case HotSkew(share=share, keys=most):
            bounds = np.where(happens(hot, numbers, share), min(most, count), count)
            return stream.below(numbers, bounds)
        case ZipfSkew(exponent=exponent):
            return draws.zipf(exponent, count).ranks(stream, numbers) - 1
        case NormalSkew():
            middle = count / 2 + (count / 6) * draws.normal(stream, numbers)
            return np.minimum(np.maximum(np.floor(middle + 0.5), 0.0), float(count - 1)).astype(np.int64)
        case RoundedSkew():
            # half steps 0 .. 2 (count - 1) - 1; the first and the last one belong to the ends
            return (stream.below(numbers, max(2 * (count - 1), 1)) + 1) // 2

"""The arc cosine, from + - * / and square roots alone, as `engine.core.mathematics.arccos` of arrays: the same bits on every processor."""

import numpy as np

from engine.core.mathematics import (
    ARC_ABOVE_0,
    ARC_ABOVE_1,
    ARC_ABOVE_2,
    ARC_ABOVE_3,
    ARC_ABOVE_4,
    ARC_ABOVE_5,
    ARC_BELOW_1,
    ARC_BELOW_2,
    ARC_BELOW_3,
    ARC_BELOW_4,
    HALF_PI_HIGH,
    HALF_PI_LOW,
)


def arc_ratio(z):
    """(arcsin(x) - x) / x for z = x x, by a rational function."""
    above = ARC_ABOVE_4 + z * ARC_ABOVE_5
    above = ARC_ABOVE_2 + z * (ARC_ABOVE_3 + z * above)
    above = z * (ARC_ABOVE_0 + z * (ARC_ABOVE_1 + z * above))
    below = 1.0 + z * (ARC_BELOW_1 + z * (ARC_BELOW_2 + z * (ARC_BELOW_3 + z * ARC_BELOW_4)))
    return above / below


def arccos(x):
    """The angle, from 0 to pi, whose cosine is x. Values beyond -1 and 1 count as these; NaN stays NaN."""
    c = max(-1.0, min(x, 1.0))
    result = 0.0
    if x != x:
        result = x
    elif abs(c) < 0.5:
        result = HALF_PI_HIGH - (c - (HALF_PI_LOW - c * arc_ratio(c * c)))
    else:
        z = (1.0 - abs(c)) * 0.5
        s = np.sqrt(z)
        result = 2.0 * (s + s * arc_ratio(z))
        if c < 0.0:
            result = 2.0 * (HALF_PI_HIGH - (s + (s * arc_ratio(z) - HALF_PI_LOW)))
    return result

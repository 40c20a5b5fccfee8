"""Laws of noise: a file of the name of its kind for each, with a function `quantiles`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.family import implementation
from engine.spec.experiment.noises.base import Noise

Floats = NDArray[np.float64]


def quantiles(noise: Noise, share: Floats) -> tuple[Floats, Floats]:
    """The factors with these shares of the law below them, and those with these shares above them. Shapes of `share`."""
    found: tuple[Floats, Floats] = implementation(type(noise), __name__, "quantiles")(noise, share)
    return found

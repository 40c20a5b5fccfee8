"""Noise distributions: one file per kind, named after it, with a function `quantiles`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.spec.base.family import implementation
from engine.spec.experiment.noises.base import Noise

Floats = NDArray[np.float64]


def quantiles(noise: Noise, share: Floats) -> tuple[Floats, Floats]:
    """The quantiles of the factor at these probabilities, counted from below, and counted from above. Shapes of `share`."""
    found: tuple[Floats, Floats] = implementation(type(noise), __name__, "quantiles")(noise, share)
    return found

"""The quantiles of the noise `exponential`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.mathematics import ln
from engine.spec.experiment.noises.exponential import ExponentialNoise

Floats = NDArray[np.float64]


def quantiles(noise: ExponentialNoise, share: Floats) -> tuple[Floats, Floats]:
    return -ln(1.0 - share), -ln(share)

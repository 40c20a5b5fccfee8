"""The quantiles of the noise `lognormal`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.mathematics import exp, ln, normal_quantile
from engine.spec.experiment.noises.lognormal import LognormalNoise

Floats = NDArray[np.float64]


def quantiles(noise: LognormalNoise, share: Floats) -> tuple[Floats, Floats]:
    square = ln(np.array([1.0 + noise.cv * noise.cv]))
    reach = np.sqrt(square) * normal_quantile(share)
    return exp(reach - square / 2), exp(-reach - square / 2)

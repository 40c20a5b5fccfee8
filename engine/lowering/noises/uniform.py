"""The quantiles of the noise `uniform`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.spec.experiment.noises.uniform import UniformNoise

Floats = NDArray[np.float64]


def quantiles(noise: UniformNoise, share: Floats) -> tuple[Floats, Floats]:
    reach = np.sqrt(np.array([3.0])) * noise.cv * (1.0 - 2.0 * share)
    return 1.0 - reach, 1.0 + reach

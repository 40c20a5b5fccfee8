"""Drifts: one file per kind that has steps, named after it, with a function `factors`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.core.random import RandomStream
from engine.spec.base.family import implementation
from engine.spec.experiment.drifts.base import Drift


def factors(drift: Drift, random: RandomStream, steps: int) -> NDArray[np.float64]:
    """The factors of the first steps of a run. random: random stream of the operator. Shape (steps,)."""
    found: NDArray[np.float64] = implementation(type(drift), __name__, "factors")(drift, random, steps)
    return found

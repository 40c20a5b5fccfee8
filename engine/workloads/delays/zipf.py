"""The delays of the law `zipf`."""

from __future__ import annotations

import numpy as np

from engine.core.random import RandomStream
from engine.spec.base.units import milliseconds_ns
from engine.spec.experiment.delays.zipf import ZipfDelay
from engine.spec.rules.flow import Datasets

from .. import draws
from .laws import Delays, Drawn


def delays(law: ZipfDelay, random: RandomStream, datasets: Datasets) -> Delays:
    steps, step_ns = draws.zipf(law.exponent, law.ranks), float(milliseconds_ns(law.step_ms))
    return Drawn(lambda numbers: steps.ranks(random, numbers).astype(np.float64), float(law.ranks), step_ns)

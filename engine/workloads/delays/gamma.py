"""The delays of the law `gamma`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.units import milliseconds_ns
from engine.spec.experiment.delays.gamma import GammaDelay
from engine.spec.rules.flow import Datasets

from .. import draws
from .laws import Delays, Drawn


def delays(law: GammaDelay, random: RandomStream, datasets: Datasets) -> Delays:
    length_ns = milliseconds_ns(law.mean_ms) / law.shape
    return Drawn(lambda numbers: draws.gamma(random, numbers, law.shape), draws.gamma_max(law.shape), length_ns, law.cap_ms)

"""The delays of the law `exponential`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.units import milliseconds_ns
from engine.spec.experiment.delays.exponential import ExponentialDelay
from engine.spec.rules.flow import Datasets

from .. import draws
from .laws import Delays, Drawn


def delays(law: ExponentialDelay, random: RandomStream, datasets: Datasets) -> Delays:
    mean_ns = float(milliseconds_ns(law.mean_ms))
    return Drawn(lambda numbers: draws.exponential(random, numbers), draws.EXPONENTIAL_MAX, mean_ns, law.cap_ms)

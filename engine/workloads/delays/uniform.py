"""The delays of the law `uniform`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.units import milliseconds_ns
from engine.spec.experiment.delays.uniform import UniformDelay
from engine.spec.rules.flow import Datasets

from .laws import Delays, Uniform


def delays(law: UniformDelay, random: RandomStream, datasets: Datasets) -> Delays:
    return Uniform(milliseconds_ns(law.min_ms), milliseconds_ns(law.max_ms), random)

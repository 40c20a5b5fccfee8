"""The delays of the law `lognormal`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.units import milliseconds_ns
from engine.spec.experiment.delays.lognormal import LognormalDelay
from engine.spec.rules.flow import Datasets

from .. import draws
from .laws import Delays, Drawn


def delays(law: LognormalDelay, random: RandomStream, datasets: Datasets) -> Delays:
    median_ns, most = float(milliseconds_ns(law.median_ms)), draws.lognormal_max(law.sigma)
    return Drawn(lambda numbers: draws.lognormal(random, numbers, law.sigma), most, median_ns, law.cap_ms)

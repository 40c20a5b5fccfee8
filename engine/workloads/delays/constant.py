"""The delays of the law `constant`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.units import milliseconds_ns
from engine.spec.experiment.delays.constant import ConstantDelay
from engine.spec.rules.flow import Datasets

from .laws import Constant, Delays


def delays(law: ConstantDelay, random: RandomStream, datasets: Datasets) -> Delays:
    return Constant(milliseconds_ns(law.delay_ms))

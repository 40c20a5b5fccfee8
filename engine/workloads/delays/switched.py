"""The delays of the law `switched`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.problems import refusals_below
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.delays.switched import SwitchedDelay
from engine.spec.rules.flow import Datasets

from .laws import Delays, Switched


def delays(law: SwitchedDelay, random: RandomStream, datasets: Datasets) -> Delays:
    from . import drawn  # it reads this module

    parts = []
    for field in ("before", "after"):
        with refusals_below(field):
            parts.append(drawn(getattr(law, field), random, datasets))
    return Switched(parts[0], seconds_ns(law.at_s), parts[1])

"""The delays of the law `none`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.experiment.delays.none import NoDelay
from engine.spec.rules.flow import Datasets

from .laws import Delays


def delays(law: NoDelay, random: RandomStream, datasets: Datasets) -> Delays | None:
    """No delays."""
    return None

"""The delays of the law `file`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.experiment.delays.file import FileDelay
from engine.spec.rules.flow import Datasets

from ..traces import delay_trace
from .laws import Delays, Traced


def delays(law: FileDelay, random: RandomStream, datasets: Datasets) -> Delays:
    return Traced(delay_trace(law, datasets), random if law.order == "drawn" else None)

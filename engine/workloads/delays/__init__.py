"""Delays of records on their way to the log, by number and time of making. Each law has a file of its name with a function `delays`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.family import implementation
from engine.spec.experiment.delays.base import Delay
from engine.spec.rules.flow import Datasets

from .laws import Delays

__all__ = ["Delays", "delays_of"]


def delays_of(law: Delay, seed: int, operator_id: str, datasets: Datasets, purpose: str = "disorder") -> Delays | None:
    """Return the delays of a source's records; None without delays. Raises Refusal (path below the law) for a file that is not a trace.

    purpose: different words give different draws of the same law.
    """
    random = RandomStream(seed, operator_id, purpose)
    delays = drawn(law, random, datasets)
    return delays if delays is not None and delays.longest_ns else None


def drawn(law: Delay, random: RandomStream, datasets: Datasets) -> Delays | None:
    """The delays of a law with these draws."""
    delays: Delays | None = implementation(type(law), __name__, "delays")(law, random, datasets)
    return delays

"""How long each record is on its way to the log, by its number: a file of the name of its kind for each law, with a function `delays`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.family import implementation
from engine.spec.experiment.delays.base import Delay
from engine.spec.rules.flow import Datasets

from .laws import Delays

__all__ = ["Delays", "delays_of"]


def delays_of(law: Delay, seed: int, operator_id: str, datasets: Datasets, purpose: str = "disorder") -> Delays | None:
    """The delays of a source's records; None if there are none. Raises Refusal (path below the law) for a file that is no trace.

    purpose: other words give other draws of the same law.
    """
    random = RandomStream(seed, operator_id, purpose)
    delays: Delays | None = implementation(type(law), __name__, "delays")(law, random, datasets)
    return delays if delays is not None and delays.longest_ns else None

"""When a fault of a host happens: a file of the name of its kind for each, with a function `next_ns`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.family import implementation
from engine.spec.experiment.occurrences.base import Occurrence


def next_ns(when: Occurrence, random: RandomStream, begun: int, now_ns: int) -> int | None:
    """When the fault begins next; None: never again.

    random: of the fault. begun: how often it has begun. now_ns: when it last ended; 0 before the first time. The answer is later than the
    last end.
    """
    at_ns: int | None = implementation(type(when), __name__, "next_ns")(when, random, begun, now_ns)
    return at_ns

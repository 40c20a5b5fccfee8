"""Times of a host's faults: one file per kind, named after it, with a function `next_ns`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.base.family import implementation
from engine.spec.experiment.occurrences.base import Occurrence


def next_ns(when: Occurrence, random: RandomStream, begun: int, now_ns: int) -> int | None:
    """The time at which the fault next begins, later than its last end; None: never again.

    random: random stream of the fault. begun: number of times it has begun. now_ns: end of the last time, 0 before the first.
    """
    at_ns: int | None = implementation(type(when), __name__, "next_ns")(when, random, begun, now_ns)
    return at_ns

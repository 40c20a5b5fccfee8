"""The time of the occurrence `at`."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.experiment.occurrences.at import At


def next_ns(when: At, random: RandomStream, begun: int, now_ns: int) -> int | None:
    return None if begun else when.begins_ns

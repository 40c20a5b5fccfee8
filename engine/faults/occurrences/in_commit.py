"""The time of the occurrence `in_commit`: the local stores say when it has come (`HostLossControl.strike`)."""

from __future__ import annotations

from engine.core.random import RandomStream
from engine.spec.experiment.occurrences.in_commit import InCommit


def next_ns(when: InCommit, random: RandomStream, begun: int, now_ns: int) -> int | None:
    return None

"""The interface of scheduling policies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np

from engine.core.tables import Words

from .statistics import Statistics

PAUSED = 1 << 62
"""Rank of a task that does not run in this cycle, whatever is idle."""


@dataclass(frozen=True)
class Selection:
    """What a policy decides for the next cycle of a host.

    ranks: by task, the least runs first; PAUSED: not at all. Sources that are not paused run before all ranks. order: the queries that it
    considered, in the order in which they run. why: of each query by its number, values that led to the decision. bins: of expected slack
    that were computed. mode: of the policy, in a word. watched: queries after whose next watermark it selects anew, before the cycle ends.
    """

    ranks: Words
    order: Sequence[int]
    why: dict[int, dict[str, float]] = field(default_factory=dict)
    bins: int = 0
    mode: str = ""
    watched: Sequence[int] = ()


class Judged(NamedTuple):
    """When a sweeping watermark was taken in, and the interval that was predicted for it when its epoch began, in ns."""

    taken_ns: int
    low_ns: float
    high_ns: float


class Policy(Protocol):
    """Decides who runs in the next cycle from statistics alone, one object for each host."""

    def select(self, statistics: Statistics) -> Selection: ...

    def counts(self) -> dict[str, float]:
        """What it counts, to be summed over hosts: hits, misses and width_ns of predicted intervals, memory_ns in the memory mode."""
        ...

    def judged(self) -> dict[int, Judged]:
        """By number of an input of the host, the last watermark that it had predicted."""
        ...

    def state(self) -> Any:
        """Return its whole state, as JSON values."""
        ...

    def restore(self, state: Any) -> None: ...


def ranked(statistics: Statistics, order: Sequence[int]) -> Words:
    """Ranks by task for queries in this order; those left out come last, together."""
    place = np.full(len(statistics.tasks.names), len(order) + 1, np.int64)
    place[np.asarray(order, np.int64)] = np.arange(1, len(order) + 1)
    ranks = place[statistics.tasks.query]
    ranks[statistics.tasks.is_source] = 0
    return ranks


class Unpredicting:
    """Base of policies that predict no watermarks and free no memory."""

    def counts(self) -> dict[str, float]:
        return {}

    def judged(self) -> dict[int, Judged]:
        return {}


class Stateless(Unpredicting):
    """Base of policies without a memory."""

    def state(self) -> Any:
        return None

    def restore(self, state: Any) -> None:
        pass

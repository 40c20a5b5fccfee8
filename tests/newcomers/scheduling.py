"""A scheduler from outside the package, all of it in one file: parameters and policy."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np

from engine.scheduling.policy import Selection, Stateless, ranked
from engine.scheduling.statistics import Statistics
from engine.spec.base.units import Integer, quantity
from engine.spec.experiment.scheduling.base import Scheduling


class LongestQueuePolicy(Stateless):
    """The query with the most waiting items runs first, unless they are fewer than a threshold."""

    def __init__(self, threshold: int):
        self._threshold = threshold

    def select(self, statistics: Statistics) -> Selection:
        waiting = statistics.waiting()
        order = np.argsort(-np.where(waiting >= self._threshold, waiting, 0), kind="stable").tolist()
        return Selection(ranked(statistics, order), order, {q: {"waits": float(count)} for q, count in enumerate(waiting)})


class LongestQueue(Scheduling):
    """The query with the longest queue runs first."""

    title: ClassVar[str] = "Longest queue"
    kind: Literal["longest_queue"] = "longest_queue"
    threshold: Integer = quantity(1, unit="records", ge=1, le=10**9, title="Threshold", description="Shorter queues count as empty.")

    def policy(self) -> LongestQueuePolicy:
        return LongestQueuePolicy(self.threshold)

"""Shortest remaining processing time: the query with the least work that waits runs first (Farhat 2020, chapter 2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .policy import Selection, Stateless, ranked
from .statistics import Statistics


class ShortestFirst(Stateless):
    def __init__(self, about: Any):
        pass

    def select(self, statistics: Statistics) -> Selection:
        waiting = np.where(statistics.open, statistics.queued, 0)
        work_ns = statistics.by_query(waiting * statistics.tail_ns)
        order = np.argsort(np.where(work_ns > 0, work_ns, np.inf), kind="stable").tolist()
        return Selection(ranked(statistics, order), order, {q: {"work_ms": round(float(ns) / 1e6, 3)} for q, ns in enumerate(work_ns)})


policy = ShortestFirst

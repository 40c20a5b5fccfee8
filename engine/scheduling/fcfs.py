"""First come, first served: the query whose oldest item waits longest runs first (Farhat 2020, Figure 1.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .policy import Selection, Stateless
from .statistics import Statistics


class FirstComeFirstServed(Stateless):
    """Which query has the oldest item changes with each item served. Among equal ranks a pool serves what has waited longest, so with equal
    ranks its cores choose anew after each item."""

    def __init__(self, about: Any):
        pass

    def select(self, statistics: Statistics) -> Selection:
        oldest = statistics.oldest_ns()
        order = np.argsort(oldest, kind="stable").tolist()
        why = {q: {"waits_ms": round((statistics.now_ns - ns) / 1e6, 3)} for q, ns in enumerate(oldest.tolist()) if ns < statistics.now_ns}
        return Selection(np.where(statistics.tasks.is_source, 0, 1), order, why)


policy = FirstComeFirstServed

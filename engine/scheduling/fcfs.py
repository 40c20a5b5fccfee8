"""First come, first served: the query whose record came first runs first (Farhat 2020, Figure 1.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .policy import Selection, Stateless
from .statistics import Statistics

UNDER_WAY, WAITS = 1, 2


class FirstComeFirstServed(Stateless):
    """What has been begun is finished first. Of what waits to enter, the record that came first follows: among equal ranks a pool serves
    what has waited longest, so its cores choose anew after each item. With one rank for all, a record would join the end of the line at
    each operator, behind records that came later."""

    def __init__(self, about: Any):
        pass

    def select(self, statistics: Statistics) -> Selection:
        tasks, oldest = statistics.tasks, statistics.oldest_ns()
        ranks = np.full(tasks.count, WAITS)
        ranks[tasks.received[~tasks.is_source[tasks.sent]]] = UNDER_WAY
        ranks[tasks.is_source] = 0
        order = np.argsort(oldest, kind="stable").tolist()
        why = {q: {"waits_ms": round((statistics.now_ns - ns) / 1e6, 3)} for q, ns in enumerate(oldest.tolist()) if ns < statistics.now_ns}
        return Selection(ranks, order, why)


policy = FirstComeFirstServed

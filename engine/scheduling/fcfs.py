"""First come, first served: the query whose oldest item waits longest runs first (Farhat 2020, Figure 1.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .policy import Selection, Stateless, ranked
from .statistics import Statistics


class FirstComeFirstServed(Stateless):
    def __init__(self, about: Any):
        pass

    def select(self, statistics: Statistics) -> Selection:
        oldest = statistics.oldest_ns()
        order = np.argsort(oldest, kind="stable").tolist()
        why = {q: {"waits_ms": round((statistics.now_ns - ns) / 1e6, 3)} for q, ns in enumerate(oldest.tolist()) if ns < statistics.now_ns}
        return Selection(ranked(statistics, order), order, why)


policy = FirstComeFirstServed

"""Round robin: queries with waiting records take turns of one cycle; inside a query, operators downstream run first (Aurora)."""

from __future__ import annotations

from typing import Any

import numpy as np

from .policy import Selection, Unpredicting, ranked
from .statistics import Statistics


class RoundRobin(Unpredicting):
    """Its memory: the query whose turn begins the next cycle."""

    def __init__(self, about: Any):
        self._next = 0

    def select(self, statistics: Statistics) -> Selection:
        tasks, waiting = statistics.tasks, statistics.waiting()
        count = len(tasks.names)
        cyclic = [(self._next + k) % count for k in range(count)]
        order = [q for q in cyclic if waiting[q]] + [q for q in cyclic if not waiting[q]]
        cores = 0
        for q in order:  # those that fill the cores have had their turn
            cores += int(np.count_nonzero((tasks.query == q) & statistics.open & (statistics.queued > 0)))
            if cores >= tasks.cores or not waiting[q]:
                break
        self._next = (q + 1) % count
        depth = int(tasks.level.max(initial=0)) + 1
        ranks = ranked(statistics, order) * depth - tasks.level
        ranks[tasks.is_source] = 0
        return Selection(ranks, order, {q: {"turn": k + 1} for k, q in enumerate(order)})

    def state(self) -> Any:
        return self._next

    def restore(self, state: Any) -> None:
        self._next = state


policy = RoundRobin

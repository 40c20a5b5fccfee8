"""StreamBox: the queries with the closest window deadlines run until they have processed a watermark (Miao 2017; Farhat 2020, 3.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.layout import FAR

from .policy import PAUSED, Selection, Unpredicting
from .statistics import Statistics


class StreamBox(Unpredicting):
    """Holds as many queries as fill the cores, each until the watermark that has passed all of its tasks has risen, though its cores idle
    meanwhile. Then it selects anew at once. Its memory: the queries that it holds, with the watermark at which it began."""

    def __init__(self, about: Any):
        self._held: dict[int, int] = {}

    def select(self, statistics: Statistics) -> Selection:
        tasks = statistics.tasks
        count = len(tasks.names)
        passed = np.full(count, FAR)
        np.minimum.at(passed, tasks.query, np.where(statistics.open, statistics.watermark_ns, FAR))
        deadline = np.full(count, FAR)
        for about, of in zip(tasks.inputs, statistics.inputs, strict=True):
            deadline[of.query] = min(int(deadline[of.query]), about.next_deadline_ns(int(passed[of.query])))
        self._held = {q: began for q, began in self._held.items() if passed[q] <= began and deadline[q] < FAR}
        able = np.where(statistics.open & (statistics.queued > 0), tasks.parallelism, 0)
        cores = np.maximum(statistics.by_query(able), 1)  # a query that waits for its watermark keeps one
        used = sum(cores[q] for q in self._held)
        for q in np.argsort(deadline, kind="stable").tolist():
            if used >= tasks.cores:
                break
            if q not in self._held:
                self._held[q] = int(passed[q])
                used += cores[q]
        order = list(self._held)
        place = np.full(count, PAUSED)
        place[order] = np.arange(1, len(order) + 1)
        ranks = place[tasks.query]
        ranks[tasks.is_source] = 0
        why = {q: {"deadline_ms": round((int(ns) - statistics.now_ns) / 1e6, 3)} for q, ns in enumerate(deadline) if ns < FAR}
        return Selection(ranks, order, why, mode="holds", watched=order)

    def state(self) -> Any:
        return [[q, began] for q, began in self._held.items()]

    def restore(self, state: Any) -> None:
        self._held = dict(state)


policy = StreamBox

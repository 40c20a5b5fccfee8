"""Highest rate: paths that give the most output per CPU time run first (Sharaf 2008; Farhat 2020, 3.5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core.tables import Words

from .policy import Selection, Stateless
from .statistics import Floats, Statistics

EQUAL_WITHIN = 0.05
"""Rates closer than this count as equal: those of identical queries are measured, and never quite the same."""


def rates(statistics: Statistics) -> Floats:
    """By task, records that leave the host per ns of work, if a record waits at the task: S / C over all paths from it."""
    tasks = statistics.tasks
    below = np.bincount(tasks.sent, minlength=tasks.count)
    selectivity = np.where(below > 0, statistics.selectivity, 1.0)
    own = np.where(below > 0, 0.0, selectivity)
    output = statistics.down(own, np.where(below > 0, selectivity, 0.0))
    cost_ns = statistics.down(statistics.cost_ns, np.where(below > 0, selectivity, 0.0))
    return output / np.maximum(cost_ns, 1.0)


def _steps(rate: Floats) -> Words:
    """Groups of equal rates, the highest first: a rate belongs to the next higher one if it is hardly less."""
    order = np.argsort(-rate, kind="stable")
    falls = rate[order][1:] < rate[order][:-1] * (1 - EQUAL_WITHIN)
    steps = np.zeros(len(rate), np.int64)
    steps[order[1:]] = np.cumsum(falls)
    return steps


class HighestRate(Stateless):
    """Among equal rates the query with the oldest item comes first: static ties would starve the others."""

    def __init__(self, about: Any):
        pass

    def select(self, statistics: Statistics) -> Selection:
        tasks, rate = statistics.tasks, rates(statistics)
        step = _steps(rate)
        oldest = statistics.oldest_ns()
        by_task = np.lexsort((np.arange(tasks.count), oldest[tasks.query], step))
        ranks = np.empty(tasks.count, np.int64)
        ranks[by_task] = np.arange(1, tasks.count + 1)
        ranks[tasks.is_source] = 0
        order = list(dict.fromkeys(tasks.query[by_task].tolist()))
        best = np.zeros(len(tasks.names))
        np.maximum.at(best, tasks.query, np.where(statistics.open, rate, 0.0))
        return Selection(ranks, order, {q: {"rate_per_ms": round(float(of) * 1e6, 6)} for q, of in enumerate(best)})


policy = HighestRate

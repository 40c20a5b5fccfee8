"""What frames and the summary of a run say of its scheduler."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.background import background_ns
from engine.core.control.busy_time import accrue
from engine.core.tables import Arrays

from .cycle import Scheduler


class SchedulingWatch:
    """Reads a scheduler, and the world at the same moment."""

    def __init__(self, scheduler: Scheduler):
        self._scheduler = scheduler
        self._hosts = [tasks.host for tasks in scheduler.tasks]

    def frame(self, w: Arrays, to_ns: int) -> dict[str, Any]:
        """The last cycle of each host, and counts since the start of the run. busy_s: by query, the CPU time that its operators have had on
        the host since the start of the run."""
        busy_s = self._busy_s(w, to_ns)
        return {
            "policy": self._scheduler.title,
            "hosts": {
                cycle.host: {
                    "t_s": cycle.t_ms / 1000,
                    "frees_memory": cycle.mode == "memory",
                    "queries": {query: {**row, "busy_s": busy_s[cycle.host][query]} for query, row in cycle.rows.items()},
                    "heard_ms": cycle.heard_ms,
                }
                for cycle in self._scheduler.cycles
            },
            **self.summary(w, to_ns),
        }

    def _busy_s(self, w: Arrays, to_ns: int) -> dict[str, dict[str, float]]:
        """By host and query."""
        busy_ns = w.inst[:, L.I_BUSY].copy()
        accrue(w, to_ns, busy_ns, np.zeros_like(busy_ns), np.zeros_like(busy_ns))
        found = {}
        for tasks in self._scheduler.tasks:
            query = tasks.query[tasks.task_of]
            sums = np.bincount(query, weights=busy_ns[tasks.instances], minlength=len(tasks.names))
            found[tasks.name] = dict(zip(tasks.names, (sums / 1e9).tolist(), strict=True))
        return found

    def summary(self, w: Arrays, now_ns: int) -> dict[str, Any]:
        """Counts since the start of the run. overhead: the scheduler's share of the CPU time spent on its hosts. hit_rate, width_ms: of the
        intervals predicted for watermarks, None without any."""
        counts = self._scheduler.counts()
        spent = int(background_ns(w, now_ns)[self._hosts].sum())
        here = np.isin(w.inst[:, L.I_HOST], self._hosts)
        busy = int(w.inst[here, L.I_BUSY].sum())
        judged = counts.get("hits", 0) + counts.get("misses", 0)
        return {
            "cycles": int(counts["cycles"]),
            "switches": int(counts["switches"]),
            "messages": int(counts["messages"]),
            "message_bytes": int(counts["message_bytes"]),
            "overhead": round(spent / max(spent + busy, 1), 6),
            "hit_rate": round(counts["hits"] / judged, 6) if judged else None,
            "width_ms": round(counts["width_ns"] / judged / 1e6, 6) if judged else None,
            "memory_mode_s": round(counts.get("memory_ns", 0) / 1e9, 6),
        }

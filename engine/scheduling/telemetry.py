"""What frames and the summary of a run say of its scheduler."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.background import background_ns
from engine.core.control.busy_time import accrue
from engine.core.tables import Arrays

from .cycle import Scheduler
from .policy import Judged
from .statistics import history_of
from .tasks import Input, Tasks


class SchedulingWatch:
    """Reads a scheduler, and the world at the same moment."""

    def __init__(self, scheduler: Scheduler):
        self._scheduler = scheduler
        self._hosts = [tasks.host for tasks in scheduler.tasks]

    def frame(self, w: Arrays, to_ns: int) -> dict[str, Any]:
        """The last cycle of each host, and counts since the start of the run. By query: busy_s, the CPU time that its operators have had on
        the host since the start of the run; inputs, the progress of its sources on the host. memory_mode_s: since the start of the run."""
        busy_s = self._busy_s(w, to_ns)
        tasks = {of.name: of for of in self._scheduler.tasks}
        policies = self._scheduler.policies
        inputs = {name: _inputs(w, of, policies[name].judged() if name in policies else {}) for name, of in tasks.items()}
        return {
            "policy": self._scheduler.title,
            "hosts": {
                cycle.host: {
                    "t_s": cycle.t_ms / 1000,
                    "frees_memory": cycle.mode == "memory",
                    "queries": {
                        query: {**row, "busy_s": busy_s[cycle.host][query], "inputs": inputs[cycle.host][query]}
                        for query, row in cycle.rows.items()
                    },
                    "heard_ms": cycle.heard_ms,
                    "memory_budget_bytes": tasks[cycle.host].budget_bytes,
                    "memory_mode_s": round(policies[cycle.host].counts().get("memory_ns", 0) / 1e9, 6),
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


def _inputs(w: Arrays, tasks: Tasks, judged: Mapping[int, Judged]) -> dict[str, dict[str, dict[str, float | None]]]:
    """By query of a host and by instance of its sources there, the progress of watermarks."""
    found: dict[str, dict[str, dict[str, float | None]]] = defaultdict(dict)
    operator = dict(zip(tasks.instances.tolist(), tasks.task_of.tolist(), strict=True))
    for k, about in enumerate(tasks.inputs):
        instance = f"{tasks.ids[operator[about.instance]]}[{w.inst[about.instance, L.I_INDEX]}]"
        found[tasks.names[about.query]][instance] = _progress(w, about, judged.get(k))
    return found


def _progress(w: Arrays, about: Input, judged: Judged | None) -> dict[str, float | None]:
    ended = int(w.progress[about.instance, L.PROGRESS_EPOCHS])
    past = history_of(w, about, ended)
    variance_us2 = max(past.squares_us2 - past.mean_us * past.mean_us, 0.0)
    taken_s, low_s, high_s = (None, None, None) if judged is None else (ns / 1e9 for ns in judged)
    return {
        "epochs": ended,
        "period_ms": round(past.period_ns / 1e6, 6),
        "delay_ms": round(past.mean_us / 1e3, 6) if ended else None,
        "delay_sd_ms": round(math.sqrt(variance_us2) / 1e3, 6) if ended else None,
        "taken_s": taken_s,
        "low_s": low_s,
        "high_s": high_s,
    }

"""Micro-batches over logs, triggered one after the other (Spark's Structured Streaming)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.active_instances import release
from engine.core.control.ranks import look_again
from engine.core.tables import Arrays
from engine.core.world import World
from engine.spec.experiment.engines.spark_structured import SparkStructuredEngine

from .jobs import Job, Jobs, Stage

POLL_NS = 10_000_000
"""Time from one look for new records to the next, where there is nothing to do (`spark.sql.streaming.pollingDelay`)."""

CLOCK_NS = 1_000_000
"""Spark keeps watermarks in whole milliseconds."""

NEVER_NS = -(1 << 61)
"""Before every event time: the watermarks of micro-batches before which no record was read."""


@dataclass(frozen=True)
class Log:
    """source: number of the operator that reads it. lag_ns: how far its watermark is behind the newest record; None: it has none."""

    source: int
    lag_ns: int | None


class MicroBatches(Jobs):
    """Triggers a micro-batch of what the logs have got since the last one, once that is committed, and begins its job when it is planned.

    A micro-batch ends with a tick of its sources, whose watermark is what Spark had after the micro-batch before: the least over the
    sources of the newest event time that they had read, less the lag. Each such watermark is at least 1 ns above the last one, so that all
    tasks hear of it. The last stage is the commit: sinks take the results then.

    stateful: whether a watermark that has risen is a reason for a micro-batch, with or without records.
    """

    def __init__(self, about: SparkStructuredEngine, logs: Sequence[Log], stages: Sequence[Stage], scale: int, stateful: bool):
        super().__init__(about, stages)
        self._logs, self._scale, self._stateful = list(logs), scale, stateful
        self._look_ns, self._closed = max(POLL_NS, about.start_ns), False  # closed: the ends of all logs have been read
        self._last_ns = NEVER_NS  # the watermark of the last micro-batch
        self._ends: list[list[int]] = []  # source instances, and before which time has come what they read in it

    @property
    def _due_ns(self) -> int:
        return self._look_ns

    @property
    def _mark_ns(self) -> int:
        return self._last_ns

    def holds(self, world: World) -> bool:
        return not self._closed

    def _begin(self, world: World) -> None:
        super()._begin(world)
        w = world.arrays
        sources = [i for log in self._logs for i in self._instances(w, [log.source])]
        w.inst[sources, L.I_PERIOD] = L.FAR  # their only ticks are the ends of micro-batches

    def _form(self, world: World, now_ns: int) -> None:
        w = world.arrays
        come = [self._come(w, log.source, now_ns) for log in self._logs]
        mark_ns = self._watermark_ns(w)
        risen = self._stateful and mark_ns // CLOCK_NS > self._last_ns // CLOCK_NS
        waiting = sum(rows for of_log in come for _, rows in of_log)
        if not risen and not waiting:
            self._look_ns = self._trigger_after(now_ns) if self._about.trigger_ns else now_ns + POLL_NS
            return
        self._look_ns = L.FAR
        self._last_ns = max(self._last_ns + 1, mark_ns)
        most = waiting if self._about.records_max is None else max(1, self._about.records_max // self._scale)
        self._ends, records = [], []
        for of_log in come:
            records.append(0)
            for i, rows in of_log:
                end_ns, count = self._part(w, i, rows, rows if waiting <= most else max(1, rows * most // waiting), now_ns)
                self._ends.append([i, end_ns])
                records[-1] += count * self._scale
        self.jobs.append(Job(now_ns, records))
        self._begin_job(w, now_ns)

    def _begin_job(self, w: Arrays, now_ns: int) -> None:
        super()._begin_job(w, now_ns)
        self._task_ns += self._about.plan_ns

    def _begin_stage(self, w: Arrays, now_ns: int) -> None:
        super()._begin_stage(w, now_ns)
        if len(self.jobs[self._done].ends_ns) == len(self._stages) - 1:  # the commit, which is no stage of tasks
            self._task_ns = now_ns + self._about.commit_ns

    def _start(self, world: World, i: int, now_ns: int) -> None:
        release(world, i, now_ns)
        w = world.arrays
        if w.inst[i, L.I_SOURCE]:
            at_ns = next(end_ns for source, end_ns in self._ends if source == i)
            h = w.inst[i, L.I_HOST]
            w.inst[i, [L.I_TICK, L.I_LAG]] = at_ns, at_ns - self._last_ns
            w.host[h, L.H_TICK] = min(int(w.host[h, L.H_TICK]), at_ns)
            look_again(world, [i], now_ns)

    def _has_ended(self, world: World, job: Job, now_ns: int) -> None:
        w = world.arrays
        sources = [i for log in self._logs for i in self._instances(w, [log.source])]
        self._closed = bool((w.inst[sources, L.I_WATERMARK] == L.FAR).all())
        self._look_ns = L.FAR if self._closed else max(now_ns + 1, self._trigger_after(job.batch_ns))

    def _come(self, w: Arrays, source: int, now_ns: int) -> list[tuple[int, int]]:
        """For each instance of a source, how many rows its log has got before this time that it has not read."""
        logs = [(i, w.log[w.inst[i, L.I_LOG] : w.inst[i, L.I_LOG_END], L.D_APPEND]) for i in self._instances(w, [source])]
        return [(i, int(np.searchsorted(append_ns, now_ns))) for i, append_ns in logs]

    def _part(self, w: Arrays, i: int, rows: int, most: int, now_ns: int) -> tuple[int, int]:
        """Before which time what the instance reads has come, and how many records these are. rows: that have come. most: of them."""
        first = int(w.inst[i, L.I_LOG])
        end_ns = now_ns if most >= rows else int(w.log[first + most, L.D_APPEND])
        last = first + int(np.searchsorted(w.log[first : first + rows, L.D_APPEND], end_ns))
        before = 0 if self.jobs else int(w.inst[i, L.I_IN])  # read at 0, before anything could be held
        return end_ns, before + int((w.log[first:last, L.D_TRIGGER] >= 0).sum())

    def _trigger_after(self, now_ns: int) -> int:
        """The next trigger, a multiple of the interval; without one the next nanosecond."""
        interval_ns = self._about.trigger_ns
        return (now_ns // interval_ns + 1) * interval_ns if interval_ns else now_ns + 1

    def _watermark_ns(self, w: Arrays) -> int:
        """What Spark's watermark is after the micro-batches so far, in whole milliseconds; NEVER_NS before the first record."""
        found = []
        for log in self._logs:
            if log.lag_ns is not None:
                newest_ns = int(w.inst[self._instances(w, [log.source]), L.I_NEWEST_EVENT].max())
                found.append((newest_ns - log.lag_ns) // CLOCK_NS * CLOCK_NS if newest_ns > -L.FAR else NEVER_NS)
        return min(found, default=NEVER_NS)

    def state(self) -> Any:
        return {
            "begun": self._begun,
            "look_ns": self._look_ns,
            "closed": self._closed,
            "last_ns": self._last_ns,
            "ends": self._ends,
            "jobs": [vars(job) for job in self.jobs],
            "done": self._done,
            "open": self._open,
            "started": self._started,
            "next_task": self._next_task,
            "task_ns": self._task_ns,
            "news": self._news,
        }

    def restore(self, state: Any) -> None:
        self._begun, self._look_ns = state["begun"], state["look_ns"]
        self._closed, self._last_ns = state["closed"], state["last_ns"]
        self._ends = [[*end] for end in state["ends"]]
        self.jobs, self._done = [Job(**job) for job in state["jobs"]], state["done"]
        self._open, self._started = [*state["open"]], [*state["started"]]
        self._next_task, self._task_ns = state["next_task"], state["task_ns"]
        self._news = [[*news] for news in state["news"]]

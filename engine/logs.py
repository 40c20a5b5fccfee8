"""Fills the sources' logs: exogenous input, made from the document a stretch of virtual time ahead of the loop."""

from __future__ import annotations

import numpy as np

from engine.core import bulk
from engine.core import layout as L
from engine.core.world import Arrays, Words, lines
from engine.plan import Plan

RECORDS_AHEAD = 50_000
"""Few enough to stay in the processor's cache between their making and their service."""


class Logs:
    """Loads the records of all sources up to `until_ns` (exclusive) and keeps those not yet served."""

    def __init__(self, plan: Plan):
        self._plan = plan
        self._horizon_ns = plan.experiment.workload.horizon_ns
        self._close_ns = max((feed.closes_ns for feed in plan.feeds.values()), default=0)
        records = sum(feed.count for feed in plan.feeds.values())
        self._stretch_ns = max(1_000_000, int(self._horizon_ns * RECORDS_AHEAD // max(records, 1)))
        self._columns = {
            operator: np.array([feed.fields.index(name) for name in plan.schemas[f"{operator}.out"].names], np.int64)
            for operator, feed in plan.feeds.items()
        }
        self.until_ns = 0
        self._current: Words | None = None
        self._spare: Words | None = None  # two in turn: the old rows are read while the new ones are written

    @property
    def exhausted(self) -> bool:
        """All that will ever stand in the logs has been loaded."""
        return self.until_ns >= L.FAR

    def offered(self, t_ns: int, w: Arrays) -> int:
        """Real records appended at times <= t_ns, over all sources; w: the world then."""
        count = 0
        for operator, feed in self._plan.feeds.items():
            here = self._instances(operator)
            waits = w.inst[here.start, L.I_SHIFT] >= 0  # then its records are made when they are taken
            count += feed.weight * (int(w.inst[here, L.I_IN].sum()) if waits else feed.count_before(t_ns + 1))
        return count

    def _instances(self, operator: str) -> slice:
        op = self._plan.arrays.op[self._plan.operators.index(operator)]
        return slice(int(op[L.O_FIRST]), int(op[L.O_FIRST] + op[L.O_PARALLEL]))

    def fork(self) -> Logs:
        copy = Logs(self._plan)
        copy.until_ns = self.until_ns
        return copy

    def _buffer(self, rows: int, columns: int) -> Words:
        """Shape (rows, at least so many columns): that of the load before the last, if it is large enough."""
        found = self._spare
        if found is None or len(found) < rows:
            found = lines(max(rows, 2 * RECORDS_AHEAD), columns)
        self._spare, self._current = self._current, found
        return found[:rows]

    def load(self, w: Arrays) -> Arrays:
        """Append the next stretch to the logs; rows already served are dropped."""
        inst = w.inst
        unread = inst[:, L.I_LOG_END] - inst[:, L.I_LOG]
        start = self.until_ns
        end = start + self._stretch_ns * max(1, int(unread.sum()) // RECORDS_AHEAD)  # a long backlog is copied less often
        if end > max(self._horizon_ns, self._close_ns):
            end = L.FAR
        # where the rows of each instance go: those left over, the new ones, the end of the log
        sizes = np.zeros((len(inst), 3), np.int64)
        sizes[:, 0] = unread
        chunks = []
        for operator, feed in self._plan.feeds.items():
            here = self._instances(operator)
            chunk = feed.chunk(start, min(end, max(self._horizon_ns, self._close_ns) + 1))
            sizes[here, 1] = np.bincount(chunk.partition, minlength=here.stop - here.start)
            if operator in self._plan.watermarked and start <= feed.closes_ns < end:
                sizes[here, 2] = 1
            chunks.append((feed, chunk, self._columns[operator], here))
        ends = np.cumsum(sizes.sum(axis=1))
        starts = ends - sizes.sum(axis=1)
        log = self._buffer(max(int(ends[-1]), 1), w.log.shape[1])
        bulk.keep_unread(inst, starts, w.log, log)
        cursor = starts + sizes[:, 0]
        for feed, chunk, columns, here in chunks:
            made = (chunk.append_ns, chunk.event_ns, chunk.trigger, chunk.words)
            bulk.place_records(chunk.partition, cursor[here], *made, columns, log)
            closing = ends[here][sizes[here, 2] == 1] - 1
            log[closing, : L.D_PAYLOAD] = feed.closes_ns, 0, L.LOG_END
        waiting = (sizes[:, 0] == 0) & (sizes[:, 1] > 0) & (inst[:, L.I_SHIFT] > 0)
        log[starts[waiting], L.D_APPEND] += inst[waiting, L.I_SHIFT]
        new = sizes[:, 1] + sizes[:, 2] > 0
        np.minimum.at(w.next_ns, inst[new, L.I_HOST], log[(starts + sizes[:, 0])[new], L.D_APPEND])
        inst[:, L.I_LOG], inst[:, L.I_LOG_END] = starts, ends
        self.until_ns = end
        bulk.await_logs(inst, w.host, w.memory, w.agenda, log)
        return w._replace(log=log)

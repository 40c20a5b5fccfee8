"""Fills the sources' logs: exogenous input, made from the document a stretch of virtual time ahead of the loop."""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.world import Arrays
from engine.plan import Plan

RECORDS_AHEAD = 200_000


class Logs:
    """Loads the records of all sources up to `until_ns` (exclusive) and keeps those not yet served."""

    def __init__(self, plan: Plan):
        self._plan = plan
        self._horizon_ns = plan.experiment.workload.horizon_ns
        self._close_ns = max((feed.closes_ns for feed in plan.feeds.values()), default=0)
        records = sum(feed.count for feed in plan.feeds.values())
        self._stretch_ns = max(1_000_000, int(self._horizon_ns * RECORDS_AHEAD // max(records, 1)))
        self.until_ns = 0

    @property
    def exhausted(self) -> bool:
        """All that will ever stand in the logs has been loaded."""
        return self.until_ns >= L.FAR

    def offered(self, t_ns: int) -> int:
        """Records appended at times <= t_ns, over all sources."""
        return sum(feed.count_before(t_ns + 1) for feed in self._plan.feeds.values())

    def fork(self) -> Logs:
        copy = Logs(self._plan)
        copy.until_ns = self.until_ns
        return copy

    def load(self, w: Arrays) -> Arrays:
        """Append the next stretch to the logs; rows already served are dropped."""
        start, end = self.until_ns, self.until_ns + self._stretch_ns
        if end > max(self._horizon_ns, self._close_ns):
            end = L.FAR
        inst = w.inst
        width = w.log_words.shape[1]
        parts: list[tuple[np.ndarray, ...]] = []
        ranges: dict[int, tuple[int, int]] = {}
        filled = 0
        for operator, feed in self._plan.feeds.items():
            n = self._plan.operators.index(operator)
            first, parallel = int(w.op[n, L.O_FIRST]), int(w.op[n, L.O_PARALLEL])
            chunk = feed.chunk(start, min(end, max(self._horizon_ns, self._close_ns) + 1))
            words = np.zeros((len(chunk), width), np.int64)
            words[:, : chunk.words.shape[1]] = chunk.words
            order = np.argsort(chunk.partition, kind="stable")
            bounds = np.searchsorted(chunk.partition[order], np.arange(parallel + 1))
            closes = operator in self._plan.watermarked and start <= feed.closes_ns < end
            for k in range(parallel):
                i = first + k
                left = slice(int(inst[i, L.I_LOG]), int(inst[i, L.I_LOG_END]))
                mine = order[bounds[k] : bounds[k + 1]]
                log = [
                    np.concatenate([w.log_append[left], chunk.append_ns[mine]]),
                    np.concatenate([w.log_event[left], chunk.event_ns[mine]]),
                    np.concatenate([w.log_trigger[left], chunk.trigger[mine]]),
                    np.concatenate([w.log_words[left], words[mine]]),
                ]
                if closes:
                    log = [np.concatenate([column, row]) for column, row in zip(log, ([feed.closes_ns], [0], [-1], np.zeros((1, width), np.int64)), strict=True)]
                new = len(log[0]) - (left.stop - left.start)
                if new:
                    h = int(inst[i, L.I_HOST])
                    w.next_ns[h] = min(int(w.next_ns[h]), int(log[0][-new]))
                ranges[i] = (filled, filled + len(log[0]))
                filled += len(log[0])
                parts.append(tuple(log))
        for i, (low, high) in ranges.items():
            inst[i, L.I_LOG], inst[i, L.I_LOG_END] = low, high
        columns = [np.ascontiguousarray(np.concatenate(column).astype(np.int64)) for column in zip(*parts, strict=True)]
        if not filled:
            columns = [np.zeros(1, np.int64)] * 3 + [np.zeros((1, width), np.int64)]
        self.until_ns = end
        return w._replace(log_append=columns[0], log_event=columns[1], log_trigger=columns[2], log_words=columns[3])

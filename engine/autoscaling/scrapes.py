"""The metric service: scrapes the gauges of all instances at fixed intervals (docs/autoscaling.md, section 5)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from engine.core import layout as L
from engine.core.control.busy_time import accrue
from engine.core.tables import Arrays, Words
from engine.core.world import World
from engine.spec.base.units import milliseconds_ns, seconds_ns
from engine.spec.experiment.scaling import looped

from .metrics import NAMES, SECOND_NS, Graph, Recording, Series
from .parts import PPM, Part

BUSY, BLOCKED, IN, OUT = range(4)
"""Counters read for each instance: ns and real records, since the start of the run."""

FILL, PENDING = NAMES.index("fill_ppm"), NAMES.index("pending")


class Start(Protocol):
    """A restart of these operators, None for all."""

    @property
    def go_ns(self) -> int: ...

    @property
    def operators(self) -> Collection[str] | None: ...


class _Beginning(NamedTuple):
    """The start of the run."""

    go_ns: int = 0
    operators: Collection[str] | None = None


class RunningJob(Protocol):
    """parallelism: by operator. standing: stopped operators. starts: all restarts."""

    parallelism: dict[str, int]

    @property
    def standing(self) -> Collection[str]: ...

    @property
    def recovering(self) -> bool: ...

    @property
    def starts(self) -> Sequence[Start]: ...


class Scraped(Recording):
    """Readings of a running job: a restart discards all earlier reports of its instances."""

    def __init__(self, graph: Graph, job: RunningJob, keep_ns: int):
        super().__init__(graph, {}, keep_ns)
        self._job = job
        self.begun = -1  # number of the job's restarts handled
        self.notice()

    def notice(self) -> bool:
        """Start new series if the job has restarted. Returns whether it has."""
        starts = self._job.starts
        if self._job.recovering or len(starts) == self.begun:
            return False
        fresh, self.begun = ((_Beginning(),) if self.begun < 0 else ()) + tuple(starts[max(self.begun, 0) :]), len(starts)
        self.running = self.parallelism()
        for operator, p in self.running.items():
            own = [start.go_ns for start in fresh if start.operators is None or operator in start.operators]
            if not own:
                continue
            for index in range(max([p, *(index + 1 for index in self._lines[operator])])):
                self.end(operator, index)
            for index in range(p):
                self.start(operator, index, own[-1])
        return True

    def parallelism(self) -> dict[str, int]:
        return {operator: self._job.parallelism[operator] for operator in self._graph.operators}

    def instances(self, operator: str) -> list[Series]:
        self.notice()
        return super().instances(operator)

    def since_ns(self, operator: str, index: int) -> int | None:
        """Return when the series started; None if there is none."""
        found = self._lines[operator].get(index)
        return None if found is None else found[0]

    def state(self) -> Any:
        return {**super().state(), "begun": self.begun}

    def restore(self, state: Any) -> None:
        super().restore(state)
        self.begun = state["begun"]


class Scrapes:
    """A control that scrapes. While the job is stopped, instances report nothing, but topics do.

    For a vertex of several operators: input of the first and output of the last operator, busy time of the busiest, and blocked time of
    those that send to other vertices.
    """

    def __init__(self, metrics: Scraped, job: RunningJob, parts: Sequence[Part], about: looped.MetricTimes, until_ns: int):
        self.metrics, self._job, self._parts = metrics, job, parts
        self._every_ns, self._meter_ns, self._until_ns = seconds_ns(about.scrape_s), seconds_ns(about.meter_s), until_ns
        self._floor_ns, self._blocked_floor_ns = seconds_ns(about.pending_floor_s), milliseconds_ns(about.blocked_floor_ms)
        self._blocked_first = about.stolen == "blocked_first"
        self._at_ns = 0  # the last scrape
        self._stood: frozenset[str] = frozenset()  # operators stopped at that time
        self._last: list[list[int]] = []  # its readings, by instance
        self._base: list[list[int]] = []  # records in and out before the start of each instance
        self._begun = 0  # number of the job's restarts included in `_base`
        self._outs: list[tuple[int, list[int]]] = []  # output records over the last `meter_s`, oldest first
        self._counts: dict[str, int] = {}  # records of each topic

    @property
    def next_ns(self) -> int:
        due_ns = self._at_ns + self._every_ns
        return due_ns if due_ns <= self._until_ns else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        w = world.arrays
        now = read(w, now_ns).tolist()
        if not self._last:
            self._last, self._base = [[0] * len(w.inst) for _ in now], [[0] * len(w.inst) for _ in (IN, OUT)]
        self.metrics.notice()
        if self._begun != self.metrics.begun:
            for part in self._parts:
                if any(start.operators is None or part.name in start.operators for start in self._job.starts[self._begun :]):
                    self._rebase(w, part)
            self._begun = self.metrics.begun
        counts = {part.name: sum(world.logs.appended(w, id, now_ns) for id, _ in part.sources) for part in self._parts if part.sources}
        stand = frozenset(self._job.standing)
        rows = self._rows(w, now, now_ns, counts, stand)
        self.metrics.scrape(now_ns, rows, counts)
        self._at_ns, self._stood, self._last, self._counts = now_ns, stand, now, counts
        self._outs.append((now_ns, now[OUT]))
        del self._outs[: max(0, bisect_right([at_ns for at_ns, _ in self._outs], now_ns + self._every_ns - self._meter_ns) - 1)]

    def _rebase(self, w: Arrays, part: Part) -> None:
        """Reset the vertex's counters to 0."""
        for o in part.operators:
            own = slice(w.op.item(o, L.O_FIRST), w.op.item(o, L.O_FIRST) + w.op.item(o, L.O_STRIDE))
            for base, what in zip(self._base, (IN, OUT), strict=True):
                base[own] = self._last[what][own]

    def _rows(
        self, w: Arrays, now: list[list[int]], now_ns: int, counts: Mapping[str, int], stand: Collection[str]
    ) -> dict[tuple[str, int], list[int]]:
        """Return the rows of a scrape. stand: stopped operators."""
        rows = {}
        for part in self._parts:
            if part.name in stand:
                continue
            p = self._job.parallelism[part.name]
            pending, fills = self._pending(w, part, p, now_ns, counts), _fills_ppm(w, part, p)
            for index in range(p):
                since_ns = self.metrics.since_ns(part.name, index)
                here = {o: w.op.item(o, L.O_FIRST) + index for o in part.operators}
                if since_ns is None or now_ns <= max(since_ns, self._at_ns):
                    continue
                if since_ns > self._at_ns and part.name not in self._stood:
                    continue  # it stopped and restarted since: its increase is not of this run of it alone
                if any(w.inst.item(i, L.I_STATUS) == L.DOWN for i in here.values()):
                    self.metrics.end(part.name, index)
                    continue
                is_full = any(w.inst.item(here[o], L.I_STATUS) == L.BLOCKED for o in part.left)
                row = self._row(w, part, here, now, now_ns, now_ns - max(since_ns, self._at_ns), is_full)
                rows[part.name, index] = [row.get(name, 0) for name in NAMES]
                rows[part.name, index][FILL], rows[part.name, index][PENDING] = fills[index], pending[index]
        return rows

    def _row(
        self, w: Arrays, part: Part, here: Mapping[int, int], now: list[list[int]], now_ns: int, span_ns: int, is_full: bool
    ) -> dict[str, int]:
        """Return an instance's metrics (`metrics.NAMES`) except those of buffers and topics. here: instance by operator.

        In the model, what other threads of the pod take makes services longer. In a real pod they also run while the instance waits for
        buffers, at no loss to it: that much of their time is reported as blocked, and the rest as idle. With `stolen: idle`, all of it is.
        """
        gained = {o: [now[what][i] - self._last[what][i] for what in (BUSY, BLOCKED, IN, OUT)] for o, i in here.items()}
        busy = {o: min(each[BUSY], span_ns) * SECOND_NS // span_ns for o, each in gained.items()}
        most = max(busy.values())
        blocked = min(max(gained[o][BLOCKED] for o in part.left) * SECOND_NS // span_ns, SECOND_NS - most)
        stolen = max(share * (L.WHOLE - w.op.item(o, L.O_ATTAINABLE)) // w.op.item(o, L.O_ATTAINABLE) for o, share in busy.items())
        waiting = min(blocked + (min(blocked, stolen) if self._blocked_first else 0), SECOND_NS - most)
        lately = sum(now[OUT][here[o]] - max(self._base[1][here[o]], self._earlier(here[o], now_ns)) for o in part.left)
        loads = [
            base + share * busy[o] // SECOND_NS + per_million * (gained[o][IN] + gained[o][OUT]) * SECOND_NS // (span_ns * PPM)
            for o, (base, share, per_million) in zip(part.operators, part.cpu, strict=True)
        ]
        return {
            "busy_ns": most,
            "idle_ns": SECOND_NS - most - waiting,
            "blocked_ns": waiting,
            "blocked": int(is_full and blocked >= self._blocked_floor_ns),
            "records_in": sum(now[IN][here[o]] - self._base[0][here[o]] for o in part.entered),
            "records_out": sum(now[OUT][here[o]] - self._base[1][here[o]] for o in part.left),
            "out_micro_per_s": lately * PPM * SECOND_NS // self._meter_ns,
            "cpu_ppm": min(PPM, max(loads)),
        }

    def _earlier(self, i: int, now_ns: int) -> int:
        """Return an instance's output at the start of the meter's span."""
        began_ns = now_ns - self._meter_ns
        return next((outs[i] for at_ns, outs in reversed(self._outs) if at_ns <= began_ns), 0)

    def _pending(self, w: Arrays, part: Part, p: int, now_ns: int, counts: Mapping[str, int]) -> list[int]:
        """Return the unread records in the topics of the instances, by index."""
        found = [0] * p
        for _, o in part.sources:
            weight, first = w.op.item(o, L.O_WEIGHT), w.op.item(o, L.O_FIRST)
            for index in range(p):
                found[index] += weight * unread(w, first + index, now_ns)
        if part.sources:
            came = counts[part.name] - self._counts.get(part.name, 0)
            if sum(found) * (now_ns - self._at_ns) < came * self._floor_ns:
                return [0] * p
        return found

    # State

    def state(self) -> Any:
        return {
            "metrics": self.metrics.state(),
            "at_ns": self._at_ns,
            "stood": sorted(self._stood),
            "last": [list(each) for each in self._last],
            "base": [list(each) for each in self._base],
            "begun": self._begun,
            "outs": [[at_ns, list(outs)] for at_ns, outs in self._outs],
            "counts": dict(self._counts),
        }

    def restore(self, state: Any) -> None:
        self.metrics.restore(state["metrics"])
        self._at_ns, self._stood, self._begun, self._counts = (
            state["at_ns"],
            frozenset(state["stood"]),
            state["begun"],
            dict(state["counts"]),
        )
        self._last, self._base = [list(each) for each in state["last"]], [list(each) for each in state["base"]]
        self._outs = [(at_ns, list(outs)) for at_ns, outs in state["outs"]]


def read(w: Arrays, now_ns: int) -> Words:
    """Return (4, instances): BUSY, BLOCKED, IN, OUT, up to a time."""
    inst, op = w.inst, w.op[w.inst[:, L.I_OP]]
    found = np.stack(
        [inst[:, L.I_BUSY], inst[:, L.I_BLOCKED], inst[:, L.I_IN] * op[:, L.O_WEIGHT], inst[:, L.I_EMITTED] * op[:, L.O_WEIGHT_OUT]]
    )
    accrue(w, now_ns, found[BUSY], found[BLOCKED], np.zeros(len(inst), np.int64))
    return found


def unread(w: Arrays, i: int, now_ns: int) -> int:
    """Return the simulated records in an instance's log that were appended by now_ns and have not been read."""
    first, end = w.inst.item(i, L.I_LOG), w.inst.item(i, L.I_LOG_END)
    if w.inst.item(i, L.I_SHIFT) >= 0:
        return 0  # its records are generated when they are read
    count = int(np.searchsorted(w.log[first:end, L.D_APPEND], now_ns, side="right"))
    return int(np.count_nonzero(w.log[first : first + count, L.D_TRIGGER] >= 0))


def _fills_ppm(w: Arrays, part: Part, p: int) -> list[int]:
    """Return the fill of the input buffers of a vertex's instances, by index; unbounded buffers are never full."""
    held, room = np.zeros(p, np.int64), 0
    for e in part.edges:
        bound, first = w.edge.item(e, L.E_BOUND), w.edge.item(e, L.E_CHANNEL)
        if bound:
            senders, stride = w.op.item(w.edge.item(e, L.E_SOURCE), L.O_PARALLEL), w.op.item(w.edge.item(e, L.E_TARGET), L.O_STRIDE)
            channels = slice(first, first + senders * stride)
            sent = w.carried[channels, L.SEQ_SENT] - w.chan[channels, L.C_CONSUMED]
            held += sent.reshape(senders, stride)[:, :p].sum(axis=0)
            room += bound * senders
    fills: list[int] = (held * PPM // max(room, 1)).tolist()
    return fills

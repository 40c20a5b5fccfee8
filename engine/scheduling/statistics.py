"""The statistics service: all that a scheduling policy may read (Farhat 2020, 3.1 to 3.3; docs/scheduling.md).

Everything is measured on the host itself: costs, selectivities, queues, memory, and the epochs of its sources. Nothing is taken from the
document but how tasks are connected and where windows end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.tables import Arrays, Words

from .tasks import Input, Tasks

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

SMOOTHING = 0.1
"""Weight of the newest measurement of a cost or selectivity (calibrated; the source says only that they are smoothed)."""

SERVED_MIN = 100
"""Records after which a task that has emitted nothing counts as one that keeps everything back."""

COUNTERS = (L.I_IN, L.I_EMITTED, L.I_BUSY, L.I_CONTROL_NS)


class History(NamedTuple):
    """What follows from the kept epochs of an input (Farhat 2020, Algorithm 2).

    made_ns, taken_ns: when the last sweeping watermark was made and taken in, -1 before the first; swept_ns: its value. period_ns: mean
    time between two of them, by when they were made. mean_us, squares_us2: means over the epochs of the delays' mean and mean square.
    mean_variance_us2: variance of the mean of these epochs. last_mean_us: mean delay of the last epoch.
    """

    made_ns: int
    taken_ns: int
    period_ns: int
    mean_us: float
    squares_us2: float
    mean_variance_us2: float
    swept_ns: int = -L.FAR
    last_mean_us: float = 0.0


@dataclass(frozen=True)
class InputStatistics:
    """Progress of one source instance, on this host or, as far as this host has heard of it, on another one.

    query: number. epochs: ended so far. watermark_ns: the last one taken in. history: of the kept epochs. first_us, first_sd_us: mean and
    standard deviation of the delays so far, while no epoch has ended. deadline_ns: the next one that no watermark taken in has reached.
    behind_ns: how long the next entry of its log has been waiting there, 0 if none waits. oldest_ns: when the oldest sweeping watermark was
    taken in that has not passed all of the input's tasks here, -1 if there is none; oldest_watermark_ns: its value. lag_ns: how far
    watermarks lie behind their making. measured_ns: when another host measured this; None: it is of this host, and of now.
    """

    query: int
    epochs: int
    watermark_ns: int
    history: History
    first_us: float
    first_sd_us: float
    deadline_ns: int
    behind_ns: int
    oldest_ns: int
    oldest_watermark_ns: int
    lag_ns: int
    measured_ns: int | None = None


@dataclass(frozen=True)
class Statistics:
    """What a policy sees of a host at the beginning of a cycle.

    By task: cost_ns of a record, selectivity (records emitted per record served, firings included), queued (items), queued_bytes, head_ns
    (since when its oldest item waits, FAR if none does), watermark_ns (the least of its instances), fired (records that a firing emits)
    and firing_ns (its cost). used_bytes: memory of the host. elsewhere_ns: by query, what waits downstream on other hosts takes so long, as
    far as this host has heard of it.
    """

    now_ns: int
    cycle_ns: int
    tasks: Tasks
    cost_ns: Floats
    selectivity: Floats
    queued: Words
    queued_bytes: Words
    head_ns: Words
    watermark_ns: Words
    fired: Floats
    firing_ns: Floats
    used_bytes: int
    inputs: Sequence[InputStatistics]
    elsewhere_ns: Floats

    @property
    def open(self) -> Bools:
        """Tasks that the scheduler orders: all but sources, whose intake is a thread of its own."""
        return ~self.tasks.is_source

    def by_query(self, values: Floats | Words) -> Floats:
        """Sum by query of values by task."""
        sums: Floats = np.bincount(self.tasks.query, weights=values, minlength=len(self.tasks.names)).astype(np.float64)
        return sums

    def waiting(self) -> Words:
        """Items that wait at the tasks of each query, sources left out."""
        return self.by_query(np.where(self.open, self.queued, 0)).astype(np.int64)

    def oldest_ns(self) -> Words:
        """Since when the oldest item of each query waits, sources left out; FAR if nothing does."""
        oldest = np.full(len(self.tasks.names), L.FAR)
        np.minimum.at(oldest, self.tasks.query, np.where(self.open, self.head_ns, L.FAR))
        return oldest

    def down(self, own: Floats, ratio: Floats) -> Floats:
        """By task, its own value plus `ratio` times the sum over the tasks that it sends to."""
        found, level = own.copy(), self.tasks.level
        sent, received = self.tasks.sent, self.tasks.received
        for step in range(int(level.max(initial=0)) - 1, -1, -1):
            chosen = level[sent] == step
            below = np.bincount(sent[chosen], weights=found[received[chosen]], minlength=len(found))
            here = level == step
            found[here] = own[here] + ratio[here] * below[here]
        return found

    def arriving(self, own: Floats, ratio: Floats) -> Floats:
        """By task, its own value plus the sum of `ratio` times the value, over the tasks that send to it."""
        found, level = own.copy(), self.tasks.level
        sent, received = self.tasks.sent, self.tasks.received
        for step in range(1, int(level.max(initial=0)) + 1):
            chosen = level[received] == step
            found += np.bincount(received[chosen], weights=(ratio * found)[sent[chosen]], minlength=len(found))
        return found

    @property
    def streaming(self) -> Floats:
        """Selectivity for records while no window ends: windows keep them (Farhat 2020, 3.4)."""
        return np.where(self.tasks.fires, 0.0, self.selectivity)

    @property
    def tail_ns(self) -> Floats:
        """By task, the CPU time that one record takes from here to its end on this host."""
        return self.down(self.cost_ns, self.streaming)


class Service:
    """Measures one host, cycle by cycle. Its memory are the counters at the last cycle and the smoothed values."""

    def __init__(self, tasks: Tasks):
        self.tasks = tasks
        self._before = np.zeros((len(COUNTERS), tasks.count), np.int64)
        self._cost = np.full(tasks.count, np.nan)
        self._served = np.full(tasks.count, np.nan)
        self._emitted = np.full(tasks.count, np.nan)
        self._fired = np.full(tasks.count, np.nan)
        self._firing = np.full(tasks.count, np.nan)
        self._of_inputs: dict[int, tuple[int, History]] = {}  # by instance: epochs ended, and what follows from them

    def collect(self, w: Arrays, now_ns: int, cycle_ns: int) -> Statistics:
        tasks = self.tasks
        inst, here = w.inst[tasks.instances], tasks.task_of
        counters = np.zeros_like(self._before)
        for row, column in zip(counters, COUNTERS, strict=True):
            np.add.at(row, here, inst[:, column])
        served, emitted, busy, control = counters - self._before
        restarted = (counters < self._before).any(axis=0)
        self._before = counters
        fresh = (served > 0) & ~restarted
        some = np.maximum(served, 1)
        _smooth(self._cost, (busy - control) / some, fresh)
        _smooth(self._served, served.astype(np.float64), fresh)
        _smooth(self._emitted, emitted.astype(np.float64), fresh)
        ended = tasks.fires & (emitted > 0) & ~restarted
        _smooth(self._fired, emitted.astype(np.float64), ended)
        _smooth(self._firing, control.astype(np.float64), ended)
        known = np.isfinite(self._cost)
        typical = float(np.bincount(np.zeros(int(known.sum()), np.int64), weights=self._cost[known], minlength=1)[0]) / max(known.sum(), 1)
        head = np.full(tasks.count, L.FAR)
        waiting = inst[:, L.I_QUEUE] >= 0
        np.minimum.at(head, here[waiting], w.msg[inst[waiting, L.I_QUEUE], L.M_READY])
        watermark = np.full(tasks.count, L.FAR)
        np.minimum.at(watermark, here, inst[:, L.I_WATERMARK])
        return Statistics(
            now_ns,
            cycle_ns,
            tasks,
            np.where(known, self._cost, typical),
            self._selectivity(counters[0], counters[1]),
            _sums(tasks, inst[:, L.I_QUEUE_COUNT]),
            _sums(tasks, inst[:, L.I_QUEUE_BYTES]),
            head,
            watermark,
            np.where(np.isfinite(self._fired), self._fired, 0.0),
            np.where(np.isfinite(self._firing), self._firing, 0.0),
            int(w.memory[tasks.host, L.Z_USED]),
            [self._input(w, about, now_ns) for about in tasks.inputs],
            np.zeros(len(tasks.names)),
        )

    def _selectivity(self, served: Words, emitted: Words) -> Floats:
        """Of recent records; of windows, which give now and then, of all. 1 until something is known: a task that seems to give nothing
        might never run again. served, emitted: since the start of the run, by task."""
        recent = self._emitted / np.where(self._served > 0, self._served, 1.0)
        known = (emitted > 0) | (served >= SERVED_MIN) & ~self.tasks.fires
        measured = np.where(self.tasks.fires, emitted / np.maximum(served, 1), recent)
        found: Floats = np.where(known & np.isfinite(measured), measured, 1.0)
        return found

    def _input(self, w: Arrays, about: Input, now_ns: int) -> InputStatistics:
        i = about.instance
        watermark = int(w.inst[i, L.I_WATERMARK])
        ended = int(w.progress[i, L.PROGRESS_EPOCHS])
        known = self._of_inputs.get(i)
        if known is None or known[0] != ended:
            known = self._of_inputs[i] = ended, history_of(w, about, ended)
        passed = int(w.chan[about.channels, L.C_WATERMARK].min(initial=L.FAR))
        oldest, value = _oldest_unserved(w, i, ended, passed)
        first, first_sd = _delays_so_far(w, i) if ended == 0 else (0.0, 0.0)
        return InputStatistics(
            query=about.query,
            epochs=ended,
            watermark_ns=watermark,
            history=known[1],
            first_us=first,
            first_sd_us=first_sd,
            deadline_ns=about.next_deadline_ns(watermark),
            behind_ns=_behind_ns(w, i, now_ns),
            oldest_ns=oldest,
            oldest_watermark_ns=value,
            lag_ns=about.lag_ns,
        )

    def state(self) -> Any:
        values = {"cost": self._cost, "served": self._served, "emitted": self._emitted, "fired": self._fired, "firing": self._firing}
        measured = {name: [None if math.isnan(value) else value for value in of.tolist()] for name, of in values.items()}
        return {"before": self._before.tolist(), **measured}

    def restore(self, state: Any) -> None:
        self._before = np.array(state["before"], np.int64).reshape(len(COUNTERS), -1)
        self._cost, self._served, self._emitted, self._fired, self._firing = (
            np.array([np.nan if value is None else value for value in state[name]])
            for name in ("cost", "served", "emitted", "fired", "firing")
        )
        self._of_inputs = {}


def _sums(tasks: Tasks, values: Words) -> Words:
    found = np.zeros(tasks.count, np.int64)
    np.add.at(found, tasks.task_of, values)
    return found


def _smooth(smoothed: Floats, measured: Floats, fresh: Bools) -> None:
    first = fresh & np.isnan(smoothed)
    later = fresh & ~first
    smoothed[first] = measured[first]
    smoothed[later] += SMOOTHING * (measured[later] - smoothed[later])


def _rows(w: Arrays, i: int, ended: int) -> Words:
    """The epochs of a source instance that are kept, the oldest first."""
    kept = int(w.g[L.G_EPOCHS])
    first = int(w.progress[i, L.PROGRESS_FIRST])
    rows: Words = w.epochs[first + np.arange(max(0, ended - kept), ended) % kept]
    return rows


def history_of(w: Arrays, about: Input, ended: int) -> History:
    """What follows from the kept epochs. ended: how many epochs have ended since the start of the run."""
    if ended == 0:
        return History(-1, -1, about.period_ns, 0.0, 0.0, 0.0)
    rows = _rows(w, about.instance, ended).tolist()
    means = [total / count for count, total, *_ in rows]
    squares = [(low + high * L.SQUARES) / count for count, _, low, high, *_ in rows]
    made = [row[L.EPOCH_MADE] for row in rows]
    period = (made[-1] - made[0]) // (len(made) - 1) if len(made) > 1 else about.period_ns
    variances = math.fsum(square - mean * mean for mean, square in zip(means, squares, strict=True))
    n = len(rows)
    taken, swept = rows[-1][L.EPOCH_TAKEN], rows[-1][L.EPOCH_WATERMARK]
    return History(made[-1], taken, period, math.fsum(means) / n, math.fsum(squares) / n, variances / (n * n), swept, means[-1])


def _behind_ns(w: Arrays, i: int, now_ns: int) -> int:
    row = int(w.inst[i, L.I_LOG])
    return max(0, now_ns - int(w.log[row, L.D_APPEND])) if row < w.inst[i, L.I_LOG_END] else 0


def _delays_so_far(w: Arrays, i: int) -> tuple[float, float]:
    """Mean and standard deviation of the delays of the first epoch, in us."""
    count, total, low, high = w.progress[i, : L.PROGRESS_EPOCHS].tolist()
    if count == 0:
        return 0.0, 0.0
    mean = total / count
    return mean, math.sqrt(max((low + high * L.SQUARES) / count - mean * mean, 0.0))


def _oldest_unserved(w: Arrays, i: int, ended: int, passed: int) -> tuple[int, int]:
    """When the first sweeping watermark beyond `passed` was taken in, and its value; (-1, 0) if there is none."""
    kept, first = int(w.g[L.G_EPOCHS]), int(w.progress[i, L.PROGRESS_FIRST])
    found = -1, 0
    for n in range(ended - 1, max(-1, ended - 1 - kept), -1):
        row = w.epochs[first + n % kept]
        if row[L.EPOCH_WATERMARK] <= passed:
            break
        found = int(row[L.EPOCH_TAKEN]), int(row[L.EPOCH_WATERMARK])
    return found

"""The online monitor of a run: reads counters, plans, and orders moves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from engine.autoscaling.loop import Decision
from engine.autoscaling.metrics import SECOND_NS
from engine.autoscaling.scrapes import BUSY, OUT, read
from engine.core import layout as L
from engine.core.layout import FAR
from engine.core.tables import Arrays
from engine.core.world import World
from engine.placement.space import cpu_percent
from engine.spec import Experiment
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.scaling.online_monitor import OnlineMonitor

from .plans import Readings, Verdict, judged, planned


class Job(Protocol):
    """The job manager. begins: number of its host, by operator. open: the move in progress, or None. starts: all restarts."""

    begins: dict[str, int]

    @property
    def open(self) -> Any: ...

    @property
    def starts(self) -> Sequence[Any]: ...

    def order(self, parallelism: Mapping[str, int], now_ns: int, who: str, begins: Mapping[str, int] = ...) -> None: ...


class MonitorLoop:
    """A control that samples counters at fixed intervals and looks at them once a period.

    The first window begins once `start_s` has passed and throughput is steady. A move discards all samples, so that the next look comes
    when a whole window has been measured again.
    """

    def __init__(self, experiment: Experiment, about: OnlineMonitor, job: Job):
        query, hosts = experiment.query, experiment.expanded_hosts()
        self._job, self._about = job, about
        self._names = [host.name for host in hosts]
        self._speeds = [host.speed_milli / 1000 for host in hosts]
        self._capacity = [about.capacity * cpu_percent(host) / 100 for host in hosts]
        self._operators = [spec.id for spec in query.operators]
        self._sends = [(edge.source, edge.target) for edge in query.edges]
        self._every_ns, self._window_ns = seconds_ns(about.every_s), seconds_ns(about.window_s)
        self._sample_ns, self._start_ns = seconds_ns(about.sample_s), seconds_ns(about.start_s)
        self._until_ns = experiment.workload.horizon_ns
        self._next_ns = self._sample_ns
        self._look_ns = 0
        self._steady = False
        self._starts = 0
        # time; by operator, busy time in ns and records sent; by edge, records sent
        self._samples: list[list[list[int]]] = [[[0], *([0] * len(of) for of in (self._operators, self._operators, query.edges))]]
        self.quiet_until_ns = 0
        self.decisions: list[Decision] = []

    @property
    def next_ns(self) -> int:
        return self._next_ns if self._next_ns < self._until_ns else FAR

    def act(self, world: World, now_ns: int) -> None:
        self._next_ns = now_ns + self._sample_ns
        if self._job.open is not None or len(self._job.starts) != self._starts:
            self._samples, self._starts = [], len(self._job.starts)
            if self._job.open is not None:
                return
        self._sample(world, now_ns)
        if not self._steady:
            self._steady = now_ns >= self._start_ns and self._is_steady()
            if self._steady:
                del self._samples[:-1]  # the first window begins here
            return
        if now_ns < self._look_ns or now_ns - self._samples[0][0][0] < self._window_ns:
            return
        self._look_ns = now_ns + self._every_ns
        self._look(now_ns)

    def _sample(self, world: World, now_ns: int) -> None:
        w = world.arrays
        now = read(w, now_ns)
        by_operator = [np.add.reduceat(now[what], w.op[:, L.O_FIRST]).tolist() for what in (BUSY, OUT)]
        self._samples.append([[now_ns], *by_operator, sent_by_edge(w)])
        while len(self._samples) > SAMPLES_MIN and now_ns - self._samples[1][0][0] >= self._window_ns:
            del self._samples[0]

    def _is_steady(self) -> bool:
        """Whether throughput, of all operators together, is about the same in the last two samples."""
        if len(self._samples) < SAMPLES_MIN:
            return False
        sent = [sum(sample[OUT_OF]) for sample in self._samples[-SAMPLES_MIN:]]
        earlier, later = sent[1] - sent[0], sent[2] - sent[1]
        return abs(later - earlier) <= self._about.steady * max(earlier, 1)

    def _look(self, now_ns: int) -> None:
        readings, now = self._readings(), self._job.begins
        plan = planned(readings, self._capacity)
        verdict = judged(readings, self._capacity, now, plan, self._about.improvement)
        moves = {id: host for id, host in plan.items() if host != now[id]}
        decision = Decision(now_ns / SECOND_NS, "order" if verdict.worth else "keep", why=self._told(moves, verdict))
        decision.read = [
            {"operator": id, "p": 1, "cores": round(cores, 6), "host": self._names[now[id]]} for id, cores in readings.cores.items()
        ]
        decision.values = [[f"to {receiver}", sender, rate] for (sender, receiver), rate in readings.per_s.items()]
        self.decisions.append(decision)
        if verdict.worth:
            self._job.order({}, now_ns, "policy", moves)

    def _told(self, moves: Mapping[str, int], verdict: Verdict) -> str:
        if not verdict.worth:
            return verdict.why
        return f"moves {', '.join(f'{id} to {self._names[host]}' for id, host in moves.items())}: {verdict.why}"

    def _readings(self) -> Readings:
        """Over the last window. Busy time is what threads were given, so a measured load never exceeds a host's capacity."""
        last = self._samples[-1]
        first = next(sample for sample in reversed(self._samples) if last[0][0] - sample[0][0] >= self._window_ns)
        span_ns = last[0][0] - first[0][0]
        busy = {id: (last[BUSY_OF][n] - first[BUSY_OF][n]) / span_ns for n, id in enumerate(self._operators)}
        cores = {id: busy[id] * self._speeds[host] for id, host in self._job.begins.items()}
        per_s = dict.fromkeys(self._sends, 0.0)
        for n, pair in enumerate(self._sends):
            per_s[pair] += (last[BY_EDGE][n] - first[BY_EDGE][n]) * SECOND_NS / span_ns
        return Readings(cores, per_s)

    # State

    def state(self) -> Any:
        times = [self._next_ns, self._look_ns, self._starts]
        return {"times": times, "steady": self._steady, "samples": self._samples, "decisions": [asdict(each) for each in self.decisions]}

    def restore(self, state: Any) -> None:
        self._next_ns, self._look_ns, self._starts = state["times"]
        self._steady, self._samples = state["steady"], [[list(part) for part in sample] for sample in state["samples"]]
        self.decisions = [Decision(**decision) for decision in state["decisions"]]


BUSY_OF, OUT_OF, BY_EDGE = 1, 2, 3
"""Parts of a sample."""


def sent_by_edge(w: Arrays) -> list[int]:
    """Real records that were sent on each edge, on the channels of all instances."""
    of_record = w.op[w.edge[:, L.E_SOURCE], L.O_WEIGHT_OUT]
    found: list[int] = (np.bincount(w.chan[:, L.C_EDGE], w.carried[:, L.SEQ_SENT], len(w.edge)).astype(np.int64) * of_record).tolist()
    return found


SAMPLES_MIN = 3
"""Between them lie the two spans whose throughput is compared."""

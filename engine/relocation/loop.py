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
from engine.core.world import World
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

    The first look waits until `start_s` has passed and throughput is steady. A move discards all samples, so that the next look comes when
    a whole window has been measured again.
    """

    def __init__(self, experiment: Experiment, about: OnlineMonitor, job: Job):
        query, hosts = experiment.query, experiment.expanded_hosts()
        self._job, self._about = job, about
        self._names = [host.name for host in hosts]
        self._speeds = [host.speed_milli / 1000 for host in hosts]
        cores = [getattr(host.processor, "quota_cores", None) or host.cores_milli / 1000 for host in hosts]
        self._capacity = [about.capacity * of_host * speed for of_host, speed in zip(cores, self._speeds, strict=True)]
        self._operators = [spec.id for spec in query.operators]
        self._sends = list(dict.fromkeys((edge.source, edge.target) for edge in query.edges))
        self._every_ns, self._window_ns = seconds_ns(about.every_s), seconds_ns(about.window_s)
        self._sample_ns, self._start_ns = seconds_ns(about.sample_s), seconds_ns(about.start_s)
        self._until_ns = experiment.workload.horizon_ns
        self._next_ns = self._sample_ns
        self._look_ns = self._start_ns
        self._steady = False
        self._starts = 0
        self._samples: list[list[list[int]]] = []  # time, and by operator: busy time in ns, records sent
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
        if now_ns < self._look_ns or now_ns - self._samples[0][0][0] < self._window_ns or not self._is_steady():
            return
        self._look_ns = now_ns + self._every_ns
        self._look(now_ns)

    def _sample(self, world: World, now_ns: int) -> None:
        w = world.arrays
        now = read(w, now_ns)
        by_operator = [np.add.reduceat(now[what], w.op[:, L.O_FIRST]).tolist() for what in (BUSY, OUT)]
        self._samples.append([[now_ns], *by_operator])
        while len(self._samples) > SAMPLES_MIN and now_ns - self._samples[1][0][0] >= self._window_ns:
            del self._samples[0]

    def _is_steady(self) -> bool:
        """Once it has been, it is. Throughput is what all operators send."""
        if not self._steady and len(self._samples) >= SAMPLES_MIN:
            sent = [sum(sample[OUT_OF]) for sample in self._samples[-SAMPLES_MIN:]]
            earlier, later = sent[1] - sent[0], sent[2] - sent[1]
            self._steady = abs(later - earlier) <= self._about.steady * max(earlier, 1)
        return self._steady

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
        """Over the last window. Busy time is what threads were given, so that it is never more than a host has."""
        last = self._samples[-1]
        first = next(sample for sample in reversed(self._samples) if last[0][0] - sample[0][0] >= self._window_ns)
        span_ns = last[0][0] - first[0][0]
        busy = {id: (last[BUSY_OF][n] - first[BUSY_OF][n]) / span_ns for n, id in enumerate(self._operators)}
        sent = {id: (last[OUT_OF][n] - first[OUT_OF][n]) * SECOND_NS / span_ns for n, id in enumerate(self._operators)}
        cores = {id: busy[id] * self._speeds[host] for id, host in self._job.begins.items()}
        return Readings(cores, {(sender, receiver): sent[sender] for sender, receiver in self._sends})

    # State

    def state(self) -> Any:
        times = [self._next_ns, self._look_ns, self._starts]
        return {"times": times, "steady": self._steady, "samples": self._samples, "decisions": [asdict(each) for each in self.decisions]}

    def restore(self, state: Any) -> None:
        self._next_ns, self._look_ns, self._starts = state["times"]
        self._steady, self._samples = state["steady"], [[list(part) for part in sample] for sample in state["samples"]]
        self.decisions = [Decision(**decision) for decision in state["decisions"]]


BUSY_OF, OUT_OF = 1, 2
"""Parts of a sample."""

SAMPLES_MIN = 3
"""Between them lie the two spans whose throughput is compared."""

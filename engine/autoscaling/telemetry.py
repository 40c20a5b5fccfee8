"""Autoscaling's part of frames and of the summary (docs/engine-api.md, docs/autoscaling.md, 7).

Frames are read from the state of the loop and the job manager, and selected by timestamps, so they do not depend on how a run is divided.
Other data for the summary is sampled at fixed intervals, independent of the length of frames.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from engine.core import layout as L
from engine.core.source_logs import SourceLogs
from engine.core.tables import Arrays
from engine.core.world import World
from engine.spec import Experiment
from engine.spec.base.units import seconds_ns

from . import quality_metrics
from .loop import Decision
from .metrics import SECOND_NS
from .scrapes import RunningJob, unread

SAMPLE_NS = 15 * SECOND_NS


class Action(Protocol):
    """A rescale; times in ns, -1 until known."""

    number: int
    kind: str
    who: str
    ordered_ns: int
    begun_ns: int
    drained_ns: int
    stored_ns: int
    arranged_ns: int
    restored_ns: int
    ended_ns: int
    before: dict[str, int]
    after: dict[str, int]
    begins_before: dict[str, int]
    begins_after: dict[str, int]
    state_bytes: int
    moved_bytes: int
    outcome: str
    why: str
    changed_ns: int
    savepoint: int


class Job(RunningJob, Protocol):
    """begins: of operators that move, the index of the active instance, which is the number of its host. names: of hosts."""

    begins: dict[str, int]
    names: list[str]

    @property
    def actions(self) -> Sequence[Action]: ...

    @property
    def open(self) -> Any: ...

    @property
    def under_way(self) -> Any: ...

    @property
    def begins_anew_ns(self) -> int: ...


class Noted(Protocol):
    @property
    def at_ns(self) -> int: ...

    @property
    def unread(self) -> int | None: ...


class Stops(Protocol):
    """Times of rescales, by savepoint number, and the unread records in the topics: when the first instance stopped, and when it
    resumed."""

    @property
    def stopped(self) -> Mapping[int, Noted]: ...

    @property
    def went_on(self) -> Mapping[int, Noted]: ...


class Topics:
    """Unread records in the topics. sources: number of each source's operator. dropped: by instance, records dropped by a log's
    retention."""

    def __init__(self, sources: Mapping[str, int], dropped: Any = None):
        self._sources, self._retention = dict(sources), dropped

    @property
    def sources(self) -> list[str]:
        return list(self._sources)

    def appended(self, w: Arrays, logs: SourceLogs, t_ns: int) -> dict[str, int]:
        return {id: logs.appended(w, id, t_ns) for id in self._sources}

    def lag(self, w: Arrays, logs: SourceLogs, now_ns: int) -> dict[str, int]:
        """Return the lag by source, in records, even while no instance reads."""
        found = {}
        for id, o in self._sources.items():
            here = instances(w, o)
            read = int((w.inst[here, L.I_IN] - w.inst[here, L.I_AGAIN]).sum())
            dropped = 0 if self._retention is None else int(self._retention.dropped[here].sum())
            found[id] = logs.appended(w, id, now_ns) - (read + dropped) * w.op.item(o, L.O_WEIGHT)
        return found

    def lag_of(self, w: Arrays, i: int, now_ns: int) -> int:
        """Return the lag of the partitions of one instance."""
        return unread(w, i, now_ns) * w.op.item(w.inst.item(i, L.I_OP), L.O_WEIGHT)

    def oldest_wait_ns(self, w: Arrays, logs: SourceLogs, now_ns: int) -> int:
        """Return the age of the oldest unread record; 0 if there is none."""
        oldest_ns = now_ns
        for o in self._sources.values():
            first = w.op.item(o, L.O_FIRST) + w.op.item(o, L.O_BEGIN)
            for i in range(first, first + w.op.item(o, L.O_PARALLEL)):
                place = logs.place(w, i)
                if place.trigger != L.LOG_END:
                    oldest_ns = min(oldest_ns, place.append_ns)
        return now_ns - oldest_ns

    def waits(self, w: Arrays) -> list[tuple[int, int, int]]:
        """Return, for each source instance: total waiting time of the records it has read, in ns modulo 2^64, their number, and real
        records per record."""
        return [
            (ns, count, w.op.item(o, L.O_WEIGHT))
            for o in self._sources.values()
            for ns, count in w.inst[instances(w, o)][:, [L.I_WAIT, L.I_IN]].tolist()
        ]


def instances(w: Arrays, o: int) -> slice:
    """Return all instances laid out for an operator."""
    return slice(w.op.item(o, L.O_FIRST), w.op.item(o, L.O_FIRST) + w.op.item(o, L.O_STRIDE))


class Samples:
    """A control that samples the topics every 15 s. rows: time, records appended so far, unread records; total waiting time and number of
    the records read since the last row; age of the oldest unread record; 1 while sources are stopped, otherwise 0."""

    def __init__(self, topics: Topics, job: Job, until_ns: int):
        self._topics, self._job, self._until_ns = topics, job, until_ns
        self._next_ns = SAMPLE_NS
        self._waits: list[tuple[int, int, int]] = []
        self.rows: list[list[int]] = []

    @property
    def next_ns(self) -> int:
        return self._next_ns if self._next_ns <= self._until_ns else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        w, logs = world.arrays, world.logs
        waits = self._topics.waits(w)
        new = list(zip(self._waits or [(0, 0, 0)] * len(waits), waits, strict=True))
        waited = sum((after - before) % 2**64 * weight for (before, _, _), (after, _, weight) in new)
        count = sum((after - before) * weight for (_, before, _), (_, after, weight) in new)
        appended, lag = sum(self._topics.appended(w, logs, now_ns).values()), sum(self._topics.lag(w, logs, now_ns).values())
        stands = any(id in self._job.standing for id in self._topics.sources)
        self.rows.append([now_ns, appended, lag, waited, count, self._topics.oldest_wait_ns(w, logs, now_ns), int(stands)])
        self._waits, self._next_ns = waits, now_ns + SAMPLE_NS

    def state(self) -> Any:
        return {"next_ns": self._next_ns, "waits": [list(each) for each in self._waits], "rows": [list(row) for row in self.rows]}

    def restore(self, state: Any) -> None:
        self._next_ns, self._waits = state["next_ns"], [(ns, count, weight) for ns, count, weight in state["waits"]]
        self.rows = [list(row) for row in state["rows"]]


class Loop(Protocol):
    """What decides during the run. quiet_until_ns: until then it is not asked."""

    decisions: list[Decision]
    quiet_until_ns: int

    @property
    def next_ns(self) -> int: ...


class Watch:
    """Autoscaling telemetry of one run. loop: None without a live policy. started_with: initial parallelism by operator. orders_ns: times
    of the orders of the document or a plan."""

    def __init__(
        self,
        experiment: Experiment,
        job: Job,
        stops: Stops,
        loop: Loop | None,
        samples: Samples,
        topics: Topics,
        started_with: Mapping[str, int],
        orders_ns: Sequence[int],
    ):
        self._experiment, self._job, self._stops, self._loop = experiment, job, stops, loop
        self._samples, self._topics = samples, topics
        self._started_with, self._orders_ns = dict(started_with), sorted(orders_ns)

    # Frames

    def frame(self, w: Arrays, logs: SourceLogs, waits: tuple[int, int], after_ns: int, to_ns: int) -> dict[str, Any]:
        """Return the present state, and decisions and changes after after_ns until to_ns. waits: total waiting time in the topics, in ns,
        and number of the real records read in the meantime."""
        job, loop = self._job, self._loop
        waited, read = waits
        state, until_ns = self._state(to_ns)
        next_ns = min([loop.next_ns] if loop is not None else [], default=L.FAR)
        next_ns = min([next_ns, *(at_ns for at_ns in self._orders_ns if at_ns > to_ns)])
        decisions = [] if loop is None else _since(loop.decisions, after_ns)
        return {
            "workers": sum(job.parallelism.values()),
            "parallelism": dict(job.parallelism),
            "wanted": dict(job.parallelism if job.open is None else job.open.after),
            "hosts": {id: job.names[host] for id, host in job.begins.items()},
            "state": state,
            "until_s": _seconds(until_ns),
            "next_s": None if next_ns >= L.FAR else next_ns / SECOND_NS,
            "lag": self._topics.lag(w, logs, to_ns),
            "topic_wait_ms": round(waited / read / 1e6, 6) if read else None,
            "oldest_wait_s": self._topics.oldest_wait_ns(w, logs, to_ns) / SECOND_NS,
            "decisions": [asdict(decision) for decision in decisions],
            "actions": [
                self._told(action) for action in job.actions if any(after_ns < at_ns <= to_ns for at_ns in self._changes_ns(action))
            ],
        }

    def _state(self, now_ns: int) -> tuple[str, int]:
        """Return the state of the job or the loop, and until when it lasts, -1 if unknown."""
        about: Any = self._experiment.policies.scaling
        action = self._job.under_way
        if action is not None:
            if action.stored_ns < 0:
                return "stopping", -1
            if action.arranged_ns < 0:
                return "restarting", self._job.begins_anew_ns
            return "restoring", -1
        if self._job.recovering:
            return "restoring", -1
        if self._loop is None:
            return "running", -1
        if now_ns < self._loop.quiet_until_ns:
            return "cooldown", self._loop.quiet_until_ns
        start_ns = seconds_ns(about.start_s)
        return ("starting", start_ns) if now_ns < start_ns else ("running", -1)

    def _changes_ns(self, action: Action) -> list[int]:
        """Return the times at which its reported data changed."""
        noted = (found.get(action.savepoint) for found in (self._stops.stopped, self._stops.went_on))
        return [action.changed_ns, *(one.at_ns for one in noted if one is not None)]

    def _stopped_ns(self, action: Action) -> int:
        stopped = self._stops.stopped.get(action.savepoint)
        return -1 if stopped is None else stopped.at_ns

    def _told(self, action: Action) -> dict[str, Any]:
        names = self._job.names
        stopped, went_on = self._stops.stopped.get(action.savepoint), self._stops.went_on.get(action.savepoint)
        return {
            "number": action.number,
            "kind": action.kind,
            "who": action.who,
            "ordered_s": _seconds(action.ordered_ns),
            "stopped_s": _seconds(self._stopped_ns(action)),
            **{f"{name}_s": _seconds(getattr(action, f"{name}_ns")) for name in ("drained", "stored", "arranged", "restored", "ended")},
            "before": dict(action.before),
            "after": dict(action.after),
            "moves": {
                id: [names[here], names[action.begins_after[id]]]
                for id, here in action.begins_before.items()
                if action.begins_after[id] != here
            },
            "state_bytes": action.state_bytes,
            "moved_bytes": action.moved_bytes,
            "lag_before": None if stopped is None else stopped.unread,
            "lag_after": None if went_on is None else went_on.unread,
            "outcome": action.outcome,
            "why": action.why,
        }

    # Summary

    def summary(self, now_ns: int) -> dict[str, Any]:
        """Return the summary of the run so far."""
        begun = [action for action in self._job.actions if action.begun_ns >= 0]
        arranged = [action for action in begun if action.arranged_ns >= 0]
        workers = [(0, sum(self._started_with.values())), *((action.arranged_ns, sum(action.after.values())) for action in arranged)]
        down = [(self._stopped_ns(each), each.ended_ns if each.outcome else now_ns) for each in begun]
        ended = [quality_metrics.Action(each.ended_ns, each.before, each.after if each.outcome == "done" else each.before) for each in begun
                 if each.outcome]  # fmt: skip
        ups, downs = quality_metrics.up_and_down(ended)
        rows = self._samples.rows
        waits = [(row[3] / row[4] / SECOND_NS, row[4]) for row in rows if row[4]]
        sampled = [(row[0], row[3] / row[4] / SECOND_NS if row[4] and not row[6] else row[5] / SECOND_NS) for row in rows]
        slo_s = getattr(self._experiment.policies.scaling, "slo_s", 0)
        came = [(before[0], (after[1] - before[1]) / (after[0] - before[0])) for before, after in pairwise([[0] * 7, *rows])]
        until_ns = max(now_ns, 1)
        return {
            "workers_mean": round(quality_metrics.mean_between(workers, 0, until_ns), 6),
            "workers_max": max(count for _, count in workers),
            "worker_hours": round(quality_metrics.worker_hours(workers, until_ns), 6),
            "actions": len(begun),
            "up": ups,
            "down": downs,
            "aborted": sum(action.outcome == "aborted" for action in self._job.actions),
            "down_s": sum(max(0, to_ns - from_ns) for from_ns, to_ns in down if from_ns >= 0) / SECOND_NS,
            "wait_s": _spread(quality_metrics.spread([wait for wait, _ in waits], [count for _, count in waits])),
            "sampled_wait_s": _spread(quality_metrics.spread([wait for _, wait in sampled])),
            "low_share": _rounded(quality_metrics.low_share(sampled, slo_s)),
            "slo_violation_s": quality_metrics.violation_ns(sampled, slo_s) / SECOND_NS,
            "follows": _rounded(quality_metrics.follows(workers, came, until_ns)),
            "phases": self._phases(ended, min(until_ns, self._experiment.workload.horizon_ns)),
        }

    def _phases(self, ended: Sequence[quality_metrics.Action], until_ns: int) -> dict[str, Any]:
        """Return the phases of a load in steps, by number; empty for other loads."""
        by_source = [source.rate.jumps() for source in self._experiment.workload.sources.values()]
        if not all(by_source):
            return {}
        steps = sorted((seconds_ns(step.at_s), n, step.per_s) for n, of_one in enumerate(by_source) for step in of_one)
        now, points = [0.0] * len(by_source), {0: 0.0}
        for at_ns, n, per_s in steps:
            now[n] = per_s
            points[at_ns] = sum(now)
        lag = [(row[0], row[2]) for row in self._samples.rows]
        found = {}
        for number, (from_ns, to_ns) in enumerate(quality_metrics.phases(list(points.items()), until_ns), start=1):
            rate = next(rate for at_ns, rate in reversed(points.items()) if at_ns <= from_ns)
            one = quality_metrics.phase(self._started_with, ended, lag, from_ns, to_ns, rate / 4)
            found[str(number)] = {
                "from_s": from_ns / SECOND_NS,
                "to_s": to_ns / SECOND_NS,
                "actions": one.actions,
                "settled_s": one.settled_ns / SECOND_NS,
                "settled_steps": one.settled_steps,
                "converged": one.converged,
                "converged_s": one.settled_ns / SECOND_NS if one.converged else None,
                "steps": one.settled_steps if one.converged else None,
            }
        return found


def _since(decisions: Sequence[Any], after_ns: int) -> Sequence[Any]:
    """Return the decisions after a time; times ascend."""
    first = len(decisions)
    while first and decisions[first - 1].t_s > after_ns / SECOND_NS:
        first -= 1
    return decisions[first:]


def _seconds(at_ns: int) -> float | None:
    return None if at_ns < 0 else at_ns / SECOND_NS


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _spread(found: quality_metrics.Spread | None) -> dict[str, float | None]:
    values: Mapping[str, Any] = dict.fromkeys(("mean", "p50", "p95", "max")) if found is None else found._asdict()
    return {name: _rounded(value) for name, value in values.items()}


def retention_of(controls: Sequence[Any]) -> Any:
    """Return the control that drops old records from logs, or None."""
    return next((control for control in controls if isinstance(getattr(control, "dropped", None), np.ndarray)), None)

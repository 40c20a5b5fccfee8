"""Jobs of stages, one after the other, under a serial master (Karimov 2020, 2.2, Spark Streaming)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.core.control.active_instances import hold, release
from engine.core.control.ranks import watch
from engine.core.tables import Arrays
from engine.core.world import World
from engine.spec.experiment.engines.spark import SparkEngine
from engine.spec.experiment.experiment import Experiment

Stage = list[int]
"""Numbers of the operators whose instances of one index are a task."""

INTEGRAL = 5
"""A scheduling delay of one batch interval lowers the limit of a source to 1 - 1/5 of the last job's rate."""

PACED = 64
"""A source that is limited works for one in so many ns, and waits for the rest."""

SECOND_NS = 1_000_000_000


@dataclass
class Job:
    """The work on one batch. Times in ns. batch_ns: its end, when the job is due. records: received in it, by source. ends_ns: of the
    stages; the last is the end of the job."""

    batch_ns: int
    records: list[int]
    start_ns: int = -1
    ends_ns: list[int] = field(default_factory=list)


class Jobs:
    """Jobs of a batch each, one after the other: their stages one after the other, and the tasks of a stage one by one.

    An instance of a stage is held until its task starts, and again from the moment at which it serves the watermark that ends the batch.
    The master hears of that `status_ms` after the end of this service.

    about: an engine with `stage_ns`, `task_ns` and `status_ns`. stages: operators by number. jobs: all so far, those that wait included.
    """

    features = ("stolen", "watching")

    def __init__(self, about: Any, stages: Sequence[Stage]):
        self._about, self._stages = about, stages
        self._begun = False
        self.jobs: list[Job] = []
        self._done = 0  # jobs that have ended
        self._open: list[int] = []  # instances of the stage in progress whose end the master has not heard of
        self._started: list[int] = []  # ... those of them that are not held
        self._next_task, self._task_ns = 0, L.FAR  # the next task of the stage, and when it starts
        self._news: list[list[int]] = []  # instance, and when the master hears that it has ended

    @property
    def next_ns(self) -> int:
        if not self._begun:
            return 0
        return min(self._due_ns, self._task_ns, *(at_ns for _, at_ns in self._news))

    @property
    def _due_ns(self) -> int:
        """When the master next looks for a batch; FAR behind the last one."""
        raise NotImplementedError

    @property
    def _mark_ns(self) -> int:
        """Watermark that ends the batch of the job in progress."""
        return self.jobs[self._done].batch_ns

    def _form(self, world: World, now_ns: int) -> None:
        """Form a batch, if there is one. Must advance `_due_ns`."""
        raise NotImplementedError

    def _has_ended(self, world: World, job: Job, now_ns: int) -> None:
        """A job has ended, and is no longer the one in progress."""
        raise NotImplementedError

    def act(self, world: World, now_ns: int) -> None:
        if not self._begun:
            self._begin(world)
        elif now_ns == self._due_ns:
            self._form(world, now_ns)
        self._hear(world, now_ns)
        while self._task_ns <= now_ns:
            self._start_task(world)

    def choose(self, world: World, host: int, now_ns: int) -> None:
        """Hold the instances of this host that have begun to serve the watermark which ends their batch."""
        w = world.arrays
        for i in [i for i in self._started if w.inst[i, L.I_HOST] == host and w.inst[i, L.I_WATERMARK] >= self._mark_ns]:
            self._started.remove(i)
            hold(world, i)
            self._news.append([i, self._about.status_ns + _end_ns(w, host, i, now_ns)])

    def _begin(self, world: World) -> None:
        w = world.arrays
        staged = [i for stage in self._stages for i in self._instances(w, stage)]
        for h in sorted({int(w.inst[i, L.I_HOST]) for i in staged}):
            watch(world, h, np.array([i for i in staged if w.inst[i, L.I_HOST] == h], np.int64))
        for i in staged:
            hold(world, i)
        self._begun = True

    @staticmethod
    def _instances(w: Arrays, stage: Stage) -> list[int]:
        found: list[int] = np.flatnonzero(np.isin(w.inst[:, L.I_OP], stage)).tolist()
        return found

    def _begin_job(self, w: Arrays, now_ns: int) -> None:
        self.jobs[self._done].start_ns = now_ns
        self._begin_stage(w, now_ns)

    def _begin_stage(self, w: Arrays, now_ns: int) -> None:
        self._open = self._instances(w, self._stages[len(self.jobs[self._done].ends_ns)])
        self._next_task, self._task_ns = 0, now_ns + self._about.stage_ns + self._about.task_ns

    def _start_task(self, world: World) -> None:
        w, now_ns = world.arrays, self._task_ns
        for i in [i for i in self._open if w.inst[i, L.I_INDEX] == self._next_task]:
            if w.inst[i, L.I_WATERMARK] >= self._mark_ns:  # its inputs have ended before
                self._news.append([i, now_ns + self._about.status_ns])
                continue
            self._start(world, i, now_ns)
            self._started.append(i)
        self._next_task += 1
        more = (w.inst[self._open, L.I_INDEX] >= self._next_task).any()
        self._task_ns = now_ns + self._about.task_ns if more else L.FAR

    def _start(self, world: World, i: int, now_ns: int) -> None:
        release(world, i, now_ns)

    def _hear(self, world: World, now_ns: int) -> None:
        """Take in the news of instances that have ended their part of the batch. Of one that stands still there are none yet."""
        due = [i for i, at_ns in self._news if at_ns <= now_ns]
        if not due:
            return
        w = world.arrays
        still = [i for i in due if w.inst[i, L.I_STATUS] != L.IDLE]
        self._news = [news for news in self._news if news[0] not in due] + [[i, now_ns + self._about.status_ns] for i in still]
        self._open = [i for i in self._open if i not in due or i in still]
        if self._open:
            return
        job = self.jobs[self._done]
        job.ends_ns.append(now_ns)
        if len(job.ends_ns) < len(self._stages):
            self._begin_stage(w, now_ns)
            return
        self._done += 1
        self._has_ended(world, job, now_ns)

    def frame(self, since_ns: int, now_ns: int) -> dict[str, Any]:
        """The jobs that were due, at work or ended between two times: in s, when each was due, began and ended its stages, with its
        records. Null: not yet. stages: of each job. scheduling_delay_s: of the last one that began.
        limit_per_s: of all sources together, in records."""
        told = [job for job in self.jobs if (job.batch_ns > since_ns or not self._ended(job) or job.ends_ns[-1] > since_ns)]
        begun = [job for job in self.jobs if job.start_ns >= 0]
        return {
            "jobs": [self._told(job) for job in told],
            "stages": len(self._stages),
            "scheduling_delay_s": (begun[-1].start_ns - begun[-1].batch_ns) / 1e9 if begun else None,
            "limit_per_s": self._limit_of_all(),
        }

    def summary(self, since_ns: int, now_ns: int) -> dict[str, Any]:
        """Of the jobs that ended between two times: their number, and in s the means of what they took and of their scheduling delay."""
        ended = [job for job in self.jobs if self._ended(job) and job.ends_ns[-1] > since_ns]
        took_ns = sum(job.ends_ns[-1] - job.start_ns for job in ended)
        late_ns = sum(job.start_ns - job.batch_ns for job in ended)
        count = len(ended)
        return {
            "jobs": count,
            "waiting": len(self.jobs) - self._done,
            "job_s": round(took_ns / count / 1e9, 6) if count else None,
            "scheduling_delay_s": round(late_ns / count / 1e9, 6) if count else None,
            "limit_per_s": self._limit_of_all(),
        }

    def _limit_of_all(self) -> int | None:
        return None

    def _ended(self, job: Job) -> bool:
        return len(job.ends_ns) == len(self._stages)

    @staticmethod
    def _told(job: Job) -> dict[str, Any]:
        return {
            "due_s": job.batch_ns / 1e9,
            "start_s": None if job.start_ns < 0 else job.start_ns / 1e9,
            "ends_s": [end_ns / 1e9 for end_ns in job.ends_ns],
            "records": sum(job.records),
        }


class Master(Jobs):
    """Spark Streaming's: a job for each batch interval, which begins when the one before it has ended. When a job ends, sources are limited
    to what it managed.

    sources: numbers of a source and of its receiver, for each. scale: real records that one of the run stands for. limits: of the sources,
    in real records per second; None: none yet.
    """

    def __init__(self, about: SparkEngine, sources: Sequence[tuple[int, int]], stages: Sequence[Stage], scale: int):
        super().__init__(about, stages)
        self._sources, self._scale = list(sources), scale
        self._closed, self._formed_ns = False, 0  # closed: the last batch has been formed
        self._received = [0] * len(self._sources)
        self.limits: list[int | None] = [None] * len(self._sources)
        self._first_limit = [True] * len(self._sources)

    @property
    def _due_ns(self) -> int:
        """When the batch that is being received ends; FAR behind the last one."""
        return L.FAR if self._closed else self._formed_ns + int(self._about.batch_ns)

    def holds(self, world: World) -> bool:
        """Whether there is a job to come."""
        return not self._closed or self._done < len(self.jobs)

    def _form(self, world: World, now_ns: int) -> None:
        w = world.arrays
        self._formed_ns = now_ns
        self._closed = bool((w.inst[np.isin(w.inst[:, L.I_OP], [at for _, at in self._sources]), L.I_WATERMARK] == L.FAR).all())
        received = [int(w.inst[w.inst[:, L.I_OP] == receiver, L.I_IN].sum()) for _, receiver in self._sources]
        records = [(now - before) * self._scale for now, before in zip(received, self._received, strict=True)]
        self._received = received
        self.jobs.append(Job(now_ns, records))
        if self._done == len(self.jobs) - 1:
            self._begin_job(w, now_ns)

    def _has_ended(self, world: World, job: Job, now_ns: int) -> None:
        self._limit(world.arrays, job)
        if self._done < len(self.jobs):
            self._begin_job(world.arrays, now_ns)

    def _limit(self, w: Arrays, job: Job) -> None:
        """Limit each source to the rate of the job, less a part for its scheduling delay. The first job alone limits nothing."""
        took_ns, late_ns = job.ends_ns[-1] - job.start_ns, job.start_ns - job.batch_ns
        for n, (source, _) in enumerate(self._sources):
            if not self._about.limited or job.records[n] == 0:
                continue
            if self._first_limit[n]:
                self._first_limit[n] = False
                continue
            per_s = job.records[n] * SECOND_NS // took_ns
            per_s = max(per_s - per_s * late_ns // self._about.batch_ns // INTEGRAL, self._about.least_per_s)
            self.limits[n] = per_s
            every_ps = 1_000 * SECOND_NS * self._scale * int(w.op[source, L.O_PARALLEL]) // per_s
            w.op[source, [L.O_RECORD_PS, L.O_ATTAINABLE]] = every_ps // PACED, L.WHOLE // PACED

    def _limit_of_all(self) -> int | None:
        limits = [limit for limit in self.limits if limit is not None]
        return sum(limits) if len(limits) == len(self.limits) else None

    def state(self) -> Any:
        return {
            "begun": self._begun,
            "closed": self._closed,
            "formed_ns": self._formed_ns,
            "jobs": [asdict(job) for job in self.jobs],
            "done": self._done,
            "received": self._received,
            "limits": self.limits,
            "open": self._open,
            "started": self._started,
            "next_task": self._next_task,
            "task_ns": self._task_ns,
            "news": self._news,
            "first_limit": self._first_limit,
        }

    def restore(self, state: Any) -> None:
        self._begun, self._closed, self._formed_ns = state["begun"], state["closed"], state["formed_ns"]
        self.jobs = [Job(**job) for job in state["jobs"]]
        self._done, self._received, self.limits = state["done"], [*state["received"]], [*state["limits"]]
        self._open, self._started = [*state["open"]], [*state["started"]]
        self._next_task, self._task_ns = state["next_task"], state["task_ns"]
        self._news, self._first_limit = [[*news] for news in state["news"]], [*state["first_limit"]]


def stages_of(executed: Experiment, apart: Collection[str]) -> list[Stage]:
    """The operators of each stage by number, without those `apart`. A stage ends where records are repartitioned."""
    specs, edges = executed.query.operators, executed.query.edges
    number = {spec.id: n for n, spec in enumerate(specs)}
    stage_of: dict[str, int] = {}

    def stage(id: str) -> int:
        if id not in stage_of:
            before = [edge for edge in edges if edge.target == id and edge.source not in apart]
            stage_of[id] = max((stage(edge.source) + (not edge.partitioning.one_to_one) for edge in before), default=0)
        return stage_of[id]

    for spec in specs:
        if spec.id not in apart:
            stage(spec.id)
    stages: list[Stage] = [[] for _ in range(max(stage_of.values(), default=-1) + 1)]
    for id, at in stage_of.items():
        stages[at].append(number[id])
    return stages


def _end_ns(w: Arrays, h: int, i: int, now_ns: int) -> int:
    """When the service of instance `i` of host `h` will end, as far as that is known; else now."""
    processors = w.proc[w.host[h, L.H_PROCESSOR] : w.host[h, L.H_PROCESSOR_END]]
    ends_ns = processors[processors[:, L.P_INSTANCE] == i, L.P_END]
    return int(ends_ns[0]) if len(ends_ns) and ends_ns[0] < L.FAR else now_ns

"""What executes jobs in the oracle: single instances, and a moment of its own for everything that the master does."""

from __future__ import annotations

import functools
import heapq
from dataclasses import replace
from typing import Any

from engine.spec import Experiment
from tests.oracle.environment import Phase
from tests.oracle.records import END_OF_LOG_WATERMARK, Kind

MS = 1_000_000
NEVER_NS = -(1 << 61)


class JobTwin:
    """Jobs of stages, one after the other. jobs: when each was due, its records, its start, and the ends of its stages."""

    def __init__(self, document: dict[str, Any]):
        experiment = Experiment.model_validate(document)
        self.about, self.weight, self.faults = experiment.policies.engine, experiment.workload.scale, len(experiment.faults)
        self.end_ns = experiment.workload.end_ns
        self.stages: list[list[int]] = []
        self.closed, self.running = False, set[int]()
        self.left: set[int] = set()
        self.jobs: list[list[Any]] = []
        self.done = 0
        self.orders = [(0, self.begin)]

    def at(self, model: Any, time_ns: int, rank: int, what: Any) -> None:
        model.environment.at(time_ns, Phase.CONTROL, (self.faults, rank), functools.partial(what, model), lambda: self.waits(model))

    def waits(self, model: Any) -> bool:
        return not self.closed or self.done < len(self.jobs)

    def stages_of(self, model: Any, apart: tuple[str, ...]) -> list[list[int]]:
        of = {i.operator.id: i.operator.kind for i in model.network.instances}
        inner = {id for id, kind in of.items() if kind not in apart}
        level = dict.fromkeys(inner, 0)
        for _ in inner:
            for edge in model.network.edges:
                if edge.source in inner and edge.target in inner:
                    level[edge.target] = max(level[edge.target], level[edge.source] + (edge.partitioning.kind != "forward"))
        return [
            [i.number for i in model.network.instances if level.get(i.operator.id) == n] for n in range(max(level.values(), default=-1) + 1)
        ]

    def begin(self, model: Any) -> None:
        for stage in self.stages:
            for number in stage:
                model.watched.add(number)
                model.hold(number, True)

    def mark_ns(self) -> int:
        due_ns: int = self.jobs[self.done][0]
        return due_ns

    def start(self, model: Any) -> None:
        self.jobs[self.done][2] = int(model.environment.now)
        self.stage(model)

    def begins_ns(self) -> int:
        """From the end of the stage before to the start of the first task, less what starting it takes."""
        return int(self.about.stage_ns)

    def stage(self, model: Any) -> None:
        now_ns, numbers = int(model.environment.now), self.stages[len(self.jobs[self.done][3])]
        self.left = set(numbers)
        for index in range(max(model.network.instances[n].index for n in numbers) + 1):
            task = [n for n in numbers if model.network.instances[n].index == index]
            at_ns = now_ns + self.begins_ns() + (index + 1) * self.about.task_ns
            self.at(model, at_ns, 2, functools.partial(self.task, numbers=task))

    def task(self, model: Any, numbers: list[int]) -> None:
        if model.environment.now >= self.end_ns:
            return  # nothing begins after what happens at the end of a run
        for number in numbers:
            if model.network.instances[number].watermark_ns >= self.mark_ns():
                self.at(model, int(model.environment.now) + self.about.status_ns, 1, functools.partial(self.hear, number=number))
                continue
            self.running.add(number)
            model.hold(number, False)
            self.started(model, number)

    def started(self, model: Any, number: int) -> None:
        pass

    def choose(self, model: Any, host: int) -> None:
        for number in sorted(self.running):
            instance = model.network.instances[number]
            if instance.host.number == host and instance.watermark_ns >= self.mark_ns():
                self.running.remove(number)
                model.hold(number, True)
                instance.queue = [item for item in instance.queue if item.kind is not Kind.TICK]
                heapq.heapify(instance.queue)
                ends_ns = int(model.environment.now) if instance.host.sharing is not None else instance.end_ns
                self.at(model, ends_ns + self.about.status_ns, 1, functools.partial(self.hear, number=number))

    def hear(self, model: Any, number: int) -> None:
        now_ns, instance = int(model.environment.now), model.network.instances[number]
        if instance.serving or instance.to_send:
            self.at(model, now_ns + self.about.status_ns, 1, functools.partial(self.hear, number=number))
            return
        self.left.remove(number)
        if self.left:
            return
        job = self.jobs[self.done]
        job[3].append(now_ns)
        if len(job[3]) < len(self.stages):
            self.stage(model)
            return
        self.done += 1
        self.ended(model, job)

    def ended(self, model: Any, job: list[Any]) -> None:
        raise NotImplementedError


class StreamingTwin(JobTwin):
    """Spark Streaming's master: a job for each batch interval."""

    def __init__(self, document: dict[str, Any]):
        super().__init__(document)
        self.served, self.begun = dict[str, int](), set[str]()

    def begin(self, model: Any) -> None:
        self.stages = self.stages_of(model, ("source", "block_receiver", "sink"))
        super().begin(model)
        self.at(model, self.about.batch_ns, 0, self.batch)

    def batch(self, model: Any) -> None:
        now_ns = int(model.environment.now)
        receivers = sorted({i.operator.id for i in model.network.instances if i.operator.kind == "block_receiver"})
        records = {id: (model.result.served[id] - self.served.get(id, 0)) * self.weight for id in receivers}
        self.served = {id: model.result.served[id] for id in receivers}
        self.jobs.append([now_ns, records, None, []])
        if self.done == len(self.jobs) - 1:
            self.start(model)
        self.closed = all(i.watermark_ns == END_OF_LOG_WATERMARK for i in model.network.instances if i.operator.id in receivers)
        if not self.closed:
            self.at(model, now_ns + self.about.batch_ns, 0, self.batch)

    def ended(self, model: Any, job: list[Any]) -> None:
        self.limit(model, job)
        if self.done < len(self.jobs):
            self.start(model)

    def limit(self, model: Any, job: list[Any]) -> None:
        due_ns, records, start_ns, ends_ns = job
        for edge in model.network.edges:
            if edge.target in records and records[edge.target] and self.about.limited:
                if edge.source not in self.begun:
                    self.begun.add(edge.source)
                    continue
                rate = records[edge.target] * 10**9 // (ends_ns[-1] - start_ns)
                rate = max(rate - rate * (start_ns - due_ns) // self.about.batch_ns // 5, self.about.least_per_s)
                sources = [i for i in model.network.instances if i.operator.id == edge.source]
                for source in sources:
                    every_ps = 10**12 * self.weight * len(sources) // rate
                    source.prices = replace(source.prices, record_ps=every_ps // 64, attainable=1024)


class MicroBatchTwin(JobTwin):
    """Structured Streaming's driver: a micro-batch of what has come to the logs since the last one."""

    def __init__(self, document: dict[str, Any]):
        super().__init__(document)
        sources = Experiment.model_validate(document).workload.sources
        self.lag_ns = {id: None if of.watermarks.kind == "none" else of.watermarks.lag_ns for id, of in sources.items()}
        self.mark, self.planning = NEVER_NS, False
        self.ends_ns: dict[int, int] = {}

    def waits(self, model: Any) -> bool:
        return not self.closed

    def mark_ns(self) -> int:
        return self.mark

    def logs(self, model: Any) -> list[Any]:
        return list(model.network.logs)

    def begin(self, model: Any) -> None:
        sinks = [i.number for i in model.network.instances if i.operator.kind == "sink"]
        self.stages = [*self.stages_of(model, ("sink",)), sinks]
        super().begin(model)
        self.at(model, max(10 * MS, self.about.start_ns), 0, self.look)

    def look(self, model: Any) -> None:
        now_ns, come, ends_ns = int(model.environment.now), False, dict[int, int]()
        records = {} if self.jobs else {id: model.result.served[id] * self.weight for id in self.lag_ns}
        queues = {log.instance: sorted(item for item in log.instance.queue if item.order[1] == 1) for log in self.logs(model)}
        waiting = {instance: [item for item in queue if item.ready_ns < now_ns] for instance, queue in queues.items()}
        all_of_them, most = sum(map(len, waiting.values())), self.about.records_max
        limited = most is not None and all_of_them > max(1, most // self.weight)
        for instance, items in waiting.items():
            ends_ns[instance.number], come = now_ns, come or bool(items)
            if limited and items:
                share = max(1, len(items) * max(1, most // self.weight) // all_of_them)
                ends_ns[instance.number] = items[share].ready_ns if share < len(items) else now_ns
            read = [item for item in items if item.ready_ns < ends_ns[instance.number] and item.record is not None]
            records[instance.operator.id] = records.get(instance.operator.id, 0) + self.weight * len(read)
        mark = self.watermark(model)
        stateful = any(i.operator.kind.endswith(("aggregate", "join")) for i in model.network.instances)
        if not come and not (stateful and mark // MS > self.mark // MS):
            every_ns = self.about.trigger_ns
            self.at(model, (now_ns // every_ns + 1) * every_ns if every_ns else now_ns + 10 * MS, 0, self.look)
            return
        self.mark, self.ends_ns = max(self.mark + 1, mark), ends_ns
        self.jobs.append([now_ns, records, None, []])
        self.planning = True
        self.start(model)
        self.planning = False

    def watermark(self, model: Any) -> int:
        newest: dict[str, int] = {}
        for log in self.logs(model):
            id = log.instance.operator.id
            newest[id] = max(newest.get(id, log.newest_event_ns), log.newest_event_ns)
        lags = {id: lag for id, lag in self.lag_ns.items() if lag is not None}
        known = [(newest[id] - lag) // MS * MS if newest[id] > -(1 << 62) else NEVER_NS for id, lag in lags.items()]
        return min(known, default=NEVER_NS)

    def begins_ns(self) -> int:
        if len(self.jobs[self.done][3]) == len(self.stages) - 1:
            return int(self.about.commit_ns - self.about.task_ns)
        return int(self.about.stage_ns + (self.about.plan_ns if self.planning else 0))

    def started(self, model: Any, number: int) -> None:
        instance = model.network.instances[number]
        if instance.operator.kind == "source":
            instance.mark_ns = self.mark
            model.tick_item_at(self.ends_ns[number], instance, due_ns=int(model.environment.now))

    def ended(self, model: Any, job: list[Any]) -> None:
        now_ns, every_ns = int(model.environment.now), self.about.trigger_ns
        self.closed = all(log.instance.watermark_ns == END_OF_LOG_WATERMARK for log in self.logs(model))
        if not self.closed:
            again_ns = (job[0] // every_ns + 1) * every_ns if every_ns else 0
            self.at(model, max(now_ns + 1, again_ns), 0, self.look)

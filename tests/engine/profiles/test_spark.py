"""Spark's profile (specification of the benchmark, B2 and section 9, 7).

What this catches: results between the ends of jobs; a stage that begins before the one before it has ended; jobs side by side; a batch
that does not wait for its slowest task; records that are repartitioned one by one; sources that nothing limits; windows of event time.
"""

from __future__ import annotations

import copy
import functools
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import Phase as Phase2, HealthCheck, assume, given, settings
from hypothesis import strategies as st

import engine
from engine.profiles import under_engine
from engine.spec import Experiment, validate
from tests.oracle import simulate
from tests.oracle.environment import Phase
from tests.oracle.records import END_OF_LOG_WATERMARK

from ...support.agreement import DATASETS, assert_agreement, cut_saved_and_forked, fingerprint, frames_of, traced
from ...support.engine_examples import windowed_sum
from ...support.strategies import documents

MS = 1_000_000
STAGE_ENDS_WITH = ("hash", "rebalance", "broadcast")


class Twin:
    """The master in the oracle: single instances, and a moment of its own for everything that it does."""

    def __init__(self, document: dict[str, Any]):
        experiment = Experiment.model_validate(document)
        self.about, self.weight, self.faults = experiment.policies.engine, experiment.workload.scale, len(experiment.faults)
        self.end_ns = experiment.workload.end_ns
        self.stages: list[list[int]] = []
        self.closed, self.running = False, set[int]()
        self.left: set[int] = set()
        self.jobs: list[list[Any]] = []  # due, records by source, start, ends of stages
        self.done, self.served, self.begun = 0, dict[str, int](), set[str]()
        self.orders = [(0, self.begin)]

    def at(self, model: Any, time_ns: int, rank: int, what: Any) -> None:
        model.environment.at(time_ns, Phase.CONTROL, (self.faults, rank), functools.partial(what, model), lambda: self.waits(model))

    def waits(self, model: Any) -> bool:
        return not self.closed or self.done < len(self.jobs)

    def begin(self, model: Any) -> None:
        of = {i.operator.id: i.operator.kind for i in model.network.instances}
        inner = {id for id, kind in of.items() if kind not in ("source", "block_receiver", "sink")}
        level = dict.fromkeys(inner, 0)
        for _ in inner:
            for edge in model.network.edges:
                if edge.source in inner and edge.target in inner:
                    level[edge.target] = max(level[edge.target], level[edge.source] + (edge.partitioning.kind in STAGE_ENDS_WITH))
        self.stages = [
            [i.number for i in model.network.instances if level.get(i.operator.id) == n] for n in range(max(level.values(), default=-1) + 1)
        ]
        for stage in self.stages:
            for number in stage:
                model.watched.add(number)
                model.hold(number, True)
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

    def start(self, model: Any) -> None:
        self.jobs[self.done][2] = int(model.environment.now)
        self.stage(model)

    def stage(self, model: Any) -> None:
        now_ns, numbers = int(model.environment.now), self.stages[len(self.jobs[self.done][3])]
        self.left = set(numbers)
        for index in range(max(model.network.instances[n].index for n in numbers) + 1):
            task = [n for n in numbers if model.network.instances[n].index == index]
            at_ns = now_ns + self.about.stage_ns + (index + 1) * self.about.task_ns
            self.at(model, at_ns, 2, functools.partial(self.task, numbers=task))

    def task(self, model: Any, numbers: list[int]) -> None:
        if model.environment.now >= self.end_ns:
            return  # nothing begins after what happens at the end of a run
        for number in numbers:
            if model.network.instances[number].watermark_ns >= self.jobs[self.done][0]:
                self.at(model, int(model.environment.now) + self.about.status_ns, 1, functools.partial(self.hear, number=number))
                continue
            self.running.add(number)
            model.hold(number, False)

    def choose(self, model: Any, host: int) -> None:
        for number in sorted(self.running):
            instance = model.network.instances[number]
            if instance.host.number == host and instance.watermark_ns >= self.jobs[self.done][0]:
                self.running.remove(number)
                model.hold(number, True)
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
        self.limit(model, job)
        self.done += 1
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
                    source.prices = replace(source.prices, record_ps=10**12 * self.weight * len(sources) // rate)


def agreed(document: dict[str, Any]) -> tuple[Twin, engine.Simulation]:
    twin, simulation = Twin(document), traced(document)
    expected = simulate(Experiment.model_validate(document), DATASETS, orders=twin.orders, chooser=twin.choose)
    assert_agreement(document, simulation, expected)
    end_ns = simulation.now_ns
    told = [(job.batch_ns, job.records, job.start_ns, job.ends_ns) for job in master(simulation).jobs]
    known = [(due, [*records.values()], -1 if start is None else start, ends) for due, records, start, ends in twin.jobs if due <= end_ns]
    if len(known) and len(known[0][1]) == 1:  # else their order is that of names there
        assert told == known
    return twin, simulation


def master(simulation: engine.Simulation) -> Any:
    return simulation._engine[0]


def of_batches(document: dict[str, Any], batch_ms: int, **fields: Any) -> dict[str, Any]:
    """A random document under Spark, with windows of whole batches."""
    document = copy.deepcopy(document)
    document.pop("prices", None)
    for operator in document["query"]["operators"]:
        window = operator.get("params", {}).get("window")
        for name in ("size_s", "slide_s", "origin_s") if isinstance(window, dict) else ():
            if name in window:
                window[name] = round(window[name] * 1000 / batch_ms) * batch_ms / 1000 if name != "size_s" else 2 * batch_ms / 1000
        if isinstance(window, dict) and "slide_s" in window:
            window["slide_s"] = min(max(window["slide_s"], batch_ms / 1000), window["size_s"])
    for edge in document["query"]["edges"]:
        edge.pop("capacity", None)
    timed = {"stage_ms": 0.3, "task_ms": 0.1, "driver": {"egress_latency_ms": 0.5}}
    document["policies"] = {"engine": {"kind": "spark", "batch_s": batch_ms / 1000} | timed | fields}
    return document


@pytest.mark.slow
@settings(phases=[Phase2.generate], suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(document=documents(), batch_ms=st.sampled_from((2, 5, 20)), status_ms=st.sampled_from((0.5, 1)))
def test_random_experiments_under_spark_agree_with_the_oracle(document: dict[str, Any], batch_ms: int, status_ms: float) -> None:
    document = of_batches(document, batch_ms, status_ms=status_ms)
    assume(not validate(document))
    agreed(document)

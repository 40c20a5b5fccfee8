"""S3J in SimPy's textbook form, as the measure of the engine's exact join (`ratio_to_simpy` of `benchmarks.similarity`).

A process for each instance takes records from a store, does the work on them, and waits out the service: sources, space partitioners,
workset formulation, joins and a sink, each on a core of its own, with one delay between them and one window. Vectors have two
coordinates and are compared by angle. Prices, centroids and rules are the engine's, so both find the same pairs (`pairs`). Making the
input is not timed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import simpy

from engine.operators.similarity import centroids
from engine.operators.space_partitioner import meets_here
from engine.prices import price_of
from engine.spec import Experiment
from engine.spec.experiment import registry
from tests.support.similarity_examples import points

INNER, OUTER, OUTLIER = range(3)
Row = tuple[Any, ...]
Sends = list[tuple["Instance", Row]]


def distance(a: tuple[float, float], b: tuple[float, float]) -> float:
    cosine = (a[0] * b[0] + a[1] * b[1]) / (math.hypot(*a) * math.hypot(*b))
    return math.acos(max(-1.0, min(1.0, cosine))) / math.pi


@dataclass
class Workset:
    centroid: tuple[float, float]
    worker: int


@dataclass
class Instance:
    """A process that serves records one after the other. work: what a record reads and sends."""

    model: Model
    prices: tuple[int, int, int]
    work: Callable[[Row], tuple[int, Sends]]
    store: Any = field(init=False)

    def __post_init__(self) -> None:
        self.store = simpy.Store(self.model.environment)
        self.model.environment.process(self.serve())

    def serve(self) -> Generator[simpy.Event, Any, None]:
        environment = self.model.environment
        record_ps, read_ps, output_ps = self.prices
        while True:
            row = yield self.store.get()
            reads, sends = self.work(row)
            cost_ps = record_ps + read_ps * reads + output_ps * len(sends)
            yield environment.timeout(max(1, -(-cost_ps // self.model.speed_milli)))
            self.model.hops += 1
            for target, sent in sends:
                environment.process(self.arrive(target, sent))

    def arrive(self, target: Instance, row: Row) -> Generator[simpy.Event, Any, None]:
        yield self.model.environment.timeout(self.model.delay_ns)
        target.store.put(row)


class Model:
    """The experiment's S3J, ready to run. Raises ValueError for what this model does not have."""

    def __init__(self, document: dict[str, Any]):
        experiment = Experiment.model_validate(document)
        params = experiment.operator("left-spaces").parameters
        if len(params.coordinates) != 2 or params.distance != "angular":
            raise ValueError("this model has vectors of two coordinates, compared by angle")
        self.environment = simpy.Environment()
        self.hops = self.pairs = 0
        self.threshold, self.workers = params.threshold, experiment.operator("join").parallelism
        host = experiment.expanded_hosts()[0]
        self.speed_milli, self.delay_ns = host.speed_milli, experiment.cluster.local_latency_ns
        self.spaces = [(x, y) for x, y in centroids(params.spaces, 2, params.seed)]
        self.until_ns = experiment.workload.horizon_ns + 10**12
        kinds = ("source", "space_partitioner", "workset_formulation", "similarity_join", "sink")
        prices = {}
        for kind in kinds:
            about: Any = registry.operator(kind)
            record_ps, output_ps, _ = price_of(experiment.prices, about.priced_as or kind)
            prices[kind] = record_ps, about.read_ps, output_ps
        self.sink = Instance(self, prices["sink"], self.deliver)
        self.joins = [Instance(self, prices["similarity_join"], self.joining()) for _ in range(self.workers)]
        self.forms = [Instance(self, prices["workset_formulation"], self.forming()) for _ in range(self.workers)]
        self.partitioners = {
            side: [Instance(self, prices["space_partitioner"], self.partition) for _ in range(self.workers)] for side in ("left", "right")
        }
        self.turn = {"left": 0, "right": 0}
        for side in ("left", "right"):
            source = Instance(self, prices["source"], self.read)
            ids, vectors, times = points(document, side)
            rows = [(side, id, (x, y)) for id, (x, y) in zip(ids.tolist(), vectors.tolist(), strict=True)]
            self.environment.process(self.append(source, rows, times.tolist()))

    def append(self, source: Instance, rows: list[Row], times: list[int]) -> Generator[simpy.Event, Any, None]:
        for row, at_ns in zip(rows, times, strict=True):
            if at_ns > self.environment.now:
                yield self.environment.timeout(at_ns - self.environment.now)
            source.store.put(row)

    def read(self, row: Row) -> tuple[int, Sends]:
        side = row[0]
        self.turn[side] = (self.turn[side] + 1) % self.workers
        return 0, [(self.partitioners[side][self.turn[side]], row)]

    def partition(self, row: Row) -> tuple[int, Sends]:
        side, id, vector = row
        far = [distance(vector, centroid) for centroid in self.spaces]
        home = far.index(min(far))
        reach = far[home] + 2 * self.threshold
        to = [home, *(j for j, d in enumerate(far) if j != home and d <= reach and meets_here(home, j))]
        return len(far), [(self.forms[j % self.workers], (side, id, vector, j, j == home)) for j in to]

    def forming(self) -> Callable[[Row], tuple[int, Sends]]:
        worksets: dict[int, list[Workset]] = {}
        kept: dict[int, list[Row]] = {}

        def copy(workset: int, of: Workset, row: Row, role: int) -> tuple[Instance, Row]:
            side, id, vector, space, _ = row
            return self.joins[of.worker], (side, id, vector, (space, workset), role)

        def work(row: Row) -> tuple[int, Sends]:
            _, _, vector, space, inner = row
            here = worksets.setdefault(space, [])
            far = [distance(vector, workset.centroid) for workset in here]
            reads = len(far)
            if not inner:
                kept.setdefault(space, []).append(row)
                return reads, [copy(n, here[n], row, OUTER) for n, d in enumerate(far) if d <= 2 * self.threshold]
            home = min(range(len(far)), key=far.__getitem__, default=-1)
            if home < 0 or far[home] > self.threshold:
                home = len(here)
                here.append(Workset(vector, space % self.workers))
                sends = [copy(home, here[home], row, INNER)]
                for other in kept.get(space, []):
                    reads += 1
                    if distance(vector, other[2]) <= 2 * self.threshold:
                        sends.append(copy(home, here[home], other, OUTER))
            else:
                role = INNER if far[home] <= self.threshold / 2 else OUTLIER
                sends = [copy(home, here[home], row, role)]
            sends += [copy(n, here[n], row, OUTER) for n in range(home) if far[n] <= 2 * self.threshold]
            return reads, sends

        return work

    def joining(self) -> Callable[[Row], tuple[int, Sends]]:
        stored: dict[tuple[int, int], dict[str, list[tuple[int, tuple[float, float], int]]]] = {}

        def work(row: Row) -> tuple[int, Sends]:
            side, id, vector, where, role = row
            sides = stored.setdefault(where, {"left": [], "right": []})
            reads, found = 0, []
            for other, theirs, of in sides["right" if side == "left" else "left"]:
                if role == INNER and of == INNER:
                    found.append(other)
                elif role != OUTER or of != OUTER:
                    reads += 1
                    if distance(vector, theirs) <= self.threshold:
                        found.append(other)
            sides[side].append((id, vector, role))
            return reads, [(self.sink, (id, other)) for other in found]

        return work

    def deliver(self, row: Row) -> tuple[int, Sends]:
        self.pairs += 1
        return 0, []


def simpy_run(document: dict[str, Any]) -> tuple[int, int, float]:
    """Pairs found, services, and wall seconds of a job such as `benchmarks.similarity.job`, with one window."""
    model = Model(document)
    began = time.perf_counter()
    model.environment.run(until=model.until_ns)
    return model.pairs, model.hops, time.perf_counter() - began

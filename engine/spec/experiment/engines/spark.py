"""Parameters of the engine `spark`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from pydantic import Field

from ...base.origins import Charge
from ...base.problems import Problem, pointer
from ...base.units import Integer, Number, milliseconds_ns, quantity, seconds_ns
from .base import DrivenEngine
from .jobs import job_problems

OVERHEAD = Charge("assumed", "of the order that the engine's developers report")
SERIAL = Charge("fitted", "with it, larger clusters gain as little as was reported", ("benchmark/table-3.1",))
WINDOWS = ("none", "full_history", "tumbling", "sliding")
STATELESS = ("filter", "map", "project", "split", "union")
TASKS_MAX = 2_000
"""Tasks that may read the blocks of a source."""
KINDS = ("source", "sink", "filter", "map", "project", "split", "union", "aggregate", "join", "window_join")


class SparkEngine(DrivenEngine):
    """Micro-batches: receivers collect the records of a batch interval, and one job after the other computes on them. A job is a chain of
    stages, divided where records are repartitioned. A stage begins when all tasks of the one before it have ended, and a master starts its
    tasks one after the other. Windows are those of the time of receipt and whole batches long, keep their records, and read all of them
    when they end; sums, counts, minima and maxima are combined before they are repartitioned. Sources are limited by what the last job
    managed.

    Left out: batches kept on disk, lost executors, failed tasks.
    """

    title: ClassVar[str] = "Spark Streaming 2.0"
    source: ClassVar[str] = "Karimov 2020, 2.2 and 3.6"
    position: ClassVar[int] = 2
    price_list: ClassVar[str] = "spark_2020"
    acts: ClassVar[bool] = True
    kind: Literal["spark"] = "spark"
    batch_s: Number = quantity(
        4, unit="s", ge=0.001, le=3600, title="Batch interval", description="Time from one batch to the next, and so from job to job."
    )
    block_ms: Number | None = quantity(
        None,
        unit="ms",
        ge=1,
        le=3_600_000,
        title="Block interval",
        description="Time after which a receiver begins another block. Each block of a batch is read by a task of its own, on any worker. "
        "Default: as many tasks as the source has instances.",
    )
    stage_ms: Number = quantity(
        50, unit="ms", ge=0, le=1e6, title="Stage", description="Time that the master takes to begin a stage.", charge=OVERHEAD
    )
    task_ms: Number = quantity(
        7.2, unit="ms", ge=0, le=1e6, title="Task", description="Time that the master takes to start a task.", charge=SERIAL
    )
    status_ms: Number = quantity(
        1,
        unit="ms",
        ge=0.1,
        le=1e5,
        title="Status",
        description="Time until the master knows that a task has ended.",
        advanced=True,
        charge=OVERHEAD,
    )
    levels: Integer = quantity(
        1,
        unit="levels",
        ge=1,
        le=4,
        title="Tree levels",
        description="Stages in which partial sums, counts, minima and maxima are put together; all but the last take any of them, whatever "
        "its key, so that none is left to a single slot.",
        advanced=True,
    )
    limited: bool = Field(
        default=True,
        title="Backpressure",
        description="Whether sources are limited to the rate of the last job, less what its scheduling delay asks for.",
    )
    least_per_s: Integer = quantity(
        100, unit="records/s", ge=1, le=1_000_000_000, title="Least rate", description="Limit of a source at least.", advanced=True
    )

    def problems(self, draft: Any) -> Iterator[Problem]:
        yield from super().problems(draft)
        yield from job_problems(self.title, KINDS, draft)
        yield from self._query_problems(draft)
        yield from self._block_problems(draft)
        yield from self._own_operator_problems(draft)
        if self.status_ms < self.driver.egress_latency_ms:
            message = (
                f"status_ms is {self.status_ms:g}, less than the latency from the driver, {self.driver.egress_latency_ms:g} ms; the master "
                "hears over the same network, so choose at least that"
            )
            yield Problem(pointer("policies", "engine", "status_ms"), "inconsistent", message, self.status_ms)

    def _query_problems(self, draft: Any) -> Iterator[Problem]:
        for n, spec in draft.operators.items():
            window = spec.params.get("window")
            if spec.kind in KINDS and isinstance(window, dict):
                yield from self._window_problems(n, window)

    def _block_problems(self, draft: Any) -> Iterator[Problem]:
        if self.block_ms is None:
            return
        at = pointer("policies", "engine", "block_ms")
        if self.batch_ns % milliseconds_ns(self.block_ms):
            message = f"block_ms is {self.block_ms:g}, but the batch interval, {self.batch_s:g} s, is no multiple of it; choose a divisor"
            yield Problem(at, "inconsistent", message, self.block_ms)
            return
        workers = len(draft.hosts or (None,))
        for id in draft.source_ids:
            tasks = self.receivers(draft.by_id[id].parallelism, workers) * (self.blocks or 1)
            if tasks > TASKS_MAX:
                message = (
                    f"block_ms is {self.block_ms:g}, so {tasks:,} tasks would read the blocks of '{id}', and at most {TASKS_MAX:,} can; "
                    "choose a longer one"
                )
                yield Problem(at, "budget", message, self.block_ms)
        yield from self._divided_problems(draft)

    def _divided_problems(self, draft: Any) -> Iterator[Problem]:
        """Operators with state that tasks would divide among themselves, for lack of an edge that repartitions."""
        reached = list(draft.source_ids)
        for source in reached:
            for n, edge in draft.edges.items():
                if edge.source != source or not edge.partitioning.one_to_one or edge.target not in draft.by_id:
                    continue
                kind = draft.by_id[edge.target].kind
                if kind in STATELESS and edge.target not in reached:
                    reached.append(edge.target)
                elif kind not in (*STATELESS, "sink"):
                    message = (
                        f"partitioning is '{edge.partitioning.kind}', so with block_ms each task would have a '{edge.target}' of its own, "
                        "for the records of its block alone; choose hash, or rebalance for a single instance"
                    )
                    yield Problem(pointer("query", "edges", n, "partitioning"), "not_with_engine", message, edge.partitioning.kind)

    def _own_operator_problems(self, draft: Any) -> Iterator[Problem]:
        own = {read_of(id): f"source '{id}'" for id in draft.source_ids}
        for id in (id for id, spec in draft.by_id.items() if spec.kind == "aggregate"):
            own |= dict.fromkeys([combine_of(id), *(merge_of(id, level) for level in range(1, self.levels))], f"aggregate '{id}'")
        for id in own.keys() & draft.ids.keys():
            message = f"the id '{id}' is taken by the operator that {self.title} puts beside {own[id]}; choose another"
            yield Problem(pointer("query", "operators", draft.ids[id], "id"), "duplicate_id", message, id)

    def _window_problems(self, n: int, window: dict[str, Any]) -> Iterator[Problem]:
        at = ("query", "operators", n, "params", "window")
        kind = window.get("kind", "none")
        if kind not in WINDOWS:
            message = f"{self.title} has no windows '{kind}'; choose tumbling or sliding"
            yield Problem(pointer(*at, "kind"), "not_with_engine", message, kind)
        for name in ("size_s", "slide_s", "origin_s"):
            value = window.get(name)
            if isinstance(value, int | float) and not isinstance(value, bool) and seconds_ns(value) % self.batch_ns:
                message = (
                    f"{name} is {value:g}, which is no multiple of the batch interval, {self.batch_s:g} s; windows are whole batches long"
                )
                yield Problem(pointer(*at, name), "not_with_engine", message, value)

    @property
    def batch_ns(self) -> int:
        return max(1, seconds_ns(self.batch_s))

    @property
    def blocks(self) -> int | None:
        """Blocks that a receiver makes of a batch; None if as many tasks read a source as it has instances."""
        return None if self.block_ms is None else self.batch_ns // milliseconds_ns(self.block_ms)

    @staticmethod
    def receivers(parallelism: int, workers: int) -> int:
        """Receivers of a source: one for each instance, and at most one on each worker."""
        return min(parallelism, workers)

    @property
    def stage_ns(self) -> int:
        return milliseconds_ns(self.stage_ms)

    @property
    def task_ns(self) -> int:
        return milliseconds_ns(self.task_ms)

    @property
    def status_ns(self) -> int:
        return milliseconds_ns(self.status_ms)


def read_of(source: str) -> str:
    """Id of the operator that reads the blocks of a source."""
    return f"{source[:58]}-read"


def combine_of(aggregate: str) -> str:
    """Id of the operator that combines records before they are repartitioned for an aggregate."""
    return f"{aggregate[:55]}-combine"


def merge_of(aggregate: str, level: int) -> str:
    """Id of the operator that puts partial results together before the aggregate does. level: counted from 1."""
    return f"{aggregate[:55]}-merge{level}"

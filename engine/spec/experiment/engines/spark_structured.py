"""Parameters of the engine `spark_structured`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

from ...base.origins import Charge
from ...base.problems import Problem, pointer
from ...base.units import Integer, Number, milliseconds_ns, quantity, seconds_ns
from .base import Engine
from .jobs import job_problems
from .spark import combine_of

MEASURED = Charge("measured", "by manage.py calibrate, on two cores of a virtual machine, with one source")
KINDS = (
    "source",
    "sink",
    "filter",
    "map",
    "project",
    "split",
    "union",
    "aggregate",
    "session_aggregate",
    "join",
    "window_join",
    "interval_join",
)
EMITS = {"aggregate": "on_update", "session_aggregate": "on_close"}
"""When aggregates emit unless a document says so."""


class SparkStructuredEngine(Engine):
    """Micro-batches over logs: what has come to the logs since the last trigger is a micro-batch, and the next one is triggered when it is
    committed. A micro-batch is planned, and executed as a job of stages, divided where records are repartitioned. Each stage has a task for
    each instance of its operators. Watermarks rise from one micro-batch to the next, so a window ends in the one after that in which its
    last record came. Results are there once the micro-batch is committed.

    Left out: lost executors, failed tasks, state that spills.
    """

    title: ClassVar[str] = "Spark Structured Streaming 4"
    source: ClassVar[str] = "Armbrust et al. 2018; measured on Spark 4.3"
    position: ClassVar[int] = 4
    price_list: ClassVar[str] = "spark_structured"
    compared: ClassVar[bool] = False
    acts: ClassVar[bool] = True
    kind: Literal["spark_structured"] = "spark_structured"
    trigger_s: Number = quantity(
        0,
        unit="s",
        ge=0,
        le=3600,
        title="Trigger interval",
        description="Least time from one micro-batch to the next. 0: the next one is triggered as soon as there is something to do.",
    )
    start_s: Number = quantity(
        0,
        unit="s",
        ge=0,
        le=1e6,
        title="Start",
        description="Time of the first trigger. What has come to the logs by then is a backlog.",
        advanced=True,
    )
    records_max: Integer | None = quantity(
        None,
        unit="records",
        ge=1,
        le=1_000_000_000,
        title="Largest micro-batch",
        description="Records that a micro-batch reads at most, of all sources together, of each in proportion to what it has. Those of "
        "the same nanosecond are read together. Default: all.",
    )
    plan_ms: Number = quantity(
        217, unit="ms", ge=0, le=1e6, title="Planning", description="Time to log offsets and to plan a micro-batch.", charge=MEASURED
    )
    stage_ms: Number = quantity(
        13, unit="ms", ge=0, le=1e6, title="Stage", description="Time that the driver takes to begin a stage.", charge=MEASURED
    )
    task_ms: Number = quantity(
        0, unit="ms", ge=0, le=1e6, title="Task", description="Time that the driver takes to start a task.", charge=MEASURED
    )
    commit_ms: Number = quantity(
        308,
        unit="ms",
        ge=0,
        le=1e6,
        title="Commit",
        description="Time from the end of the last task until the micro-batch is committed and its results can be read.",
        charge=MEASURED,
    )
    status_ms: Number = quantity(
        1,
        unit="ms",
        ge=0.1,
        le=1e5,
        title="Status",
        description="Time until the driver knows that a task has ended.",
        advanced=True,
        charge=Charge("assumed", "of the order of a message between threads"),
    )

    def problems(self, draft: Any) -> Iterator[Problem]:
        yield from super().problems(draft)
        yield from job_problems(self.title, KINDS, draft)
        for n, spec in draft.operators.items():
            if spec.kind in KINDS:
                yield from self._operator_problems(n, spec)
        for id, source in (draft.workload.sources if draft.workload is not None else {}).items():
            if source.watermarks.kind == "device":
                message = f"{self.title} makes watermarks of the records that it has read, and reads none from a log; choose bounded"
                yield Problem(pointer("workload", "sources", id, "watermarks", "kind"), "not_with_engine", message, "device")
            if source.generation.kind == "coordinated":
                message = f"{self.title} reads what has come to a log, and no generator waits for it; choose another generation"
                yield Problem(pointer("workload", "sources", id, "generation", "kind"), "not_with_engine", message, "coordinated")

        for id in (id for id, spec in draft.by_id.items() if spec.kind == "aggregate" and combine_of(id) in draft.ids):
            message = f"the id '{combine_of(id)}' is taken by the operator that {self.title} puts before aggregate '{id}'; choose another"
            yield Problem(pointer("query", "operators", draft.ids[combine_of(id)], "id"), "duplicate_id", message, combine_of(id))

    def _operator_problems(self, n: int, spec: Any) -> Iterator[Problem]:
        at = ("query", "operators", n, "params")
        window = spec.params.get("window")
        if isinstance(window, dict) and window.get("clock", "event") != "event":
            message = f"{self.title} is modelled with windows by event time; choose clock: event"
            yield Problem(pointer(*at, "window", "clock"), "not_with_engine", message, window["clock"])
        emit = spec.params.get("emit", EMITS.get(spec.kind))
        if emit not in (None, "on_close"):
            message = f"{self.title} is modelled in append mode, in which a window has one result, when it ends; choose emit: on_close"
            yield Problem(pointer(*at, "emit"), "not_with_engine", message, emit)

    @property
    def trigger_ns(self) -> int:
        return seconds_ns(self.trigger_s)

    @property
    def start_ns(self) -> int:
        return seconds_ns(self.start_s)

    @property
    def plan_ns(self) -> int:
        return milliseconds_ns(self.plan_ms)

    @property
    def stage_ns(self) -> int:
        return milliseconds_ns(self.stage_ms)

    @property
    def task_ns(self) -> int:
        return milliseconds_ns(self.task_ms)

    @property
    def commit_ns(self) -> int:
        return milliseconds_ns(self.commit_ms)

    @property
    def status_ns(self) -> int:
        return milliseconds_ns(self.status_ms)

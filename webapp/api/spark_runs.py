"""The query of a run on a real Spark: its micro-batches, and how its records compare with the engine's."""

from __future__ import annotations

import uuid
from typing import Annotated, Any, NotRequired

from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field
from typing_extensions import TypedDict

from engine.export import MicroBatch, NotExported, ResultLatency, batches_in, compiled
from engine.spec import Problem
from engine.spec.rules.validation import Context
from webapp.lab import documents
from webapp.lab.models import Lab, Run, RunState, SparkRun
from webapp.lab.models.spark_runs import PACED_MAX_S, RECORDS_MAX
from webapp.lab.schemas import SparkRunShape
from webapp.lab.waiting_work import enqueue
from webapp.lib.described import AsIs, JsonObject
from webapp.lib.redis_connection import connection
from webapp.messaging.heartbeats import spark_state
from webapp.messaging.stream import announce_row

from .errors import Problem404, Problem409, Problem422
from .runs import run_of
from .spark import NOBODY, QUEUE_AWAY

router = Router()


class SparkDifference(TypedDict):
    """Records of a sink. of_model, of_spark: how many there are. only_model, only_spark: the first of those that the other lacks."""

    equal: bool
    of_model: int
    of_spark: int
    differing: int
    only_model: list[JsonObject]
    only_spark: list[JsonObject]


class SparkComparison(TypedDict):
    """records_per_s: of the input, over the time in micro-batches. took_s: in the last attempt. late: records that the model dropped.
    dropped: by Spark's watermarks. latency: by sink, of paced input; none of a sink whose records differ."""

    equal: bool
    sinks: dict[str, SparkDifference]
    records_in: int
    batches: int
    records_per_s: float
    took_s: float
    late: int
    dropped: int
    machine: str
    latency: NotRequired[dict[str, ResultLatency]]


class SparkSpeed(TypedDict):
    """Of the micro-batches with records, without the first ones. batch_ms: the median. low_ms, high_ms: quartiles. records_per_s: of all,
    over the time that they took."""

    batches: int
    batch_ms: float
    low_ms: float
    high_ms: float
    records_per_s: float


class SparkPrediction(TypedDict):
    """What the model predicted before Spark began. predicted: null with the reason in `why_not`. measured: null until Spark has executed
    the query. latency: predicted, of paced input. made: day of the calibration. said: what speaks against comparing the two."""

    predicted: SparkSpeed | None
    measured: SparkSpeed | None
    latency: NotRequired[ResultLatency | None]
    why_not: str
    made: str
    said: list[str]


class SparkRunAsked(Schema):
    files: int = Field(20, ge=1, le=200, description="Files into which the input of each source is cut; each is a micro-batch.")
    paced: bool = Field(
        False,
        description="Input appears at the pace of the logs, and latencies are measured. It takes as long as the logs. Replaces files.",
    )
    trigger_ms: int = Field(0, ge=0, le=60_000, description="Paced: least time between micro-batches. 0: one follows as soon as it can.")


class SparkRunDetail(SparkRunShape):
    """micro_batches: those that have ended, in the order in which they did. prediction: null until it is made.
    comparison: null until the records are compared."""

    micro_batches: Annotated[Any, AsIs(list[MicroBatch])]
    prediction: Annotated[Any, AsIs(SparkPrediction | None)]
    comparison: Annotated[Any, AsIs(SparkComparison | None)]


@router.get("/{uuid:run_id}/spark", response=list[SparkRunShape], summary="Executions of a run's query on Spark, newest first")
def listing(request: HttpRequest, run_id: uuid.UUID) -> list[SparkRunShape]:
    run = run_of(request.auth.lab, run_id)
    return [SparkRunShape.of(row) for row in run.spark_runs.filter(deleted_at__isnull=True).order_by("-created_at")]


@router.post("/{uuid:run_id}/spark", response={200: SparkRunShape, 201: SparkRunShape}, summary="Execute a run's query on Spark")
def start(request: HttpRequest, run_id: uuid.UUID, body: SparkRunAsked) -> Status:
    """On the same records, as streams cut into micro-batches. An execution in progress is returned instead (200). 422, with each place, for
    a query with parts that have no equivalent in Spark."""
    lab: Lab = request.auth.lab
    run = run_of(lab, run_id)
    under_way = run.spark_runs.filter(deleted_at__isnull=True, state__in=(RunState.QUEUED, RunState.RUNNING)).first()
    if under_way is not None:
        return Status(200, SparkRunShape.of(under_way))
    checked = documents.check(run.document, lab)
    if checked.experiment is None:
        raise Problem422("the experiment has become invalid; see problems", checked.problems)
    try:
        compiled(checked.experiment, Context(datasets=documents.datasets_of(lab)))
    except NotExported as refused:
        raise Problem422(refused.problems[0].message, [problem.as_dict() for problem in refused.problems]) from None
    if (count := int((run.summary or {}).get("records_in") or 0)) > RECORDS_MAX:
        raise Problem422(
            f"run #{run.number} has {count:,} input records; at most {RECORDS_MAX:,} are executed on Spark here: shorten the run"
        )
    refuse_pace(run, body, checked.experiment.workload.horizon_s)
    about = {"files": body.files, "paced": body.paced, "trigger_ms": body.trigger_ms}
    row = SparkRun.objects.create(run=run, **about, author=request.auth.user.get_username())
    return Status(201, enqueued(row))


@router.get(
    "/{uuid:run_id}/spark/{uuid:spark_run_id}", response=SparkRunDetail, summary="An execution on Spark, its micro-batches and comparison"
)
def read(request: HttpRequest, run_id: uuid.UUID, spark_run_id: uuid.UUID) -> SparkRunDetail:
    row = spark_run_of(request.auth.lab, run_id, spark_run_id)
    files = {"micro_batches": batches_in(row.batch_file), "prediction": row.prediction, "comparison": row.comparison}
    return SparkRunDetail(**SparkRunShape.fields_of(row), **files)


@router.post(
    "/{uuid:run_id}/spark/{uuid:spark_run_id}/cancel",
    response={202: SparkRunShape},
    summary="Cancel; takes effect with the next micro-batch",
)
def cancel(request: HttpRequest, run_id: uuid.UUID, spark_run_id: uuid.UUID) -> Status:
    row = spark_run_of(request.auth.lab, run_id, spark_run_id)
    SparkRun.objects.request_cancel(row.pk)
    announce_row(connection(), "spark_run", row.pk)
    row.refresh_from_db()
    return Status(202, SparkRunShape.of(row))


@router.post(
    "/{uuid:run_id}/spark/{uuid:spark_run_id}/resume",
    response={202: SparkRunShape},
    summary="Continue from the last checkpoint after a cancellation or failure",
)
def resume(request: HttpRequest, run_id: uuid.UUID, spark_run_id: uuid.UUID) -> Status:
    row = spark_run_of(request.auth.lab, run_id, spark_run_id)
    again = {"state": RunState.QUEUED, "cancel_requested": False, "error": "", "finished_at": None, "losses": 0, "enqueued_at": None}
    stopped = SparkRun.objects.filter(pk=row.pk, state__in=(RunState.CANCELLED, RunState.FAILED))
    if not stopped.update(**again):
        raise Problem409(f"it is {row.state}; only a cancelled or failed execution can continue")
    return Status(202, enqueued(row))


@router.delete("/{uuid:run_id}/spark/{uuid:spark_run_id}", response={204: None}, summary="Delete; one in progress is cancelled")
def delete(request: HttpRequest, run_id: uuid.UUID, spark_run_id: uuid.UUID) -> Status:
    row = spark_run_of(request.auth.lab, run_id, spark_run_id)
    row.delete_softly()
    row.refresh_from_db()
    if not row.active:
        row.remove_files()  # otherwise the worker does once it has stopped
    announce_row(connection(), "spark_run", row.pk)
    return Status(204, None)


def refuse_pace(run: Run, body: SparkRunAsked, horizon_s: float) -> None:
    """Raises Problem422 where Spark cannot follow the logs so."""
    if body.trigger_ms and not body.paced:
        message = "trigger_ms is for paced input; set paced, or leave it out"
        raise Problem422(message, [Problem("/trigger_ms", "not_paced", message, body.trigger_ms).as_dict()])
    if body.paced and horizon_s > PACED_MAX_S:
        message = f"run #{run.number} takes {horizon_s:,.0f} s, and so would Spark; at most {PACED_MAX_S} s are followed: shorten the run"
        raise Problem422(message, [Problem("/paced", "too_long", message, body.paced).as_dict()])


def enqueued(row: SparkRun) -> SparkRunShape:
    queued = enqueue(row.pk, SparkRun)
    announce_row(connection(), "spark_run", row.pk)
    row.refresh_from_db()
    return SparkRunShape.of(row, QUEUE_AWAY if not queued else NOBODY if spark_state()["state"] == "absent" else None)


def spark_run_of(lab: Lab, run_id: uuid.UUID, spark_run_id: uuid.UUID) -> SparkRun:
    run = run_of(lab, run_id)
    found: SparkRun | None = run.spark_runs.filter(pk=spark_run_id, deleted_at__isnull=True).first()
    if found is None:
        raise Problem404(f"run #{run.number} has no execution {spark_run_id} on Spark; it may have been deleted")
    return found

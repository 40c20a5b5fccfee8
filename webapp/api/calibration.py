"""What micro-batches of Spark take on the machine of the analysis worker: what was measured last, and measuring it."""

from __future__ import annotations

import uuid

from django.http import HttpRequest
from ninja import Router, Schema, Status

from engine.export.calibration import Calibration, NotCalibrated, read
from webapp.lab import calibrations
from webapp.lab.models import CalibrationJob, Lab
from webapp.lab.schemas import CalibrationJobShape
from webapp.lib.redis_connection import connection
from webapp.messaging.heartbeats import spark_state
from webapp.messaging.stream import announce_row

from .errors import Problem404
from .parsing import Bool
from .spark import NOBODY, QUEUE_AWAY

router = Router()


class PriceOfKind(Schema):
    """Of a core, in us: for a record, for a result, and for a commit of state."""

    kind: str
    record_us: float
    output_us: float
    control_us: float


class MeasuredQuery(Schema):
    """Medians over micro-batches. spread: interquartile range of the work over its median. records: of a micro-batch."""

    query: str
    planning_ms: float
    work_ms: float
    commit_ms: float
    spread: float
    records: float


class MachineShape(Schema):
    """made: day. busy: share of the machine's time that others had meanwhile. overheads_ms: of the engine `spark_structured`."""

    made: str
    machine: str
    cores: int
    spark: str
    busy: float
    overheads_ms: dict[str, float]
    prices: list[PriceOfKind]
    measured: list[MeasuredQuery]

    @classmethod
    def of(cls, found: Calibration) -> MachineShape:
        return cls(
            **{name: getattr(found, name) for name in ("made", "machine", "cores", "spark", "busy", "overheads_ms")},
            prices=[PriceOfKind(kind=kind, **price) for kind, price in found.prices_us.items()],
            measured=[MeasuredQuery(query=query, **medians) for query, medians in found.measured.items()],
        )


class CalibrationState(Schema):
    """machine: what was measured last, by any lab or by `manage.py calibrate`; null before, or if the file cannot be read, which `problem`
    says. job: the measurement that the lab asked for last."""

    machine: MachineShape | None
    problem: str | None
    job: CalibrationJobShape | None


class CalibrationAsked(Schema):
    """though_busy: measure also while other processes are at work; the prices are too high then."""

    though_busy: Bool = False


@router.get("", response=CalibrationState, summary="What was measured last, and the lab's last measurement")
def state(request: HttpRequest) -> CalibrationState:
    machine = problem = None
    try:
        machine = MachineShape.of(read(calibrations.file()))
    except (NotCalibrated, OSError, TypeError, ValueError) as why:
        problem = str(why) if calibrations.file().exists() else None
    job = calibrations.newest(request.auth.lab)
    return CalibrationState(machine=machine, problem=problem, job=None if job is None else CalibrationJobShape.of(job))


@router.post("", response={200: CalibrationJobShape, 201: CalibrationJobShape}, summary="Measure the machine, for about ten minutes")
def start(request: HttpRequest, body: CalibrationAsked) -> Status:
    """By small queries on Spark. Analyses and executions on Spark wait meanwhile. A measurement in progress is returned instead (200)."""
    lab: Lab = request.auth.lab
    job = calibrations.newest(lab)
    if job is not None and job.active:
        return Status(200, CalibrationJobShape.of(job))
    job, queued = calibrations.start(lab, body.though_busy, request.auth.user.get_username())
    announce_row(connection(), "calibration", job.pk)
    return Status(201, CalibrationJobShape.of(job, QUEUE_AWAY if not queued else NOBODY if spark_state()["state"] == "absent" else None))


@router.post("/{uuid:calibration_id}/cancel", response={202: CalibrationJobShape}, summary="Cancel; what was measured before stays")
def cancel(request: HttpRequest, calibration_id: uuid.UUID) -> Status:
    job = CalibrationJob.objects.filter(pk=calibration_id, lab=request.auth.lab, deleted_at__isnull=True).first()
    if job is None:
        raise Problem404(f"this lab has no measurement {calibration_id}")
    CalibrationJob.objects.request_cancel(job.pk)
    announce_row(connection(), "calibration", job.pk)
    job.refresh_from_db()
    return Status(202, CalibrationJobShape.of(job))

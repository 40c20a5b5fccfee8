"""Analyses over many runs, which Spark runs in the background."""

from __future__ import annotations

import json
import uuid
from typing import Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema, Status
from pydantic import Field

from engine.spec import Problem, Refusal
from engine.spec.base.problems import pointer
from webapp.accounts.rights import Right
from webapp.lab.models import Lab, RunState, SparkJob
from webapp.lab.schemas import SparkJobShape
from webapp.lib.described import JsonObject
from webapp.lib.redis_connection import connection
from webapp.messaging.heartbeats import spark_state
from webapp.messaging.stream import announce_lists
from webapp.reports import analysis, selection

from .authentication import Needs
from .errors import Problem404, Problem422

router = Router()

QUEUE_AWAY = "the queue is unreachable; the job is stored and starts when the queue is back"
NOBODY = "no analysis worker is running; the job waits until one starts (scripts/up starts one)"


class SparkState(Schema):
    """state: asleep (Spark starts with the next job), ready, unavailable, or absent (no analysis worker). message: what is missing and what
    to do. cores: total over all executors, 0 until Spark has started."""

    state: Literal["absent", "asleep", "ready", "unavailable"]
    master: str
    message: str
    cores: int


class AnalysisPage(Schema):
    items: list[SparkJobShape]
    count: int
    spark: SparkState


class AnalysisDetail(SparkJobShape):
    """answer: null until the job has succeeded; its `rows` are the requested page. count: total number of rows."""

    answer: JsonObject | None
    count: int


class AnswerQuery(Schema):
    limit: int = Field(1000, ge=1, le=5000)
    offset: int = Field(0, ge=0, le=10**9)


@router.get("/jobs", response=AnalysisPage, summary="All jobs, newest first, and the state of Spark")
def listing(request: HttpRequest, limit: Query[int] = 50, offset: Query[int] = 0) -> AnalysisPage:
    found = SparkJob.objects.filter(lab=request.auth.lab, deleted_at__isnull=True).order_by("-created_at")
    first = max(offset, 0)
    items = found[first : first + min(max(limit, 1), 200)]
    return AnalysisPage(items=[SparkJobShape.of(job) for job in items], count=found.count(), spark=SparkState(**spark_state()))


@router.post("/jobs", response={201: SparkJobShape}, summary="Start an analysis over many runs")
def create(request: HttpRequest, body: analysis.Question) -> Status:
    try:
        job, queued = analysis.ask(request.auth.lab, body)
    except Refusal as refusal:
        raise refused(refusal) from None
    note = QUEUE_AWAY if not queued else NOBODY if spark_state()["state"] == "absent" else None
    return Status(201, SparkJobShape.of(job, note))


@router.post(
    "/selection",
    auth=Needs(Right.READ),
    response=selection.SelectionOfRuns,
    summary="What a question would read: runs by experiment, and how many are new; stores nothing",
)
def select(request: HttpRequest, body: selection.SelectionAsked) -> selection.SelectionOfRuns:
    try:
        return selection.selected(request.auth.lab, body)
    except Refusal as refusal:
        raise refused(refusal) from None


@router.get("/jobs/{uuid:job_id}", response=AnalysisDetail, summary="A job, and its answer once it has one")
def read(request: HttpRequest, job_id: uuid.UUID, which: Query[AnswerQuery]) -> AnalysisDetail:
    job = job_of(request.auth.lab, job_id)
    fields, answer = SparkJobShape.fields_of(job), None
    if job.state == RunState.SUCCEEDED:
        try:
            answer = json.loads(job.file.read_text())
        except FileNotFoundError:
            raise Problem404("the answer's file is missing from the server's data directory; ask again") from None
    rows = answer["rows"] if answer else []
    if answer:
        answer["rows"] = rows[which.offset : which.offset + which.limit]
    return AnalysisDetail(**fields, answer=answer, count=len(rows))


@router.post("/jobs/{uuid:job_id}/cancel", response={202: SparkJobShape}, summary="Cancel; summaries made so far stay")
def cancel(request: HttpRequest, job_id: uuid.UUID) -> Status:
    job = job_of(request.auth.lab, job_id)
    analysis.cancel(job)
    return Status(202, SparkJobShape.of(job))


@router.delete("/jobs/{uuid:job_id}", response={204: None}, summary="Delete; a job in progress is cancelled")
def delete(request: HttpRequest, job_id: uuid.UUID) -> Status:
    job_of(request.auth.lab, job_id).delete_softly()
    announce_lists(connection(), request.auth.lab.pk)
    return Status(204, None)


@router.post("/jobs/{uuid:job_id}/restore", response={204: None}, summary="Undo a deletion")
def restore(request: HttpRequest, job_id: uuid.UUID) -> Status:
    if not SparkJob.objects.filter(pk=job_id, lab=request.auth.lab).update(deleted_at=None):
        raise Problem404(f"there is no job {job_id} in this lab")
    announce_lists(connection(), request.auth.lab.pk)
    return Status(204, None)


def refused(refusal: Refusal) -> Problem422:
    problem = Problem(pointer(*refusal.at), refusal.code, str(refusal), refusal.value, refusal.hint)
    return Problem422(f"{problem.pointer}: {refusal}", [problem.as_dict()])


def job_of(lab: Lab, job_id: uuid.UUID) -> SparkJob:
    found = SparkJob.objects.filter(pk=job_id, lab=lab, deleted_at__isnull=True).first()
    if found is None:
        raise Problem404(f"there is no job {job_id} in this lab; it may have been deleted")
    return found

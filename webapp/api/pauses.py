"""Pause, step, resume and pace runs. None of this changes a run's result."""

from __future__ import annotations

import uuid

from django.http import HttpRequest
from ninja import Router, Status
from pydantic import Field

from webapp.lab.models import Lab, Run, RunState
from webapp.lab.pace import Pace
from webapp.lab.schemas import RunDetail
from webapp.lab.submission import QUEUE_AWAY
from webapp.lab.waiting_work import enqueue
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce

from .errors import Problem409
from .parsing import Body, Int
from .runs import run_of

router = Router()

STEP_FRAMES_MAX = 100_000


class StepFrames(Body):
    frames: Int = Field(1, ge=1, le=STEP_FRAMES_MAX)


class Paced(Body):
    pace: Pace


@router.post("/{uuid:run_id}/pause", response={202: RunDetail}, summary="Pause within a second; nothing is lost")
def pause(request: HttpRequest, run_id: uuid.UUID) -> Status:
    """No effect on a paused run. After a few seconds a paused run releases its worker."""
    run = unfinished(request.auth.lab, run_id)
    if not Run.objects.pause(run.pk):
        raise over(run)
    return changed(run)


@router.post("/{uuid:run_id}/step", response={202: RunDetail}, summary="Advance a paused run by some frames, then pause again")
def step(request: HttpRequest, run_id: uuid.UUID, body: StepFrames | None = None) -> Status:
    """Steps requested while others are in progress are added to them."""
    run = unfinished(request.auth.lab, run_id)
    if not Run.objects.step(run.pk, (body or StepFrames()).frames):
        run.refresh_from_db()
        if not run.active:
            raise over(run)
        if run.hold_at_frame is None:
            raise Problem409(f"run #{run.number} is {run.state} and not paused; pause it, then step")
        raise Problem409(f"run #{run.number} is about to pause; step when its state is 'paused'")
    return changed(run)


@router.post("/{uuid:run_id}/resume", response={202: RunDetail}, summary="Resume a paused run")
def resume(request: HttpRequest, run_id: uuid.UUID) -> Status:
    """No effect on a run that is not paused."""
    run = unfinished(request.auth.lab, run_id)
    Run.objects.resume(run.pk)
    return changed(run)


@router.post("/{uuid:run_id}/pace", response={202: RunDetail}, summary="As fast as possible, or at most n × real time")
def pace(request: HttpRequest, run_id: uuid.UUID, body: Paced) -> Status:
    run = unfinished(request.auth.lab, run_id)
    Run.objects.filter(pk=run.pk).update(pace=body.pace)
    return changed(run)


def unfinished(lab: Lab, run_id: uuid.UUID) -> Run:
    run = run_of(lab, run_id)
    if not run.active or run.cancel_requested:
        raise over(run)
    return run


def over(run: Run) -> Problem409:
    run.refresh_from_db()
    state = "is being cancelled" if run.active else "was cancelled" if run.state == RunState.CANCELLED else f"has {run.state}"
    return Problem409(f"run #{run.number} {state}; only a run that is queued, running or paused can be paused, stepped or paced")


def changed(run: Run) -> Status:
    """Notify viewers, and workers if there is work to do."""
    queued = enqueue(run.pk)
    run.refresh_from_db()
    announce(connection(), run.pk)
    return Status(202, RunDetail.of(run, None if queued else QUEUE_AWAY))

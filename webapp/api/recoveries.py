"""How the recovery line of a run was found, step by step."""

from __future__ import annotations

import uuid

from django.http import HttpRequest
from ninja import Router

from engine.lessons import Explained, NotKnown, explained_recovery
from webapp.reports.export import FramesGone, frames_of

from .errors import Problem404, Problem409
from .runs import run_of

router = Router()


@router.get("/{uuid:run_id}/recoveries/{int:epoch}", response=Explained, summary="How a recovery line was found, step by step")
def read(request: HttpRequest, run_id: uuid.UUID, epoch: int) -> Explained:
    """404 if no such recovery has happened, or if it searched no line because it used a coordinated checkpoint."""
    run = run_of(request.auth.lab, run_id)
    try:
        return explained_recovery(frames_of(run), epoch)
    except FramesGone as gone:
        raise Problem409(str(gone)) from None
    except NotKnown as unknown:
        raise Problem404(f"run {run.number}: {unknown}") from None

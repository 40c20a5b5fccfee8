"""Runs: found, followed, cancelled, repeated, deleted."""

from __future__ import annotations

import json
import uuid
from typing import Annotated, Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field, StringConstraints

from webapp.lab.models import Lab, Run, RunState
from webapp.lab.shapes import RunDetail, RunShape
from webapp.lab.submission import submit
from webapp.lib.redis_connection import connection
from webapp.live import history
from webapp.live.stream import announce

from .errors import Problem404
from .parsing import Body

router = Router()


class Filter(Schema):
    state: RunState | None = None
    experiment: uuid.UUID | None = None
    search: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")] = ""
    limit: int = Field(50, ge=1, le=200)
    offset: int = Field(0, ge=0, le=10**9)


class Page(Schema):
    items: list[RunShape]
    count: int


class Again(Body):
    seed: int | None = None


@router.get("", response=Page, summary="Find runs, the newest first")
def listing(request: HttpRequest, filter: Query[Filter]) -> Page:
    found = Run.objects.filter(lab=request.auth.lab, deleted_at__isnull=True).defer("document").order_by("-number")
    if filter.state:
        found = found.filter(state=filter.state)
    if filter.experiment:
        found = found.filter(experiment=filter.experiment)
    for word in filter.search.split():
        found = found.filter(matches(word))
    items = found[filter.offset : filter.offset + filter.limit]
    return Page(items=[RunShape.of(run) for run in items], count=found.count())


@router.get("/{uuid:run_id}", response=RunDetail)
def read(request: HttpRequest, run_id: uuid.UUID) -> RunDetail:
    return RunDetail.of(run_of(request.auth.lab, run_id))


@router.post("/{uuid:run_id}/cancel", response={202: RunDetail}, summary="Stop within a second; what was measured stays")
def cancel(request: HttpRequest, run_id: uuid.UUID) -> Status:
    run = run_of(request.auth.lab, run_id)
    if Run.objects.request_cancel(run.pk):
        run.refresh_from_db()
        announce(connection(), run.pk, ended=not run.active)
    return Status(202, RunDetail.of(run))


@router.post("/{uuid:run_id}/rerun", response={201: RunDetail}, summary="Run the same document again, or with another seed")
def rerun(request: HttpRequest, run_id: uuid.UUID, body: Again | None = None) -> Status:
    lab = request.auth.lab
    run = run_of(lab, run_id)
    again, note = submit(run.experiment, run.document, lab, body.seed if body else None)
    return Status(201, RunDetail.of(again, note))


@router.delete("/{uuid:run_id}", response={204: None}, summary="Delete; an active run is cancelled")
def delete(request: HttpRequest, run_id: uuid.UUID) -> Status:
    run = run_of(request.auth.lab, run_id)
    run.delete_softly()
    for waterfalls in run.waterfalls.all():
        waterfalls.delete_softly()
    announce(connection(), run.pk)
    return Status(204, None)


@router.get("/{uuid:run_id}/frames", summary="Frames after a number, in order", response=dict[str, Any])
def frames(request: HttpRequest, run_id: uuid.UUID, after: Query[int] = -1, limit: Query[int] = 1000) -> HttpResponse:
    """`next` is the `after` of the next call, or null when the run has ended and nothing is left."""
    run = run_of(request.auth.lab, run_id)
    ended = not run.active  # asked before the frames are read: what comes in between is found by the next call
    texts = history.frames_after(run.pk, run.directory, max(after, -1), min(max(limit, 1), 10_000))
    last = max(after, -1) + len(texts)
    exhausted = ended and last + 1 >= run.frames
    body = f'{{"frames":[{",".join(texts)}],"next":{json.dumps(None if exhausted or (ended and not texts) else last)}}}'
    return HttpResponse(body, content_type="application/json")


def run_of(lab: Lab, run_id: uuid.UUID) -> Run:
    found = Run.objects.filter(pk=run_id, lab=lab, deleted_at__isnull=True).select_related("experiment").first()
    if found is None:
        raise Problem404(f"there is no run {run_id} in this lab; it may have been deleted")
    return found


def matches(word: str) -> Q:
    """A word of a search: part of the name, the number, or the beginning of the hash or digest."""
    query = Q(name__icontains=word) | Q(hash__startswith=word.lower()) | Q(digest__startswith=word.lower())
    number = word.removeprefix("#")
    return query | Q(number=int(number)) if number.isascii() and number.isdecimal() and len(number) < 10 else query

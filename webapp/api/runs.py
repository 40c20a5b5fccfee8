"""Runs: found, followed, cancelled, repeated, deleted."""

from __future__ import annotations

import json
import uuid
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field, StringConstraints, model_validator

from webapp.lab import bulk
from webapp.lab.finding import Filter, find
from webapp.lab.models import Lab, Run
from webapp.lab.pace import Pace
from webapp.lab.shapes import RunDetail, RunShape
from webapp.lab.submission import submit
from webapp.lib.redis_connection import connection
from webapp.live import history
from webapp.live.stream import announce, announce_lists

from .errors import Problem404
from .parsing import Body

router = Router()

RUNS_TOGETHER_MAX = 1000


class Page(Schema):
    items: list[RunShape]
    count: int


class Again(Body):
    seed: int | None = None
    pace: Pace = None


class Together(Body):
    """One action on many runs; `tag` names the tag of the actions that need one."""

    action: Literal["delete", "restore", "cancel", "tag", "untag"]
    ids: list[uuid.UUID] = Field(min_length=1, max_length=RUNS_TOGETHER_MAX)
    tag: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50)] | None = None

    @model_validator(mode="after")
    def _tag_where_needed(self) -> Together:
        if (self.tag is None) == (self.action in bulk.TAGGING):
            raise ValueError(f"action '{self.action}' takes {'a tag, and there is none' if self.tag is None else 'no tag'}")
        return self


class Changed(Schema):
    """The runs that the action changed; the others were so already, or are not there."""

    changed: list[uuid.UUID]


@router.get("", response=Page, summary="Find runs, the newest first")
def listing(request: HttpRequest, filter: Query[Filter]) -> Page:
    found = find(request.auth.lab, filter)
    items = found[filter.offset : filter.offset + filter.limit]
    return Page(items=[RunShape.of(run) for run in items], count=found.count())


@router.post("/bulk", response=Changed, summary="Delete, restore, cancel, tag or untag many at once")
def together(request: HttpRequest, body: Together) -> Changed:
    lab = request.auth.lab
    runs = bulk.of_lab(lab, body.ids)
    changed = bulk.TAGGING[body.action](lab, runs, body.tag) if body.tag is not None else bulk.PLAIN[body.action](lab, runs)
    if body.action in ("delete", "cancel"):
        for run in bulk.of_lab(lab, (run.pk for run in changed)):
            announce(connection(), run.pk, ended=not run.active)
    else:
        announce_lists(connection())
    return Changed(changed=[run.pk for run in changed])


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
    wanted = body or Again()
    again, note = submit(run.experiment, run.document, lab, wanted.seed, wanted.pace)
    return Status(201, RunDetail.of(again, note))


@router.delete("/{uuid:run_id}", response={204: None}, summary="Delete; an active run is cancelled")
def delete(request: HttpRequest, run_id: uuid.UUID) -> Status:
    lab = request.auth.lab
    bulk.delete(lab, bulk.of_lab(lab, [run_of(lab, run_id).pk]))
    announce(connection(), run_id)
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

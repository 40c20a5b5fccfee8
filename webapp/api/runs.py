"""Runs: find, follow, cancel, repeat, delete."""

from __future__ import annotations

import json
import uuid
from typing import Annotated, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema, Status
from pydantic import Field, StringConstraints, model_validator

from engine.spec import Problem, Refusal
from engine.spec.base.problems import pointer
from engine.spec.rules.forking import Fork
from webapp.lab import bulk, submission
from webapp.lab.conditions import COLUMNS, SHORT, unit_named
from webapp.lab.models import FieldName, Lab, Run
from webapp.lab.models.runs import NOTES_LENGTH_MAX
from webapp.lab.pace import Pace
from webapp.lab.run_fields import Cell, varying_parameters
from webapp.lab.run_points import columns_of
from webapp.lab.run_search import Filter, ShortText, find, page_of
from webapp.lab.schemas import RunDetail, RunShape
from webapp.lib.redis_connection import connection
from webapp.live.frames import FramePage
from webapp.messaging import frame_history as history
from webapp.messaging.stream import announce, announce_lists
from webapp.reports.export import FORMATS, FramesGone

from .answers import FieldShape, Name, refusing
from .errors import Problem404, Problem409, Problem422
from .files import as_file
from .parsing import Body, Int

router = Router()

RUNS_TOGETHER_MAX = 1000
FIELDS_MAX = 50
VALUES_MAX = 20


class ListQuery(Filter):
    """value: further fields whose values the page needs, such as parameters of the document."""

    value: list[Name] = Field([], max_length=VALUES_MAX)


class RunPage(Schema):
    """values: a column for each further field that was asked for, in the order of the items; null where a run has no value."""

    items: list[RunShape]
    count: int
    fields: list[FieldShape]
    values: list[list[Cell]]


class Again(Body):
    seed: Int | None = None
    pace: Pace = None


class Forked(Fork):
    pace: Pace = None


class Together(Body):
    """One action on many runs; `tag`: the tag, for actions that need one."""

    action: Literal["delete", "restore", "cancel", "tag", "untag"]
    ids: list[uuid.UUID] = Field(min_length=1, max_length=RUNS_TOGETHER_MAX)
    tag: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50)] | None = None

    @model_validator(mode="after")
    def _tag_where_needed(self) -> Together:
        if (self.tag is None) == (self.action in bulk.TAGGING):
            raise ValueError(f"action '{self.action}' {'needs a tag; give one' if self.tag is None else 'takes no tag; leave it out'}")
        return self


class Notes(Body):
    """was: the notes as they were when editing began."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, max_length=NOTES_LENGTH_MAX)]
    was: str


class Noted(Schema):
    notes: str


class Changed(Schema):
    """The runs that the action changed. The others needed no change, or do not exist."""

    changed: list[uuid.UUID]


@router.get("", response=RunPage, summary="Find runs, newest first")
def listing(request: HttpRequest, filter: Query[ListQuery]) -> RunPage:
    lab = request.auth.lab
    with refusing(filter):
        items, count = page_of(find(lab, filter), filter)
        fields, values = columns_of(lab, [run.pk for run in items], filter.value)
    return RunPage(items=[RunShape.of(run) for run in items], count=count, fields=[FieldShape.of(one) for one in fields], values=values)


class FieldQuery(Schema):
    """search: a space stands for an underscore. varying: of the parameters only those that differ between runs."""

    search: ShortText = ""
    varying: bool = False


class Fields(Schema):
    """Fields that conditions can use: short names, summary metrics and document parameters. units: of those that have one, by name."""

    short: list[str]
    metrics: list[str]
    parameters: list[str]
    units: dict[str, str]


@router.get("/fields", response=Fields, summary="Fields to search runs by whose names contain a text")
def fields(request: HttpRequest, asked: Query[FieldQuery]) -> Fields:
    lab = request.auth.lab
    text = asked.search.strip().replace(" ", "_")
    parameters = varying_parameters(lab) if asked.varying else FieldName.objects.filter(lab=lab, name__startswith="/")
    metrics = FieldName.objects.filter(lab=lab).exclude(name__startswith="/")
    short = [name for name in (*COLUMNS, *SHORT) if text.lower() in name]
    first_metrics, first_parameters = (
        list(names.filter(name__icontains=text).order_by("name").values_list("name", flat=True)[:FIELDS_MAX])
        for names in (metrics, parameters)
    )
    listed = {"short": short, "metrics": first_metrics, "parameters": first_parameters}
    units = {name: unit for names in listed.values() for name in names if (unit := unit_named(name))}
    return Fields(**listed, units=units)


@router.post("/bulk", response=Changed, summary="Delete, restore, cancel, tag or untag many runs at once")
def together(request: HttpRequest, body: Together) -> Changed:
    lab = request.auth.lab
    runs = bulk.of_lab(lab, body.ids)
    changed = bulk.TAGGING[body.action](lab, runs, body.tag) if body.tag is not None else bulk.PLAIN[body.action](lab, runs)
    if body.action in ("delete", "cancel"):
        for run in bulk.of_lab(lab, (run.pk for run in changed)):
            announce(connection(), run.pk, ended=not run.active)
    else:
        announce_lists(connection(), lab.pk)
    return Changed(changed=[run.pk for run in changed])


@router.get("/{uuid:run_id}", response=RunDetail)
def read(request: HttpRequest, run_id: uuid.UUID) -> RunDetail:
    return RunDetail.of(run_of(request.auth.lab, run_id))


@router.get("/{uuid:run_id}/notes", response=Noted, summary="The notes on a run")
def notes(request: HttpRequest, run_id: uuid.UUID) -> Noted:
    return Noted(notes=run_of(request.auth.lab, run_id).notes)


@router.put("/{uuid:run_id}/notes", response=Noted, summary="Change the notes on a run; 409 if someone else changed them in between")
def note(request: HttpRequest, run_id: uuid.UUID, body: Notes) -> Noted:
    run = run_of(request.auth.lab, run_id)
    if not Run.objects.filter(pk=run.pk, notes=body.was).update(notes=body.text):
        run.refresh_from_db(fields=["notes"])
        raise Problem409(f"someone else changed the notes on run {run.number} in the meantime; nothing was stored", notes=run.notes)
    announce(connection(), run.pk)
    return Noted(notes=body.text)


@router.post(
    "/{uuid:run_id}/cancel", response={202: RunDetail}, summary="Cancel; takes effect within a second and keeps the measurements so far"
)
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
    again, note = submission.submit(run.experiment, run.document, lab, wanted.seed, wanted.pace, request.auth.user.get_username())
    return Status(201, RunDetail.of_new(again, note))


@router.post("/{uuid:run_id}/fork", response={201: RunDetail}, summary="Fork a run at a point in time, with another load or with faults")
def fork(request: HttpRequest, run_id: uuid.UUID, body: Forked) -> Status:
    lab = request.auth.lab
    try:
        made, note = submission.fork(run_of(lab, run_id), body, lab, body.pace, request.auth.user.get_username())
    except Refusal as refusal:
        problem = Problem(pointer(*refusal.at), refusal.code, str(refusal), refusal.value, refusal.hint)
        raise Problem422(str(refusal), [problem.as_dict()]) from None
    return Status(201, RunDetail.of_new(made, note))


@router.delete("/{uuid:run_id}", response={204: None}, summary="Delete; an active run is cancelled")
def delete(request: HttpRequest, run_id: uuid.UUID) -> Status:
    lab = request.auth.lab
    bulk.delete(lab, bulk.of_lab(lab, [run_of(lab, run_id).pk]))
    announce(connection(), run_id)
    return Status(204, None)


@router.get("/{uuid:run_id}/frames", summary="Frames after a number, in order", response=FramePage)
def frames(request: HttpRequest, run_id: uuid.UUID, after: Query[int] = -1, limit: Query[int] = 1000) -> HttpResponse:
    """`next` is the `after` of the next call, or null once the run has ended and no frames are left."""
    run = run_of(request.auth.lab, run_id)
    ended = not run.active  # checked before reading frames: the next call finds frames that arrive in between
    texts = history.frames_after(run.pk, run.directory, max(after, -1), min(max(limit, 1), 10_000))
    last = max(after, -1) + len(texts)
    exhausted = ended and last + 1 >= run.frames
    body = f'{{"frames":[{",".join(texts)}],"next":{json.dumps(None if exhausted or (ended and not texts) else last)}}}'
    return HttpResponse(body, content_type="application/json")


@router.get(
    "/{uuid:run_id}/export",
    summary="Frames as CSV or Parquet, everything as JSON, the document as YAML or Python, a report as HTML, a citation",
)
def exported(
    request: HttpRequest, run_id: uuid.UUID, format: Query[Literal["csv", "parquet", "json", "yaml", "py", "html", "bib"]]
) -> HttpResponse:
    run = run_of(request.auth.lab, run_id)
    write, type = FORMATS[format]
    try:
        content = write(run)
    except FramesGone as gone:
        raise Problem409(str(gone)) from None
    return as_file(content, f"run-{run.number}-seed-{run.seed}.{format}", type)


def run_of(lab: Lab, run_id: uuid.UUID) -> Run:
    found = Run.objects.filter(pk=run_id, lab=lab, deleted_at__isnull=True).select_related("experiment").first()
    if found is None:
        raise Problem404(f"there is no run {run_id} in this lab; it may have been deleted")
    return found

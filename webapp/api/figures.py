"""Figures of papers: their claims, the measured values and which claims hold. Workers or `manage.py reproduce` reproduce them."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime
from typing import Annotated, Any, Literal, NotRequired, get_args

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from ninja import Status as Answer
from typing_extensions import TypeAliasType, TypedDict

from engine.spec.base.problems import suggestion
from engine.spec.figure.figure import Scale, study_at
from webapp.lab import figures
from webapp.lab.models import FigureResult, Lab, Reproduction, Run, RunState
from webapp.lab.models.work import ACTIVE
from webapp.lab.schemas import ReproductionShape
from webapp.lab.waiting_work import enqueue
from webapp.lib.described import AsIs, JsonObject
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row
from webapp.reports.report import of_figure

from .errors import Problem404, Problem422
from .files import as_file
from .parsing import Body

router = Router()


Status = Literal["reproduced", "calibrated", "partly", "not reproduced", "not evaluated", "not run"]
AssertionState = Literal["holds", "fails", "not evaluated", "not run"]


class NumberValue(TypedDict):
    """runs: keys (hashes of document and seed) of the runs that the value was computed from. at_least: it was still growing when its run
    ended, so it is this, or more."""

    value: float
    low: NotRequired[float]
    high: NotRequired[float]
    runs: NotRequired[list[str]]
    at_least: NotRequired[bool]


class SeriesValue(TypedDict):
    """runs: keys, one list per point or one list for all points. at_least: which y are this, or more."""

    x: list[float | str]
    y: list[float]
    low: NotRequired[list[float | None]]
    high: NotRequired[list[float | None]]
    runs: NotRequired[list[list[str]]]
    at_least: NotRequired[list[bool]]


class NoValue(TypedDict):
    """No value, and why."""

    reason: str


FigureValue = TypeAliasType("FigureValue", NumberValue | SeriesValue | NoValue)


class FigureSource(Schema):
    paper: str
    figure: str
    section: str
    page: str


AssertionCounts = TypedDict("AssertionCounts", dict.fromkeys(get_args(AssertionState), NotRequired[int]))  # type: ignore[misc]


class ShippedShape(Schema):
    """The result that comes with Millrace, at its largest scale. is_current: measured by this version of the engine."""

    scale: Scale
    status: Status
    engine_version: str
    is_current: bool
    created_at: datetime


class FigureItem(Schema):
    """A figure in a list. status: reproduced, calibrated, partly, not reproduced, not evaluated (none of its assertions was), or not run.
    scale and the fields after it describe the result that counts: the lab's newest at the largest scale, or, if the lab has none, the one
    that comes with Millrace (is_shipped); null without either. assertions: number in each state, without consistency checks. lacking: ids
    of assertions that do not hold. under_way: reproductions in progress."""

    id: str
    title: str
    source: FigureSource
    status: Status
    scale: Scale | None
    engine_version: str | None
    seeds: list[int] | None
    runs: int | None
    took_s: float | None
    created_at: datetime | None
    is_shipped: bool
    shipped: ShippedShape | None
    assertions: Annotated[dict[str, int], AsIs(AssertionCounts)]
    lacking: list[str]
    under_way: list[ReproductionShape]


class FigureSide(Schema):
    """most: null for a number that is only known to be at least `least`."""

    text: str
    least: float
    most: float | None


class UnmetShape(TypedDict):
    """Why an assertion does not hold, by its author, and on which day that was written."""

    why: str
    on: date


class FigureAssertion(Schema):
    """state: holds, fails, not evaluated (reason says why), or not run. sides: the values compared; for a series, its minimum and
    maximum. consistency: true by construction, and not counted."""

    id: str
    text: str
    check: str
    tolerance: float | None
    state: AssertionState
    sides: list[FigureSide]
    reason: str
    consistency: bool
    unmet: Annotated[dict[str, Any] | None, AsIs(UnmetShape | None)]


class FigureResultShape(Schema):
    """A result. stale: the figure has changed since. is_shipped: it comes with Millrace. is_current: measured by this version of the
    engine."""

    scale: Scale
    status: Status
    engine_version: str
    seeds: list[int]
    runs: int
    took_s: float
    created_at: datetime
    stale: bool
    is_shipped: bool
    is_current: bool


class RunBehind(Schema):
    id: str
    number: int
    seed: int
    state: RunState


class FigureDetail(Schema):
    """document: the figure as written. is_shipped: what follows is the result that comes with Millrace, since the lab has none. agrees: the
    lab's result has the same values as that; null without both at one scale. values: by name; their `runs` are keys (hashes of document and
    seed). lab_runs: runs of this lab with these keys, by key; a key without a run in this lab is missing. results: the lab's, newest first,
    then those that come with Millrace."""

    id: str
    document: JsonObject
    status: Status
    scale: Scale | None
    is_shipped: bool
    agrees: bool | None
    values: Annotated[dict[str, Any], AsIs(dict[str, FigureValue])]
    assertions: list[FigureAssertion]
    lab_runs: dict[str, RunBehind]
    results: list[FigureResultShape]


class AtScale(Schema):
    document: JsonObject


class ScaleQuery(Schema):
    scale: Scale | None = None


RESULTS_MAX = 100
HOLDS = "holds"


@router.get("", response=list[FigureItem], summary="All figures with their status")
def listing(request: HttpRequest, prefix: Query[str] = "") -> list[FigureItem]:
    with told_plainly():
        known = figures.all_known(figures.FILES.ids(prefix), request.auth.lab)
    under_way = active(request.auth.lab)
    return [item(one, under_way[one.figure.id]) for one in known]


@router.get("/{str:paper}/{str:figure}", response=FigureDetail, summary="A figure with its values, assertions and results")
def read(request: HttpRequest, paper: str, figure: str, which: Query[ScaleQuery]) -> FigureDetail:
    lab, id = request.auth.lab, known_id(paper, figure)
    known = figures.known(id, lab, which.scale)
    values = known.result.values if known.result else {}
    return FigureDetail(
        id=id,
        document=figures.FILES.document(id),
        status=known.status,
        scale=known.scale,
        is_shipped=known.is_shipped,
        agrees=agrees(known),
        values=values,
        assertions=[FigureAssertion(**assertion) for assertion in known.assertions],
        lab_runs=lab_runs(lab, keys_of(values)),
        results=results(lab, known),
    )


@router.get("/{str:paper}/{str:figure}/report", summary="The figure and its result as one HTML file")
def reported(request: HttpRequest, paper: str, figure: str, which: Query[ScaleQuery]) -> HttpResponse:
    known = figures.known(known_id(paper, figure), request.auth.lab, which.scale)
    name = "-".join(["figure", paper, figure, *([known.scale] if known.scale else [])])
    return as_file(of_figure(known), f"{name}.html")


@router.get(
    "/{str:paper}/{str:figure}/studies/{str:study}", response=AtScale, summary="The document of one of its studies at a given scale"
)
def study(request: HttpRequest, paper: str, figure: str, study: str, which: Query[ScaleQuery]) -> AtScale:
    read, _ = figures.outline(known_id(paper, figure))
    if study not in read.studies:
        raise Problem404(f"{read.id} has no study '{study}'; {suggestion(study, read.studies)}")
    return AtScale(document=study_at(read, study, which.scale or "dev", figures.FILES.experiment))


class Wanted(Body):
    scale: Scale


LISTED_MAX = 20
QUEUE_AWAY = "the queue is unreachable; the reproduction is stored and starts when the queue is back"


@router.get(
    "/{str:paper}/{str:figure}/reproductions", response=list[ReproductionShape], summary="Reproductions of the figure, newest first"
)
def reproductions(request: HttpRequest, paper: str, figure: str) -> list[ReproductionShape]:
    found = Reproduction.objects.filter(lab=request.auth.lab, figure=known_id(paper, figure)).order_by("-created_at")
    return [ReproductionShape.of(row) for row in found[:LISTED_MAX]]


@router.post(
    "/{str:paper}/{str:figure}/reproductions",
    response={200: ReproductionShape, 201: ReproductionShape},
    summary="Reproduce the figure at a scale",
)
def carry_out(request: HttpRequest, paper: str, figure: str, body: Wanted) -> Answer:
    """A worker runs it. 200: a reproduction at this scale is already in progress."""
    wanted = {"lab": request.auth.lab, "figure": known_id(paper, figure), "scale": body.scale}
    under_way = Reproduction.objects.filter(**wanted, state__in=ACTIVE, cancel_requested=False).first()
    if under_way is not None:
        return Answer(200, ReproductionShape.of(under_way))
    row = Reproduction.objects.create(**wanted)
    queued = enqueue(row.pk, Reproduction)
    announce_row(connection(), "reproduction", row.pk)
    row.refresh_from_db()
    return Answer(201, ReproductionShape.of(row, None if queued else QUEUE_AWAY))


@router.post(
    "/{str:paper}/{str:figure}/reproductions/{uuid:id}/cancel",
    response={202: ReproductionShape},
    summary="Cancel; takes effect within a second",
)
def cancel(request: HttpRequest, paper: str, figure: str, id: uuid.UUID) -> Answer:
    row = Reproduction.objects.filter(pk=id, lab=request.auth.lab, figure=f"{paper}/{figure}").first()
    if row is None:
        raise Problem404(f"figure '{paper}/{figure}' has no reproduction {id} in this lab")
    figures.cancel(row)
    row.refresh_from_db()
    return Answer(202, ReproductionShape.of(row))


def known_id(paper: str, figure: str) -> str:
    id = f"{paper}/{figure}"
    if id not in (ids := figures.FILES.ids()):
        raise Problem404(f"there is no figure '{id}'; {suggestion(id, ids)}")
    with told_plainly():
        figures.outline(id)
    return id


@contextmanager
def told_plainly() -> Iterator[None]:
    try:
        yield
    except figures.InvalidFigure as invalid:
        raise Problem422(invalid.detail, [problem.as_dict() for problem in invalid.problems]) from None


def active(lab: Lab) -> defaultdict[str, list[ReproductionShape]]:
    """Reproductions in progress, by figure, oldest first."""
    found: defaultdict[str, list[ReproductionShape]] = defaultdict(list)
    for row in Reproduction.objects.filter(lab=lab, state__in=ACTIVE).order_by("created_at"):
        found[row.figure].append(ReproductionShape.of(row))
    return found


def item(known: figures.Known, under_way: list[ReproductionShape]) -> FigureItem:
    result, figure = known.result, known.figure
    states = [assertion["state"] for assertion in known.counted]
    return FigureItem(
        id=figure.id,
        title=figure.title,
        source=FigureSource(**figure.source.model_dump()),
        status=known.status,
        scale=known.scale,
        engine_version=result.engine_version if result else None,
        seeds=result.seeds if result else None,
        runs=result.runs if result else None,
        took_s=result.took_s if result else None,
        created_at=result.created_at if result else None,
        is_shipped=known.is_shipped,
        shipped=shipped_shape(known.shipped) if known.shipped else None,
        assertions={state: states.count(state) for state in dict.fromkeys(states)},
        lacking=[assertion["id"] for assertion in known.assertions if assertion["state"] != HOLDS] if result else [],
        under_way=under_way,
    )


def shipped_shape(result: FigureResult) -> ShippedShape:
    named = {name: getattr(result, name) for name in ("scale", "status", "engine_version", "created_at")}
    return ShippedShape(**named, is_current=result.engine_version == figures.version(result.figure))


def results(lab: Lab, known: figures.Known) -> list[FigureResultShape]:
    id = known.figure.id
    _, identities = figures.outline(id)
    found = FigureResult.objects.filter(lab=lab, figure=id).defer("values", "assertions").order_by("-created_at", "-pk")[:RESULTS_MAX]
    names = ("scale", "status", "engine_version", "seeds", "runs", "took_s", "created_at")

    def shape(one: FigureResult) -> FigureResultShape:
        return FigureResultShape(
            **{name: getattr(one, name) for name in names},
            stale=one.hash not in identities.values(),
            is_shipped=one.pk is None,
            is_current=one.engine_version == figures.version(id),
        )

    own = list(found)
    if known.own is not None and known.own.pk not in [one.pk for one in own]:
        own.append(known.own)  # an old one, of a large scale
    return list(map(shape, [*own, *figures.shipped(id).values()]))


def agrees(known: figures.Known) -> bool | None:
    own, shipped = known.own, known.shipped
    return figures.agree(own, shipped) if own and shipped and own.scale == shipped.scale else None


def keys_of(values: dict[str, Any]) -> set[str]:
    """Keys of the runs that values were computed from: a list for a number, a list per point for a series."""
    keys: set[str] = set()
    for value in values.values():
        for run in value.get("runs", []):
            keys |= {run} if isinstance(run, str) else set(run)
    return keys


def lab_runs(lab: Lab, keys: set[str]) -> dict[str, RunBehind]:
    found = Run.objects.filter(lab=lab, hash__in=keys, deleted_at__isnull=True).order_by("number").only("number", "seed", "state", "hash")
    return {run.hash: RunBehind(id=str(run.pk), number=run.number, seed=run.seed, state=run.state) for run in found}

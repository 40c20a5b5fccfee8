"""Studies: check, start, follow, stop, and read results."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Query, Router, Schema, Status
from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from engine import studies as plan
from engine.spec.study.optimisation import Optimise
from engine.spec.study.schema import study_schema
from webapp.accounts.rights import Right
from webapp.lab import studies
from webapp.lab.models import Lab, RunState, Study
from webapp.lab.schemas import Kind, Predictions, Problem, StudyDetail, StudyShape
from webapp.lab.verdicts import counted
from webapp.lib.described import AsIs, JsonObject
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_lists
from webapp.reports.report import of_study

from .authentication import Needs
from .errors import Problem404, Problem409, Problem422
from .experiments import experiment_of
from .files import as_file
from .parsing import Body

router = Router()

METRICS_MAX = 20
TRIALS_MAX = 500
"""Maximum number of trials per response, unless a single point has more."""


class NewStudy(Body):
    document: dict[str, Any]
    experiment: uuid.UUID | None = None
    predictions: Predictions | None = None


class Question(Body):
    document: dict[str, Any]


class Checked(Schema):
    """points: number of points of the design. runs: lower bound on the number of runs; a search makes more at each point. first: values of
    the first points, empty for an optimisation. metrics: metrics that runs of its experiment measure, empty if the experiment is
    invalid."""

    problems: list[Problem]
    points: int | None
    runs: int | None
    first: list[JsonObject]
    metrics: list[str]


class StudyCatalogue(TypedDict):
    """document: JSON Schema of a study's document. values, designs, searches: the available kinds of each part."""

    document: JsonObject
    values: list[Kind]
    designs: list[Kind]
    searches: list[Kind]


class StudyPage(Schema):
    items: list[StudyShape]
    count: int


class Interval(BaseModel):
    mean: float
    low: float | None
    high: float | None
    count: int


class RunOf(BaseModel):
    """state: the run's state; a failed run stalled or ran out of memory, which is a result. failure: why there is no result."""

    seed: int
    values: JsonObject
    run: str | None
    number: int | None
    state: RunState | None
    reused: bool
    metrics: dict[str, float]
    failure: str | None


class AssertionCount(BaseModel):
    """Runs of a point in which an assertion of the experiment holds, fails and cannot be judged."""

    name: str
    holds: int
    fails: int
    not_judged: int


class Point(BaseModel):
    """assertions: counted over the runs that have ended."""

    point: int
    values: JsonObject
    share: float | None
    runs: list[RunOf]
    over_seeds: dict[str, Interval]
    assertions: list[AssertionCount]


class Tried(BaseModel):
    load: float
    sustained: bool
    reasons: list[str]
    figures: dict[str, float]
    run: str | None
    number: int | None


class Found(BaseModel):
    """sustained: largest sustained load. failed: smallest load above it that was not sustained. over: the search has ended."""

    point: int
    values: JsonObject
    seed: int
    sustained: float | None
    failed: float | None
    over: bool
    failure: str | None
    tried: list[Tried]


class Results(BaseModel):
    """next: the `offset` of the next call, or null if nothing is left. count: number of points of the study."""

    points: list[Point]
    found: list[Found]
    next: int | None
    count: int


class TriedPoint(BaseModel):
    """objectives, bounds: values over the seeds, in document order; null where not available (yet). feasible: all values are available and
    all bounds hold. failure: why the point does not count."""

    point: int
    values: JsonObject
    ended: bool
    objectives: list[float | None]
    bounds: list[float | None]
    feasible: bool
    failure: str | None


class Optimisation(BaseModel):
    """trials: chosen so far, in order. best: points that no other feasible point dominates."""

    trials: list[TriedPoint]
    best: list[int]


@router.get("", response=StudyPage, summary="All studies, newest first")
def listing(request: HttpRequest, limit: Query[int] = 50, offset: Query[int] = 0) -> StudyPage:
    found = Study.objects.filter(lab=request.auth.lab, deleted_at__isnull=True).defer("document", "predictions").order_by("-created_at")
    first = max(offset, 0)
    items = found[first : first + min(max(limit, 1), 200)]
    return StudyPage(items=[StudyShape.of(study) for study in items], count=found.count())


@router.get(
    "/schema",
    summary="JSON Schema of a study's document, and the kinds of values, designs and searches",
    response=Annotated[Any, AsIs(StudyCatalogue)],
)
def schema(request: HttpRequest) -> dict[str, Any]:
    return study_schema()


@router.post("/validate", auth=Needs(Right.READ), response=Checked, summary="Validate a study and report its size")
def validate(request: HttpRequest, body: Question) -> Checked:
    study, problems = studies.examine(body.document, request.auth.lab)
    metrics = studies.metrics_measured(body.document, request.auth.lab)
    if study is None:
        return Checked(problems=problems, points=None, runs=None, first=[], metrics=metrics)
    count = study.point_count
    return Checked(problems=problems, points=count, runs=count * len(study.seeds), first=study.points(count=20), metrics=metrics)


@router.post("", response={201: StudyDetail}, summary="Start a study")
def create(request: HttpRequest, body: NewStudy) -> Status:
    lab = request.auth.lab
    experiment = experiment_of(lab, body.experiment) if body.experiment else None
    try:
        author = request.auth.user.get_username()
        study = studies.create(lab, body.document, experiment, author=author, predictions=body.predictions)
    except studies.RefusedStudy as refused:
        raise Problem422("the study has errors and cannot start; see problems", refused.problems) from None
    return Status(201, StudyDetail.of(study))


@router.get("/{uuid:study_id}", response=StudyDetail)
def read(request: HttpRequest, study_id: uuid.UUID) -> StudyDetail:
    study = study_of(request.auth.lab, study_id)
    return StudyDetail.of(study, studies.metric_names(study))


class ResultsQuery(Schema):
    """metric: metric names, as in the run summaries. limit and offset count points; fewer are returned if points have many runs."""

    metric: list[str] = Field([], max_length=METRICS_MAX)
    limit: int = Field(500, ge=1, le=5000)
    offset: int = Field(0, ge=0, le=10**9)


@router.get("/{uuid:study_id}/results", response=Results, summary="Results so far, by point")
def results(request: HttpRequest, study_id: uuid.UUID, which: Query[ResultsQuery]) -> Results:
    study = study_of(request.auth.lab, study_id)
    found = studies.results(study, which.metric, which.offset, which.limit, TRIALS_MAX)
    return Results(
        points=point_shapes(found.points, which.metric, studies.assertions_of(study)),
        found=[found_shape(one, found.trials) for one in found.found],
        next=found.next,
        count=studies.document_of(study.pk).point_count,
    )


@router.get("/{uuid:study_id}/optimisation", response=Optimisation, summary="Trials of an optimisation so far, and the best ones")
def optimisation(request: HttpRequest, study_id: uuid.UUID) -> Optimisation:
    study = study_of(request.auth.lab, study_id)
    design = studies.document_of(study.pk).design
    if not isinstance(design, Optimise):
        raise Problem404(f"study {study_id} has the design '{design.kind}'; only studies with the design 'optimise' have trials to compare")
    trials = studies.trials_of(study)
    shapes = [
        TriedPoint(
            point=trial.number,
            values=trial.values,
            ended=trial.ended,
            objectives=list(trial.objectives),
            bounds=list(trial.bounds),
            feasible=trial.feasible(design),
            failure=trial.failure or None,
        )
        for trial in trials
    ]
    return Optimisation(trials=shapes, best=plan.best(design, trials))


@router.get("/{uuid:study_id}/report", summary="Report of the results so far as one HTML file")
def reported(request: HttpRequest, study_id: uuid.UUID) -> HttpResponse:
    study = study_of(request.auth.lab, study_id)
    return as_file(of_study(study), f"study-{study.created_at:%Y-%m-%d}-{str(study.pk)[:8]}.html")


@router.post("/{uuid:study_id}/cancel", response={202: StudyDetail}, summary="Cancel the study and its runs; results so far stay")
def cancel(request: HttpRequest, study_id: uuid.UUID) -> Status:
    study = study_of(request.auth.lab, study_id)
    studies.cancel(study)
    return Status(202, StudyDetail.of(study))


@router.post("/{uuid:study_id}/retry", response={202: StudyDetail}, summary="Repeat failed runs, or resume a cancelled study")
def retry(request: HttpRequest, study_id: uuid.UUID) -> Status:
    study = study_of(request.auth.lab, study_id)
    if not studies.retry(study):
        raise Problem409("this study has nothing to retry: it is in progress, or all its runs are complete")
    return Status(202, StudyDetail.of(study))


@router.delete("/{uuid:study_id}", response={204: None}, summary="Delete; its runs stay, and runs in progress are cancelled")
def delete(request: HttpRequest, study_id: uuid.UUID) -> Status:
    study = study_of(request.auth.lab, study_id)
    studies.cancel(study)
    Study.objects.filter(pk=study.pk).update(deleted_at=timezone.now())
    announce_lists(connection(), request.auth.lab.pk)
    return Status(204, None)


@router.post("/{uuid:study_id}/restore", response={204: None}, summary="Undo a deletion")
def restore(request: HttpRequest, study_id: uuid.UUID) -> Status:
    if not Study.objects.filter(pk=study_id, lab=request.auth.lab).update(deleted_at=None):
        raise Problem404(f"there is no study {study_id} in this lab")
    announce_lists(connection(), request.auth.lab.pk)
    return Status(204, None)


def point_shapes(points: list[studies.PointResult], metrics: list[str], assertions: list[str]) -> list[Point]:
    known = [(n, metric, values) for n, point in enumerate(points) for metric in metrics if (values := point.over_seeds(metric))]
    over_seeds: list[dict[str, Interval]] = [{} for _ in points]
    for (n, metric, _), interval in zip(known, plan.intervals([values for *_, values in known]), strict=True):
        over_seeds[n][metric] = Interval(**vars(interval))
    return [point_shape(point, of, assertions) for point, of in zip(points, over_seeds, strict=True)]


def point_shape(point: studies.PointResult, over_seeds: dict[str, Interval], assertions: list[str]) -> Point:
    return Point(
        point=point.point,
        values=point.values,
        share=point.share,
        runs=[
            RunOf(
                seed=row.seed,
                values=row.values,
                run=str(trial.run_id) if trial.run_id else None,
                number=trial.run_number,
                state=trial.run_state,
                reused=trial.reused,
                metrics=row.metrics,
                failure=row.failure or None,
            )
            for row, trial in point.rows
        ],
        over_seeds=over_seeds,
        assertions=[AssertionCount(**one) for one in counted(assertions, [trial.run_verdicts for _, trial in point.rows])],
    )


def found_shape(found: plan.Found, trials: dict[plan.TrialId, studies.TrialRow]) -> Found:
    tried = []
    for load, sustained, reasons in found.tried:
        trial = trials[found.point, found.seed, load]
        run = str(trial.run_id) if trial.run_id else None
        figures = trial.verdict["figures"] if trial.verdict else {}
        tried.append(Tried(load=load, sustained=sustained, reasons=list(reasons), figures=figures, run=run, number=trial.run_number))
    return Found(
        point=found.point,
        values=found.values,
        seed=found.seed,
        sustained=found.bracket.sustained,
        failed=found.bracket.failed,
        over=found.bracket.wanted is None,
        failure=found.failure or None,
        tried=tried,
    )


def study_of(lab: Lab, study_id: uuid.UUID) -> Study:
    found = Study.objects.filter(pk=study_id, lab=lab, deleted_at__isnull=True).first()
    if found is None:
        raise Problem404(f"there is no study {study_id} in this lab; it may have been deleted")
    return found

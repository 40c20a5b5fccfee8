"""Analyses over many runs: the questions, and the selection of runs. Spark computes the answers (`workers.spark`)."""

from __future__ import annotations

import uuid
from typing import Annotated, Literal

from django.db.models import QuerySet
from pydantic import Field, StringConstraints, TypeAdapter

from engine.spec.base.operator import Model
from engine.spec.base.problems import Refusal, refusals_below, suggestion
from engine.spec.experiment.spans import Span
from webapp.lab.conditions import parameter_named
from webapp.lab.models import FieldName, Lab, Run, SparkJob
from webapp.lab.run_search import Filter, SearchText, find
from webapp.lab.search_values import BadCondition
from webapp.lab.waiting_work import enqueue
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row

RUNS_MAX = 10_000
"""Maximum number of runs per question."""
CELLS_MAX = 10_000
IDS_MAX = 1000
"""Maximum number of runs that a question names one by one."""
METRICS_MAX = 20

OF_SPAN = {
    "p50_ms": "Latency p50",
    "p95_ms": "Latency p95",
    "p99_ms": "Latency p99",
    "max_ms": "Latency max",
    "offered_per_s": "Offered",
    "in_per_s": "Records in",
    "out_per_s": "Delivered",
    "samples": "Samples",
    "recovery_s": "Longest recovery",
}
"""Metrics of a run that are computed over the span of the question; all others come from its summary."""

NEWS = "analysis"
Text = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00]*$")]
Metric = Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00]*$")]


class RunsAsked(Model):
    """Selection of runs that ended in `state`: by ids, or by the search of the run list."""

    ids: tuple[uuid.UUID, ...] | None = Field(default=None, min_length=1, max_length=IDS_MAX)
    search: SearchText = ""
    state: Literal["succeeded", "failed", "cancelled"] = "succeeded"
    experiment: uuid.UUID | None = None
    study: uuid.UUID | None = None
    of_studies: bool = True
    tag: Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")] = ""

    def find(self, lab: Lab) -> QuerySet[Run]:
        """Return the selected runs of the lab, unordered, without runs whose frames were removed. Raises Refusal."""
        fields = {name: getattr(self, name) for name in ("search", "experiment", "study", "of_studies", "tag")}
        try:
            found = find(lab, Filter(**fields)).filter(state=self.state, frames_removed_at__isnull=True).prefetch_related(None)
        except BadCondition as bad:
            raise Refusal(str(bad), at=("search",), code="bad_condition", value=self.search) from None
        return found if self.ids is None else found.filter(pk__in=self.ids)


class QuestionAbout(Model):
    runs: RunsAsked = RunsAsked()
    span: Span = Span()


class SummariesQuestion(QuestionAbout):
    """Summary of each run over the span, and of all runs together."""

    kind: Literal["summaries"]


class ComparisonQuestion(QuestionAbout):
    """Comparison of two sets of runs, with significance."""

    kind: Literal["comparison"]
    against: RunsAsked
    metrics: tuple[Metric, ...] = Field(default=("p50_ms", "p99_ms", "out_per_s"), min_length=1, max_length=METRICS_MAX)


class SurfaceQuestion(QuestionAbout):
    """Mean of a metric over two parameters of the runs' documents."""

    kind: Literal["surface"]
    x: Text = Field(min_length=1)
    y: Text = Field(min_length=1)
    metric: Metric = "p99_ms"


class StatisticsQuestion(QuestionAbout):
    """Metrics of all runs, grouped by experiment or by a document parameter."""

    kind: Literal["statistics"]
    by: Text = Field(default="experiment", min_length=1)
    metrics: tuple[Metric, ...] = Field(default=("p50_ms", "p99_ms", "out_per_s"), min_length=1, max_length=METRICS_MAX)


AnyQuestion = SummariesQuestion | ComparisonQuestion | SurfaceQuestion | StatisticsQuestion
Question = Annotated[AnyQuestion, Field(discriminator="kind")]
QUESTION: TypeAdapter[AnyQuestion] = TypeAdapter(Question)


def ask(lab: Lab, question: AnyQuestion) -> tuple[SparkJob, bool]:
    """Store a question and enqueue it for the analysis worker. Also returns whether it was enqueued; if not, it waits for the queue. Raises
    Refusal."""
    check(lab, question)
    job = SparkJob.objects.create(lab=lab, question=question.model_dump(mode="json"))
    queued = enqueue(job.pk, SparkJob)
    announce_row(connection(), NEWS, job.pk)
    job.refresh_from_db()
    return job, queued


def check(lab: Lab, question: AnyQuestion) -> None:
    """Check that the question can be answered. Raises Refusal, with the place in the question."""
    sets = {"runs": question.runs} | ({"against": question.against} if isinstance(question, ComparisonQuestion) else {})
    for name, runs in sets.items():
        with refusals_below(name):
            count = runs.find(lab).count()
            if count == 0:
                raise Refusal("no runs match; change the selection", code="no_runs")
            refuse_too_many(count)
    asked = (
        [question.metric] if isinstance(question, SurfaceQuestion) else [] if isinstance(question, SummariesQuestion) else question.metrics
    )
    for number, metric in enumerate(asked):
        if metric not in OF_SPAN and not FieldName.objects.filter(lab=lab, name=metric).exists():
            known = [*OF_SPAN, *FieldName.objects.filter(lab=lab).exclude(name__startswith="/").values_list("name", flat=True)[:2000]]
            at = ("metric",) if isinstance(question, SurfaceQuestion) else ("metrics", number)
            raise Refusal(f"no run has a metric '{metric}'; {suggestion(metric, known)}", at=at, code="unknown_metric", value=metric)
    if isinstance(question, SurfaceQuestion):
        for name in ("x", "y"):
            with refusals_below(name):
                parameter(lab, getattr(question, name))
        if question.x == question.y:
            raise Refusal("x and y are the same parameter; choose two", at=("y",), code="same_parameter", value=question.y)
    if isinstance(question, StatisticsQuestion) and question.by != "experiment":
        with refusals_below("by"):
            parameter(lab, question.by)


def refuse_too_many(count: int) -> None:
    """Raises Refusal if one set of a question has more runs than that."""
    if count > RUNS_MAX:
        raise Refusal(f"{count:,} runs match; select at most {RUNS_MAX:,}", code="too_many", value=count)


def parameter(lab: Lab, name: str) -> int:
    """Return the one parameter that a name means. Raises Refusal."""
    try:
        return parameter_named(lab, name)
    except BadCondition as bad:
        raise Refusal(str(bad), code="bad_parameter", value=name) from None


def cancel(job: SparkJob) -> None:
    """Cancel the job after the batch in progress."""
    SparkJob.objects.request_cancel(job.pk)
    announce_row(connection(), NEWS, job.pk)
    job.refresh_from_db()

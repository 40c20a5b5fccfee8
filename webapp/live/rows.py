"""Rows as the API returns them, read for the event loop."""

from __future__ import annotations

import uuid
from collections.abc import Set
from typing import Any

from channels.db import database_sync_to_async
from django.db.models import Q

from webapp.lab.models import CalibrationJob, Experiment, LearningJob, Reproduction, Run, SparkJob, SparkRun, Study, Waterfalls
from webapp.lab.models.work import is_active
from webapp.lab.schemas import (
    CalibrationJobShape,
    ExperimentNews,
    LearningJobShape,
    PresenceShape,
    ReproductionShape,
    RunShape,
    SparkJobShape,
    SparkRunShape,
    StudyShape,
    WaterfallsShape,
)

from .news import Rows


@database_sync_to_async
def run_row(run_id: uuid.UUID) -> dict[str, Any] | None:
    run = Run.objects.defer("document").filter(pk=run_id, deleted_at__isnull=True).first()
    return RunShape.of(run).model_dump(mode="json") if run else None


@database_sync_to_async
def rows_of_lab(lab_id: int, named: Set[tuple[str, str]]) -> Rows:
    """Return the lab's active rows and the named rows."""
    rows: Rows = {}
    # Asked for without the lab: SQLite would take the lab's index, and read all of its runs.
    in_progress = Run.objects.filter(is_active(), deleted_at__isnull=True).values_list("pk", flat=True)
    runs = Run.objects.filter(lab=lab_id, pk__in=[*in_progress, *_ids(named, "run")]).defer("document").prefetch_related("tags")
    for run in runs.order_by("number"):
        rows["run", str(run.pk)] = None if run.deleted_at else RunShape.of(run).model_dump(mode="json")
    for experiment in Experiment.objects.filter(lab=lab_id, pk__in=_ids(named, "experiment")).defer("document"):
        rows["experiment", str(experiment.pk)] = None if experiment.deleted_at else ExperimentNews.of(experiment).model_dump(mode="json")
    for id in Experiment.objects.filter(lab=lab_id, pk__in=_ids(named, "presence")).values_list("pk", flat=True):
        rows["presence", str(id)] = PresenceShape.of(id).model_dump(mode="json")
    questions = Waterfalls.objects.filter(run__lab=lab_id).filter(_wanted(named, "question"))
    for question in questions.order_by("created_at"):
        rows["question", str(question.pk)] = None if question.deleted_at else WaterfallsShape.of(question).model_dump(mode="json")
    for study in Study.objects.filter(lab=lab_id).filter(_wanted(named, "study")).defer("document").order_by("created_at"):
        rows["study", str(study.pk)] = None if study.deleted_at else StudyShape.of(study).model_dump(mode="json")
    for row in Reproduction.objects.filter(lab=lab_id).filter(_wanted(named, "reproduction")).order_by("created_at"):
        rows["reproduction", str(row.pk)] = None if row.deleted_at else ReproductionShape.of(row).model_dump(mode="json")
    for job in SparkJob.objects.filter(lab=lab_id).filter(_wanted(named, "analysis")).order_by("created_at"):
        rows["analysis", str(job.pk)] = None if job.deleted_at else SparkJobShape.of(job).model_dump(mode="json")
    for job in LearningJob.objects.filter(lab=lab_id).filter(_wanted(named, "learning")).order_by("created_at"):
        rows["learning", str(job.pk)] = None if job.deleted_at else LearningJobShape.of(job).model_dump(mode="json")
    for query in SparkRun.objects.filter(run__lab=lab_id).filter(_wanted(named, "spark_run")).order_by("created_at"):
        rows["spark_run", str(query.pk)] = None if query.deleted_at else SparkRunShape.of(query).model_dump(mode="json")
    for job in CalibrationJob.objects.filter(lab=lab_id).filter(_wanted(named, "calibration")).order_by("created_at"):
        rows["calibration", str(job.pk)] = None if job.deleted_at else CalibrationJobShape.of(job).model_dump(mode="json")
    return rows


def _wanted(named: Set[tuple[str, str]], kind: str) -> Q:
    active = Q(is_active(), deleted_at__isnull=True)
    ids = _ids(named, kind)
    return active | Q(pk__in=ids) if ids else active


def _ids(named: Set[tuple[str, str]], kind: str) -> list[str]:
    return [id for one, id in named if one == kind]

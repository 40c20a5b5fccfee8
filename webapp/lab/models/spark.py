"""Spark jobs: analyses over many runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from .people import Lab
from .work import Work


class SparkJob(Work):
    """One analysis and its progress. The answer is a file."""

    TASK: ClassVar[str] = "workers.spark_job"
    QUEUE: ClassVar[str] = "spark"

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    question = models.JSONField()  # webapp.reports.analysis
    progress = models.FloatField(default=0.0)  # fraction of the new runs summarised so far, 0 to 1
    runs = models.PositiveIntegerField(null=True)  # number of runs it covers; null until it has selected them
    read = models.PositiveIntegerField(null=True)  # number of runs whose files it reads; the others were cached

    class Meta:
        indexes = [models.Index(fields=["lab", "-created_at"])]

    @property
    def kind(self) -> str:
        return str(self.question["kind"])

    @property
    def file(self) -> Path:
        """File of the answer once the job has succeeded: a JSON object (`workers.spark.answers`)."""
        return Path(settings.ANALYSIS_DIR) / "answers" / f"{self.pk}.json"

    def lost_error(self) -> str:
        return f"the analysis worker died {self.losses + 1} times in a row on this job, probably out of memory; select fewer runs"


def stamp_of(run: Any) -> str:
    """Stamp that changes with the contents of a run's files. run: a row, or an object with the same fields."""
    return f"{run.engine_version}:{run.digest or run.state}:{run.frames}"

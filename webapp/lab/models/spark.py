"""Jobs for Spark: questions about many runs at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from django.conf import settings
from django.db import models

from .people import Lab
from .work import Work


class SparkJob(Work):
    """One question, and how far its answer is. The answer is a file."""

    TASK: ClassVar[str] = "workers.spark_job"
    QUEUE: ClassVar[str] = "spark"

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    question = models.JSONField()  # webapp.reports.analysis
    progress = models.FloatField(default=0.0)  # share of the new runs that are summarised, 0 to 1
    runs = models.PositiveIntegerField(null=True)  # how many it is about
    read = models.PositiveIntegerField(null=True)  # of how many the files were read; the others were known

    class Meta:
        indexes = [models.Index(fields=["lab", "-created_at"])]

    @property
    def kind(self) -> str:
        return str(self.question["kind"])

    @property
    def file(self) -> Path:
        """Where the answer is once it succeeded: a JSON object (`workers.spark.answers`)."""
        return Path(settings.ANALYSIS_DIR) / "answers" / f"{self.pk}.json"

    def lost_error(self) -> str:
        return f"the analysis worker died {self.losses + 1} times in a row at this, most likely for lack of memory; ask about fewer runs"


def stamp_of(run: Any) -> str:
    """Changes with what a run's files say. run: a row, or what stands for one."""
    return f"{run.engine_version}:{run.digest or run.state}:{run.frames}"

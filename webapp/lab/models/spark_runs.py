"""Runs whose query was executed on a real Spark, too."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import ClassVar

from django.db import models

from .runs import Run
from .work import Work

DOING_MAX = 100
RECORDS_MAX = 5_000_000
"""Input records of a query, of all its sources."""
PACED_MAX_S = 900
"""Length of logs that Spark may follow: it takes as long."""


class SparkRun(Work):
    """The query of a run on Spark, and how its records compare with the engine's. Micro-batches are lines of a file; a stream that was
    stopped goes on from its checkpoints."""

    TASK: ClassVar[str] = "workers.spark_run"
    QUEUE: ClassVar[str] = "spark"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="spark_runs")
    files = models.PositiveIntegerField()  # into which the input of each source is cut, if it is not paced; each is a micro-batch
    paced = models.BooleanField(default=False)  # input appears at the pace of the logs
    trigger_ms = models.PositiveIntegerField(default=0)  # least time between micro-batches of paced input
    doing = models.CharField(max_length=DOING_MAX, blank=True)
    progress = models.FloatField(default=0.0)  # fraction of the work done, 0 to 1
    batches = models.PositiveIntegerField(default=0)  # micro-batches that have ended
    prediction = models.JSONField(null=True)  # workers.spark.predicting.Outlook
    comparison = models.JSONField(null=True)  # workers.spark.streaming.Comparison
    author = models.CharField(max_length=150, blank=True)  # name of the person who started it, as it was then

    class Meta:
        indexes = [models.Index(fields=["run", "-created_at"])]

    @property
    def directory(self) -> Path:
        return self.run.directory / "spark" / str(self.pk)

    @property
    def batch_file(self) -> Path:
        """A line of JSON for each micro-batch (`engine.export.MicroBatch`)."""
        return self.directory / "batches.jsonl"

    @property
    def program(self) -> Path:
        """The program with its input, checkpoints and output; gone once it has succeeded."""
        return self.directory / "program"

    def remove_files(self) -> None:
        shutil.rmtree(self.directory, ignore_errors=True)

    def lost_error(self) -> str:
        return f"the analysis worker died {self.losses + 1} times in a row on this query, probably out of memory; take a shorter run"

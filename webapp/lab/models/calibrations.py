"""Measurements of what micro-batches of Spark take on the machine of the analysis worker."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from .people import Lab
from .spark_runs import DOING_MAX
from .work import Work


class CalibrationJob(Work):
    """One measurement. The result is a file of the installation (`webapp.lab.calibrations`), for all labs. One that was interrupted begins
    again: half a measurement is of two states of a machine."""

    TASK: ClassVar[str] = "workers.calibration"
    QUEUE: ClassVar[str] = "spark"

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    though_busy = models.BooleanField()  # measure also while other processes are at work
    doing = models.CharField(max_length=DOING_MAX, blank=True)
    progress = models.FloatField(default=0.0)  # fraction of the queries measured, 0 to 1
    author = models.CharField(max_length=150, blank=True)  # name of the person who started it, as it was then

    class Meta:
        indexes = [models.Index(fields=["lab", "-created_at"])]

    def lost_error(self) -> str:
        return f"the analysis worker died {self.losses + 1} times in a row while it measured, probably out of memory (SPARK_DRIVER_MEMORY)"

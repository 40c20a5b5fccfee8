"""Results of figures, and their reproductions."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.db import models

from .people import Lab
from .studies import Study
from .work import ACTIVE, RunState, Work, WorkQuerySet

DOING_MAX = 100


class FigureResult(models.Model):
    """Result of one reproduction of a figure at one scale. hash: of the parts of its document that the result depends on
    (`spec.figure.identity`)."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    figure = models.CharField(max_length=100)
    scale = models.CharField(max_length=10)
    hash = models.CharField(max_length=64)
    engine_version = models.CharField(max_length=100)
    seeds = models.JSONField()
    runs = models.PositiveIntegerField()  # number of runs it is based on
    took_s = models.FloatField()
    status = models.CharField(max_length=20)
    values = models.JSONField()  # {name: {value, low, high, runs} or {x, y, low, high, runs} or {reason}}
    assertions = models.JSONField()  # [{id, text, check, tolerance, state, sides: [{text, least, most}], reason}]
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["lab", "figure", "-created_at"])]


class ReproductionQuerySet(WorkQuerySet):
    """While its studies are in progress, a reproduction is running and no worker holds it."""

    def wait(self, id: uuid.UUID | str, worker: str) -> bool:
        """Release the reproduction while its studies are in progress."""
        return self.held(id, worker).update(lease_holder="", lease_until=None, losses=0) == 1

    def to_be_judged(self) -> Self:
        """Running reproductions that no worker holds and whose studies have all ended."""
        waiting = self.filter(state=RunState.RUNNING, lease_holder="", deleted_at__isnull=True)
        return waiting.exclude(studies__state__in=ACTIVE)

    def wake(self, id: uuid.UUID | str) -> bool:
        """Requeue for evaluation. Returns False if it is not waiting (any more)."""
        return self.filter(pk=id, state=RunState.RUNNING, lease_holder="").update(state=RunState.QUEUED, **self.FREE) == 1


class Reproduction(Work):
    """A requested reproduction of a figure: its studies, whose runs the lab's workers execute, and the result."""

    TASK: ClassVar[str] = "workers.reproduce_figure"

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    figure = models.CharField(max_length=100)
    scale = models.CharField(max_length=10)
    studies = models.ManyToManyField(Study)  # studies whose runs belong to the lab
    doing = models.CharField(max_length=DOING_MAX, blank=True, db_default="")  # what an evaluation of learned models is at
    result = models.ForeignKey(FigureResult, null=True, on_delete=models.SET_NULL)

    objects = ReproductionQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["lab", "figure", "-created_at"])]

    @property
    def progress(self) -> float:
        """Mean progress of its studies, 0 to 1; 1 only once it has succeeded."""
        if self.state == RunState.SUCCEEDED:
            return 1.0
        shares = [study.progress for study in self.studies.defer("document")]
        return min(0.999, sum(shares) / len(shares)) if shares else 0.0

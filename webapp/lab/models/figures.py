"""What figures came to when they were carried out."""

from __future__ import annotations

import uuid
from typing import ClassVar, Self

from django.db import models

from .people import Lab
from .studies import Study
from .work import ACTIVE, RunState, Work, WorkQuerySet


class FigureResult(models.Model):
    """A figure, carried out once at one scale. hash: of what the result depends on in its document (`spec.figure.identity`)."""

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    figure = models.CharField(max_length=100)
    scale = models.CharField(max_length=10)
    hash = models.CharField(max_length=64)
    engine_version = models.CharField(max_length=100)
    seeds = models.JSONField()
    runs = models.PositiveIntegerField()  # how many it rests on
    took_s = models.FloatField()
    status = models.CharField(max_length=20)
    values = models.JSONField()  # {name: {value, low, high, runs} or {x, y, low, high, runs} or {reason}}
    assertions = models.JSONField()  # [{id, text, check, tolerance, state, sides: [{text, least, most}], reason}]
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["lab", "figure", "-created_at"])]


class ReproductionQuerySet(WorkQuerySet):
    """While its studies are under way a reproduction is running, and held by nobody."""

    def wait(self, id: uuid.UUID | str, worker: str) -> bool:
        """Its studies are under way; the worker has nothing to do for it."""
        return self.held(id, worker).update(lease_holder="", lease_until=None, losses=0) == 1

    def to_be_judged(self) -> Self:
        """Running, held by nobody, and none of its studies is under way any more."""
        waiting = self.filter(state=RunState.RUNNING, lease_holder="", deleted_at__isnull=True)
        return waiting.exclude(studies__state__in=ACTIVE)

    def wake(self, id: uuid.UUID | str) -> bool:
        """Back to the queue, to be judged. False: it is not waiting (any more)."""
        return self.filter(pk=id, state=RunState.RUNNING, lease_holder="").update(state=RunState.QUEUED, **self.FREE) == 1


class Reproduction(Work):
    """Somebody wants a figure carried out: its studies, whose runs the lab's workers make, and what follows from them."""

    TASK: ClassVar[str] = "workers.reproduce_figure"

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    figure = models.CharField(max_length=100)
    scale = models.CharField(max_length=10)
    studies = models.ManyToManyField(Study)  # those whose runs are the lab's
    result = models.ForeignKey(FigureResult, null=True, on_delete=models.SET_NULL)

    objects = ReproductionQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["lab", "figure", "-created_at"])]

    @property
    def progress(self) -> float:
        """That of its studies, 0 to 1; 1 only when it succeeded."""
        if self.state == RunState.SUCCEEDED:
            return 1.0
        shares = [study.progress for study in self.studies.defer("document")]
        return min(0.999, sum(shares) / len(shares)) if shares else 0.0

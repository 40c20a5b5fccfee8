"""Studies: sets of runs. `engine.studies` decides which runs a study needs; these rows record its progress."""

from __future__ import annotations

import uuid
from typing import Any, Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from .experiments import Experiment
from .people import Lab
from .runs import Run
from .work import ACTIVE, LEASE, RunState, Work, WorkQuerySet

UNNAMED_STUDY = "Untitled study"
NO_LOAD = 0.0
NO_SHARE = 0.0
"""Loads of a search are always greater."""


class TrialState(models.TextChoices):
    WANTED = "wanted"
    RUNNING = "running"  # its run is queued or in progress
    DONE = "done"
    FAILED = "failed"


ENDED = (TrialState.DONE, TrialState.FAILED)


class StudyQuerySet(WorkQuerySet):
    """While a study waits for its runs, no worker holds it: a worker takes a lease only to advance it."""

    def claim(self, id: uuid.UUID | str, worker: str, **changes: Any) -> bool:
        """Claim a study that has not ended and that no worker holds."""
        now = timezone.now()
        free = self.filter(pk=id, state__in=(RunState.QUEUED, RunState.RUNNING), lease_holder="", cancel_requested=False)
        return (
            free.filter(deleted_at__isnull=True).update(
                state=RunState.RUNNING, lease_holder=worker, lease_until=now + LEASE, started_at=Coalesce("started_at", now), **changes
            )
            == 1
        )

    def lay_down(self, id: uuid.UUID | str, worker: str, **changes: Any) -> bool:
        """Release a study that has progressed. changes: further fields to store."""
        return self.held(id, worker).update(lease_holder="", lease_until=None, losses=0, **changes) == 1

    def begin_again(self, id: uuid.UUID | str) -> bool:
        """Requeue a failed or cancelled study. Returns False if it was neither."""
        ended = self.filter(pk=id, state__in=(RunState.FAILED, RunState.CANCELLED), deleted_at__isnull=True)
        changes = {"state": RunState.QUEUED, "error": "", "cancel_requested": False, "finished_at": None, "losses": 0}
        return ended.update(**changes, **self.FREE) == 1

    def to_be_carried_on(self) -> Self:
        """Studies in progress that no worker holds and that can advance: a run has ended, or none is in progress."""
        under_way = self.filter(state=RunState.RUNNING, lease_holder="", deleted_at__isnull=True)
        running = Trial.objects.filter(study=models.OuterRef("pk"), state=TrialState.RUNNING)
        return under_way.filter(models.Exists(running.exclude(run__state__in=ACTIVE)) | ~models.Exists(running))


class Study(Work):
    """An experiment repeated over many points and seeds."""

    TASK = "workers.advance_study"
    LARGE_FIELDS = ("document", "predictions")

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="studies")  # owner of its runs
    name = models.CharField(max_length=200)
    author = models.CharField(max_length=150, blank=True, db_default="")  # name of the person who started it, as it was then
    document = models.JSONField()  # engine.spec.study.study
    predictions = models.JSONField(null=True)  # what models predicted of its points: webapp.lab.schemas.Predictions
    begun = models.BooleanField(default=False)  # the first trials of all points exist
    trials_done = models.PositiveIntegerField(default=0)  # including failed ones
    trials_failed = models.PositiveIntegerField(default=0)
    trials_left = models.PositiveIntegerField(null=True)  # an estimate for searches; null until the study has begun

    objects = StudyQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["lab", "-created_at"])]

    @property
    def progress(self) -> float:
        """Fraction of its trials that have ended, 0 to 1; 1 only once the study has ended."""
        if not self.active:
            return 1.0
        return min(0.999, self.trials_done / max(1, self.trials_done + (self.trials_left or 1)))

    @property
    def eta_s(self) -> float | None:
        """Estimated remaining wall-clock seconds at the present pace; None before its first run has ended."""
        if not self.active or not self.trials_done or self.trials_left is None or self.started_at is None:
            return None
        return (timezone.now() - self.started_at).total_seconds() * self.trials_left / self.trials_done


class Trial(models.Model):
    """A run that a study needs, and its outcome. Its metrics are those of the run."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="trials")
    point = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    load = models.FloatField(default=NO_LOAD)  # the load that a search tries
    share = models.FloatField(default=NO_SHARE)  # share of the load found, if the experiment differs at shares
    values = models.JSONField()  # values of the point by axis, without the load
    state = models.CharField(max_length=10, choices=TrialState, default=TrialState.WANTED)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="trials")
    reused = models.BooleanField(default=False)  # the run already existed
    verdict = models.JSONField(null=True)  # {sustained, reasons, figures}
    failure = models.TextField(blank=True)
    left = models.PositiveSmallIntegerField(default=0)  # maximum number of trials that may follow from this one

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "point", "seed", "load", "share"], name="one_trial_of_a_load_and_share")]
        indexes = [models.Index(fields=["study", "state"]), models.Index(fields=["run"], condition=Q(state="running"), name="awaited_runs")]

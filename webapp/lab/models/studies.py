"""Studies: runs of runs. What a study needs is decided by `engine.studies`; these rows say how far it is."""

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
"""Loads of a search are above it."""


class TrialState(models.TextChoices):
    WANTED = "wanted"
    RUNNING = "running"  # its run is queued, or under way
    DONE = "done"
    FAILED = "failed"


ENDED = (TrialState.DONE, TrialState.FAILED)


class StudyQuerySet(WorkQuerySet):
    """A study under way is held by nobody while it waits for its runs: a lease is for carrying it on only."""

    def claim(self, id: uuid.UUID | str, worker: str, **changes: Any) -> bool:
        """Take a study that has not ended and that nobody carries on."""
        now = timezone.now()
        free = self.filter(pk=id, state__in=(RunState.QUEUED, RunState.RUNNING), lease_holder="", cancel_requested=False)
        return (
            free.filter(deleted_at__isnull=True).update(
                state=RunState.RUNNING, lease_holder=worker, lease_until=now + LEASE, started_at=Coalesce("started_at", now), **changes
            )
            == 1
        )

    def lay_down(self, id: uuid.UUID | str, worker: str, **changes: Any) -> bool:
        """Nobody holds it any more, and it has got further. changes: what else to store."""
        return self.held(id, worker).update(lease_holder="", lease_until=None, losses=0, **changes) == 1

    def begin_again(self, id: uuid.UUID | str) -> bool:
        """Back to the queue after it failed or was cancelled. False: it did neither."""
        ended = self.filter(pk=id, state__in=(RunState.FAILED, RunState.CANCELLED), deleted_at__isnull=True)
        changes = {"state": RunState.QUEUED, "error": "", "cancel_requested": False, "finished_at": None, "losses": 0}
        return ended.update(**changes, **self.FREE) == 1

    def to_be_carried_on(self) -> Self:
        """Under way, held by nobody, and not waiting: a run of it has ended, or none is under way."""
        under_way = self.filter(state=RunState.RUNNING, lease_holder="", deleted_at__isnull=True)
        running = Trial.objects.filter(study=models.OuterRef("pk"), state=TrialState.RUNNING)
        return under_way.filter(models.Exists(running.exclude(run__state__in=ACTIVE)) | ~models.Exists(running))


class Study(Work):
    """A question that takes many runs."""

    TASK = "workers.advance_study"
    LARGE_FIELDS = ("document",)

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="studies")  # its runs belong to it
    name = models.CharField(max_length=200)
    document = models.JSONField()  # engine.spec.study.study
    begun = models.BooleanField(default=False)  # the first trials of all points are there
    trials_done = models.PositiveIntegerField(default=0)  # failed ones included
    trials_failed = models.PositiveIntegerField(default=0)
    trials_left = models.PositiveIntegerField(null=True)  # of searches an estimate; null until it has begun

    objects = StudyQuerySet.as_manager()

    class Meta:
        indexes = [models.Index(fields=["lab", "-created_at"])]

    @property
    def progress(self) -> float:
        """The share of its trials that have ended, 0 to 1; 1 only when it has ended itself."""
        if not self.active:
            return 1.0
        return min(0.999, self.trials_done / max(1, self.trials_done + (self.trials_left or 1)))

    @property
    def eta_s(self) -> float | None:
        """Wall-clock seconds to go if it goes on as until now; None before its first run has ended."""
        if not self.active or not self.trials_done or self.trials_left is None or self.started_at is None:
            return None
        return (timezone.now() - self.started_at).total_seconds() * self.trials_left / self.trials_done


class Trial(models.Model):
    """A run that a study needs, and what came of it. Its numbers are those of the run."""

    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="trials")
    point = models.PositiveIntegerField()
    seed = models.BigIntegerField()
    load = models.FloatField(default=NO_LOAD)  # what a search tries
    share = models.FloatField(default=NO_SHARE)  # of the load found, where the experiment is another at such shares
    values = models.JSONField()  # of the point, by axis, without the load
    state = models.CharField(max_length=10, choices=TrialState, default=TrialState.WANTED)
    run = models.ForeignKey(Run, null=True, on_delete=models.SET_NULL, related_name="trials")
    reused = models.BooleanField(default=False)  # the run was there before
    verdict = models.JSONField(null=True)  # {sustained, reasons, figures}
    failure = models.TextField(blank=True)
    left = models.PositiveSmallIntegerField(default=0)  # how many trials may follow from this one

    class Meta:
        constraints = [models.UniqueConstraint(fields=["study", "point", "seed", "load", "share"], name="one_trial_of_a_load_and_share")]
        indexes = [models.Index(fields=["study", "state"]), models.Index(fields=["run"], condition=Q(state="running"), name="awaited_runs")]

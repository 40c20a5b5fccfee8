"""Runs: the row is the truth about a run's life; the queue and the live stream only carry hints about it.

A worker holds a run by a lease that it renews. Every change that a worker makes is conditional on the lease, so a worker that was
believed dead and comes back changes nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone

from .experiments import Experiment
from .people import Lab

LEASE = timedelta(seconds=10)
LOSSES_MAX = 3
"""A run whose worker died this often without a new snapshot in between would kill the next one too."""


class RunState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE = (RunState.QUEUED, RunState.RUNNING)


class RunQuerySet(models.QuerySet["Run"]):
    def claim(self, run_id: uuid.UUID | str, worker: str) -> bool:
        """Take a queued run for a worker. False: another was first, or there is nothing to do; then nothing is changed."""
        now = timezone.now()
        taken = self.filter(pk=run_id, state=RunState.QUEUED, cancel_requested=False, deleted_at__isnull=True).update(
            state=RunState.RUNNING, lease_holder=worker, lease_until=now + LEASE, started_at=Coalesce("started_at", now)
        )
        return taken == 1

    def held(self, run_id: uuid.UUID | str, worker: str) -> RunQuerySet:
        """The run, if the worker still holds it."""
        return self.filter(pk=run_id, state=RunState.RUNNING, lease_holder=worker)

    def renew(self, run_id: uuid.UUID | str, worker: str) -> bool:
        """Extend the lease. False: the run belongs to another now."""
        return self.held(run_id, worker).update(lease_until=timezone.now() + LEASE) == 1

    def release(self, run_id: uuid.UUID | str, worker: str) -> bool:
        """Give a run back to the queue, for a worker that shuts down; it goes on from its last snapshot.

        False: it was cancelled meanwhile, or belongs to another.
        """
        held = self.held(run_id, worker).filter(cancel_requested=False)
        return held.update(state=RunState.QUEUED, lease_holder="", lease_until=None, enqueued_at=None) == 1

    def request_cancel(self, run_id: uuid.UUID | str) -> bool:
        """Cancel a queued run at once; ask the worker of a running one to stop. False: it had ended already."""
        for _ in range(2):  # a worker may give the run back to the queue between the two updates
            queued = self.filter(pk=run_id, state=RunState.QUEUED)
            if queued.update(state=RunState.CANCELLED, cancel_requested=True, finished_at=timezone.now()):
                return True
            if self.filter(pk=run_id, state=RunState.RUNNING).update(cancel_requested=True):
                return True
        return False

    def take_back_lost(self, is_dead: Callable[[str], bool]) -> list[Run]:
        """Runs whose worker fell silent: back to the queue, or to their end if they were cancelled or keep killing workers.

        is_dead: whether a lease's holder is known to be gone; such a run need not wait for the end of the lease.
        """
        now = timezone.now()
        changed = []
        for run in self.filter(state=RunState.RUNNING).defer("document"):
            if run.lease_until is not None and run.lease_until >= now and not is_dead(run.lease_holder):
                continue
            expired = self.filter(pk=run.pk, state=RunState.RUNNING, lease_holder=run.lease_holder, lease_until=run.lease_until)
            if run.cancel_requested:
                done = expired.update(state=RunState.CANCELLED, finished_at=now, lease_holder="", lease_until=None)
            elif run.losses + 1 >= LOSSES_MAX:
                message = (
                    f"the worker died {run.losses + 1} times in a row at the same point ({run.t_ns / 1e9:.3f} s of virtual time), "
                    "most likely for lack of memory; make the experiment smaller (rate, horizon, state) or give the worker more memory, "
                    "and run it again"
                )
                done = expired.update(state=RunState.FAILED, error=message, finished_at=now, lease_holder="", lease_until=None)
            else:
                back = {"state": RunState.QUEUED, "lease_holder": "", "lease_until": None, "enqueued_at": None}
                done = expired.update(losses=F("losses") + 1, **back)
            if done:
                run.refresh_from_db()
                changed.append(run)
        return changed


class Run(models.Model):
    """One execution of one document with one seed."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    number = models.PositiveIntegerField()
    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="runs")
    experiment_version = models.PositiveIntegerField()
    name = models.CharField(max_length=200)  # the experiment's when the run was made
    document = models.JSONField()
    hash = models.CharField(max_length=64, db_index=True)
    seed = models.BigIntegerField()
    engine_version = models.CharField(max_length=100, blank=True)  # of the worker that took it
    horizon_ns = models.BigIntegerField()

    state = models.CharField(max_length=10, choices=RunState, default=RunState.QUEUED)
    error = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    enqueued_at = models.DateTimeField(null=True)  # when it was last handed to the queue; null: it must be
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    lease_holder = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    losses = models.PositiveSmallIntegerField(default=0)  # workers that died since the last snapshot

    t_ns = models.BigIntegerField(default=0)  # virtual time reached
    eta_s = models.FloatField(null=True)  # wall-clock seconds to go, estimated
    frames = models.PositiveIntegerField(default=0)  # how many there are
    summary = models.JSONField(null=True)
    digest = models.CharField(max_length=64, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "number"], name="one_run_of_a_number")]
        indexes = [
            models.Index(fields=["lab", "-number"]),
            models.Index(fields=["state"], condition=Q(state__in=["queued", "running"]), name="active_runs"),
        ]

    @classmethod
    def start(cls, experiment: Experiment, *, document: dict[str, Any], hash: str, seed: int, horizon_ns: int) -> Run:
        """Store a queued run with the lab's next number. Handing it to the queue is the caller's next step."""
        with transaction.atomic():
            Lab.objects.filter(pk=experiment.lab_id).update(runs_numbered=F("runs_numbered") + 1)  # locks the row until the commit
            number = Lab.objects.values_list("runs_numbered", flat=True).get(pk=experiment.lab_id)
            name = document.get("name") or experiment.name
            return cls.objects.create(
                lab_id=experiment.lab_id, number=number, experiment=experiment, experiment_version=experiment.version, name=name,
                document=document, hash=hash, seed=seed, horizon_ns=horizon_ns,
            )  # fmt: skip

    @property
    def active(self) -> bool:
        return self.state in ACTIVE

    @property
    def progress(self) -> float:
        """Virtual time over horizon, 0 to 1; 1 only when it succeeded, since draining goes on after the horizon."""
        if self.state == RunState.SUCCEEDED:
            return 1.0
        return min(0.999, self.t_ns / self.horizon_ns)

    @property
    def directory(self) -> Path:
        """Where its files are: telemetry, live frames, snapshot."""
        return Path(settings.RUNS_DIR) / str(self.pk)


class RunSummary(models.Model):
    """One number of a run's summary, by dotted name (`latency_ms.p99`), so that runs can be searched and compared in SQL."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="metrics")
    metric = models.CharField(max_length=200)
    value = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "metric"], name="one_value_of_a_metric")]
        indexes = [models.Index(fields=["metric", "value"])]

    @classmethod
    def store(cls, run_id: uuid.UUID, summary: Mapping[str, Any]) -> None:
        """Replace the run's rows by those of the summary."""
        with transaction.atomic():
            cls.objects.filter(run_id=run_id).delete()
            cls.objects.bulk_create(cls(run_id=run_id, metric=name, value=value) for name, value in flat(summary))


def flat(tree: Mapping[str, Any], prefix: str = "") -> list[tuple[str, float]]:
    """The numbers in a tree, by dotted path. Truth values and what is missing are left out."""
    numbers: list[tuple[str, float]] = []
    for key, value in tree.items():
        name = f"{prefix}{key}"
        if isinstance(value, Mapping):
            numbers += flat(value, f"{name}.")
        elif isinstance(value, int | float) and not isinstance(value, bool):
            numbers.append((name, float(value)))
    return numbers

"""Work for the workers. The row is authoritative; the queue only carries hints.

A worker holds a piece of work by a lease, which it renews. All its changes are conditional on the lease, so a worker that was presumed
dead and comes back changes nothing.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any, ClassVar, Self

from django.db import models
from django.db.models import F
from django.db.models.functions import Coalesce
from django.utils import timezone

from webapp.messaging import QUEUE

LEASE = timedelta(seconds=10)
LOSSES_MAX = 3
"""Work is given up after this many worker deaths without progress, because it would kill the next worker too."""


class RunState(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    PAUSED = "paused"  # runs only: until someone resumes it
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


ACTIVE = (RunState.QUEUED, RunState.RUNNING, RunState.PAUSED)
TAKEN = (RunState.RUNNING, RunState.PAUSED)
"""States in which a worker may hold the work. Work that has been paused for long has no lease holder."""


def is_active() -> models.Func:
    """The condition that work has not ended, for lookups among all runs of a lab.

    In the words of the index `active_runs`, without parameters: only then does SQLite use an index of some of the rows.
    """
    states = ", ".join(f"'{state}'" for state in ACTIVE)
    return models.Func(F("state"), template=f"%(expressions)s IN ({states})", output_field=models.BooleanField())


class WorkQuerySet(models.QuerySet[Any]):
    FREE: ClassVar[dict[str, Any]] = {"lease_holder": "", "lease_until": None, "enqueued_at": None}

    def claim(self, id: uuid.UUID | str, worker: str, **changes: Any) -> bool:
        """Claim queued work for a worker. changes: further fields to store. Returns False, and changes nothing, if another worker was first
        or there is nothing to do."""
        now = timezone.now()
        taken = self.filter(pk=id, state=RunState.QUEUED, cancel_requested=False, deleted_at__isnull=True).update(
            state=RunState.RUNNING, lease_holder=worker, lease_until=now + LEASE, started_at=Coalesce("started_at", now), **changes
        )
        return taken == 1

    def queued(self) -> Self:
        """Work that is, or should be, in the queue."""
        return self.filter(is_active(), state=RunState.QUEUED, deleted_at__isnull=True)

    def held(self, id: uuid.UUID | str, worker: str) -> Self:
        """The work, if this worker still holds it."""
        return self.filter(pk=id, state__in=TAKEN, lease_holder=worker)

    def renew(self, id: uuid.UUID | str, worker: str) -> bool:
        """Extend the lease. Returns False if another worker holds the work now."""
        return self.held(id, worker).update(lease_until=timezone.now() + LEASE) == 1

    def release(self, id: uuid.UUID | str, worker: str, **changes: Any) -> bool:
        """Requeue the work of a worker that is shutting down. changes: further fields to store.

        Returns False if it was cancelled in the meantime, or if another worker holds it.
        """
        held = self.held(id, worker).filter(cancel_requested=False)
        return held.update(state=RunState.QUEUED, **self.FREE, **changes) == 1

    def release_all_of(self, process: str) -> int:
        """Requeue what attempts of a process have left behind, where it was not cancelled. process: the beginning of its lease holders.
        Returns how many there were."""
        held = self.filter(is_active(), state__in=TAKEN, lease_holder__startswith=f"{process}:", cancel_requested=False)
        return held.update(state=RunState.QUEUED, **self.FREE)

    def request_cancel(self, id: uuid.UUID | str) -> bool:
        """Cancel work that no worker holds at once; otherwise ask its worker to stop. Returns False if the work had already ended."""
        for _ in range(2):  # a worker may release the work between the two updates
            idle = self.filter(pk=id, state__in=ACTIVE, lease_holder="")
            if idle.update(state=RunState.CANCELLED, cancel_requested=True, finished_at=timezone.now()):
                return True
            if self.filter(pk=id, state__in=TAKEN).exclude(lease_holder="").update(cancel_requested=True):
                return True
        return False

    def take_back_lost(self, is_dead: Callable[[str], bool]) -> list[Any]:
        """Requeue the work of lost workers, or end it if it was cancelled or keeps killing workers. Returns the changed work.

        is_dead: whether a lease holder is known to be dead; its work need not wait until the lease expires.
        """
        now = timezone.now()
        changed = []
        for work in self.filter(is_active(), state__in=TAKEN).exclude(lease_holder="").defer(*self.model.LARGE_FIELDS):
            if work.lease_until is not None and work.lease_until >= now and not is_dead(work.lease_holder):
                continue
            expired = self.filter(pk=work.pk, state__in=TAKEN, lease_holder=work.lease_holder, lease_until=work.lease_until)
            if work.cancel_requested:
                done = expired.update(state=RunState.CANCELLED, finished_at=now, lease_holder="", lease_until=None)
            elif work.losses + 1 >= LOSSES_MAX:
                error = work.lost_error()
                done = expired.update(state=RunState.FAILED, error=error, finished_at=now, lease_holder="", lease_until=None)
            else:
                done = expired.update(state=RunState.QUEUED, losses=F("losses") + 1, **self.FREE)
            if done:
                work.refresh_from_db()
                changed.append(work)
        return changed


class Work(models.Model):
    """Background task that a worker runs for the lab.

    TASK: name of the Celery task that takes the row's id. QUEUE: the queue of the workers that run it.
    """

    TASK: ClassVar[str]
    QUEUE: ClassVar[str] = QUEUE
    LARGE_FIELDS: ClassVar[tuple[str, ...]] = ()

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)

    state = models.CharField(max_length=10, choices=RunState, default=RunState.QUEUED)
    error = models.TextField(blank=True)
    cancel_requested = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    enqueued_at = models.DateTimeField(null=True)  # when it was last enqueued; null: to be enqueued
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    deleted_at = models.DateTimeField(null=True)

    lease_holder = models.CharField(max_length=100, blank=True)
    lease_until = models.DateTimeField(null=True)
    losses = models.PositiveSmallIntegerField(default=0)  # worker deaths since it last made progress

    objects = WorkQuerySet.as_manager()

    class Meta:
        abstract = True

    @property
    def active(self) -> bool:
        return self.state in ACTIVE

    def delete_softly(self) -> None:
        """Soft-delete; active work is cancelled."""
        rows = type(self).objects
        rows.request_cancel(self.pk)
        rows.filter(pk=self.pk).update(deleted_at=timezone.now())

    def lost_error(self) -> str:
        """Error message for work whose workers keep dying."""
        return (
            f"the worker died {self.losses + 1} times in a row on this task, probably out of memory; request less, or give the worker "
            "more memory"
        )

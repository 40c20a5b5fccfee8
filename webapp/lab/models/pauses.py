"""Pausing and resuming runs.

`hold_at_frame` says how far a run may go: the number of frames at which it pauses. None: run to the end; 0: pause at once; more: step up
to that frame. People write it, workers obey it. It counts frames from the start of the run, so a worker that repeats frames after a loss
pauses at the same one.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce, Greatest
from django.utils import timezone

from .work import RunState, WorkQuerySet

AT_ONCE = 0


class RunQuerySet(WorkQuerySet):
    def pause(self, id: uuid.UUID | str) -> bool:
        """Pause as soon as possible. Returns False if the run has ended."""
        for _ in range(2):  # a worker may claim or release the run between the updates
            queued = self.filter(pk=id, state=RunState.QUEUED)
            # After a loss, frames that viewers have seen are missing from the files; a worker must repeat them first.
            if queued.filter(losses__gt=0).update(hold_at_frame=F("frames")):
                return True
            if queued.update(state=RunState.PAUSED, hold_at_frame=F("frames"), paused_at=timezone.now()):
                return True
            if self.filter(pk=id, state=RunState.RUNNING).update(hold_at_frame=AT_ONCE):
                return True
            if self.filter(pk=id, state=RunState.PAUSED).exists():
                return True
        return False

    def resume(self, id: uuid.UUID | str) -> bool:
        """Run to the end. Returns False if the run was not paused."""
        return self._go_on(id, None, self.filter(hold_at_frame__isnull=False))

    def step(self, id: uuid.UUID | str, frames: int) -> bool:
        """Advance by `frames` frames, in addition to those left of a step in progress. Returns False if the run is not paused."""
        return self._go_on(id, Greatest(F("hold_at_frame"), F("frames")) + frames, self.filter(hold_at_frame__gt=AT_ONCE))

    def _go_on(self, id: uuid.UUID | str, hold_at_frame: Any, under_way: QuerySet[Any]) -> bool:
        """under_way: runs that are not paused (yet, or any more) but for which the new bound is right nevertheless."""
        changes = {"hold_at_frame": hold_at_frame, "paused_at": None}
        for _ in range(2):
            paused = self.filter(pk=id, state=RunState.PAUSED)
            if paused.filter(lease_holder="").update(state=RunState.QUEUED, enqueued_at=None, **changes):
                return True
            if paused.exclude(lease_holder="").update(state=RunState.RUNNING, **changes):
                return True
            if under_way.filter(pk=id, state__in=(RunState.QUEUED, RunState.RUNNING)).update(**changes):
                return True
        return False

    def stand_still(self, id: uuid.UUID | str, worker: str, t_ns: int, frames: int) -> bool:
        """Mark the worker's run as paused at this frame. Returns False if it may continue, or if another worker holds it."""
        held = self.held(id, worker).filter(hold_at_frame__lte=frames)
        paused = {"state": RunState.PAUSED, "paused_at": Coalesce("paused_at", timezone.now())}
        return held.update(**paused, hold_at_frame=frames, t_ns=t_ns, frames=frames, eta_s=None) == 1

    def release(self, id: uuid.UUID | str, worker: str, **changes: Any) -> bool:
        """Release the run: paused if it is to pause where it is, otherwise queued."""
        standing = self.held(id, worker).filter(cancel_requested=False, hold_at_frame__lte=changes.get("frames", F("frames")))
        paused = {"state": RunState.PAUSED, "paused_at": Coalesce("paused_at", timezone.now())}
        return standing.update(**paused, **self.FREE, **changes) == 1 or super().release(id, worker, **changes)

    def request_cancel(self, id: uuid.UUID | str) -> bool:
        """Cancel; the measurements of a paused run that no worker holds become its summary."""
        done = super().request_cancel(id)
        worked_on = self.filter(pk=id, state=RunState.CANCELLED, started_at__isnull=False).defer(*self.model.LARGE_FIELDS)
        if done and (run := worked_on.first()):
            run.keep_what_was_measured()
        return done

"""Enqueueing of work. The row is marked, so that work is enqueued once."""

from __future__ import annotations

import uuid
from datetime import timedelta
from functools import partial

from django.utils import timezone

from webapp.lib.afterwards import is_waiting, later
from webapp.messaging import queue

from .models import CalibrationJob, Executor, LearningJob, Reproduction, Run, SparkJob, SparkRun, Study, Waterfalls, Work

KINDS: tuple[type[Work], ...] = (Run, Waterfalls, Study, Reproduction, LearningJob, SparkJob, SparkRun, CalibrationJob)
TAKEN_AFTER = timedelta(seconds=1)
"""Work enqueued longer ago than this has found no free worker."""


def enqueue(id: uuid.UUID, kind: type[Work] = Run) -> bool:
    """Enqueue work for the workers. Returns False if the queue is unreachable; a worker's sweeper then retries. Runs for Spark are not
    enqueued.

    The row is marked first, so that only one of several callers enqueues the same work.
    """
    waiting = kind.objects.queued().filter(pk=id)
    if waiting.filter(enqueued_at__isnull=True).update(enqueued_at=timezone.now()) == 0:
        return True
    return send(id, kind)


def send(id: uuid.UUID, kind: type[Work] = Run) -> bool:
    """Enqueue work whose row is marked already. Returns as `enqueue`."""
    if is_waiting():
        later(partial(_send, id, kind))
        return queue.is_reachable()
    return _send(id, kind)


def _send(id: uuid.UUID, kind: type[Work]) -> bool:
    if queue.send(kind.TASK, id, kind.QUEUE):
        return True
    kind.objects.queued().filter(pk=id).update(enqueued_at=None)
    return False


def somebody_waits(executor: str) -> bool:
    """Return whether work waits for a free run worker, or for a free Spark executor."""
    before = timezone.now() - TAKEN_AFTER
    if executor == Executor.SPARK:
        return Run.objects.for_spark().filter(created_at__lt=before).exists()
    return any(kind.objects.queued().filter(enqueued_at__lt=before).exists() for kind in KINDS if kind.QUEUE == queue.QUEUE)

"""Work that waits for a worker: handed to the queue, with its row marked so that it is handed over once."""

from __future__ import annotations

import uuid
from datetime import timedelta

from django.utils import timezone

from webapp.messaging import queue

from .models import Executor, Reproduction, Run, SparkJob, Study, Waterfalls, Work

KINDS: tuple[type[Work], ...] = (Run, Waterfalls, Study, Reproduction, SparkJob)
TAKEN_AFTER = timedelta(seconds=1)
"""Work that was handed to the queue this long ago finds no worker free."""


def enqueue(id: uuid.UUID, kind: type[Work] = Run) -> bool:
    """Hand queued work to the workers. False when the queue cannot be reached; the sweeper of a worker tries again then. Runs for Spark
    are left where they are.

    The row is marked first: of several that want to enqueue the same work, one does it.
    """
    waiting = kind.objects.queued().filter(pk=id)
    if waiting.filter(enqueued_at__isnull=True).update(enqueued_at=timezone.now()) == 0:
        return True
    if queue.send(kind.TASK, id, kind.QUEUE):
        return True
    waiting.update(enqueued_at=None)
    return False


def somebody_waits(executor: str) -> bool:
    """There is work for which no worker of runs is free, or no executor of Spark."""
    before = timezone.now() - TAKEN_AFTER
    if executor == Executor.SPARK:
        return Run.objects.for_spark().filter(created_at__lt=before).exists()
    return any(kind.objects.queued().filter(enqueued_at__lt=before).exists() for kind in KINDS if kind.QUEUE == queue.QUEUE)

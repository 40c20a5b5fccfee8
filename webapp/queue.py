"""The Celery application as the web process needs it: it sends the ids of work. The tasks themselves are in `workers`."""

from __future__ import annotations

import logging
import uuid
from datetime import timedelta

from celery import Celery
from django.conf import settings
from django.utils import timezone
from kombu.exceptions import KombuError, OperationalError

from webapp.lab.models import Executor, Reproduction, Run, SparkJob, Study, Waterfalls, Work

QUEUE = Work.QUEUE
KINDS: tuple[type[Work], ...] = (Run, Waterfalls, Study, Reproduction, SparkJob)
TAKEN_AFTER = timedelta(seconds=1)
"""Work that was handed to the queue this long ago finds no worker free."""

log = logging.getLogger(__name__)

application = Celery("millrace")
application.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # a worker waits for its Redis as long as it takes
    broker_transport_options={"socket_connect_timeout": 0.5, "socket_timeout": 5.0, "visibility_timeout": 12 * 3600},
    task_default_queue=QUEUE,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    # A task that is lost with its worker goes back to the queue, and a worker reserves nothing beyond what it works on. Should Redis
    # deliver an id twice, the second claim finds nothing to do.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    enable_utc=True,
)


def enqueue(id: uuid.UUID, kind: type[Work] = Run) -> bool:
    """Hand queued work to the workers. False when the queue cannot be reached; the sweeper of a worker tries again then. Runs for Spark
    are left where they are.

    The row is marked first: of several that want to enqueue the same work, one does it.
    """
    waiting = kind.objects.queued().filter(pk=id)
    if waiting.filter(enqueued_at__isnull=True).update(enqueued_at=timezone.now()) == 0:
        return True
    try:
        application.send_task(kind.TASK, args=[str(id)], queue=kind.QUEUE, retry=True, retry_policy={"max_retries": 1, "interval_start": 0})
    except (OperationalError, KombuError, OSError) as error:
        log.warning("%s %s stays queued in the database, the queue cannot be reached: %s", kind.__name__, id, error)
        waiting.update(enqueued_at=None)
        return False
    return True


def somebody_waits(executor: str) -> bool:
    """There is work for which no worker of runs is free, or no executor of Spark."""
    before = timezone.now() - TAKEN_AFTER
    if executor == Executor.SPARK:
        return Run.objects.for_spark().filter(created_at__lt=before).exists()
    return any(kind.objects.queued().filter(enqueued_at__lt=before).exists() for kind in KINDS if kind.QUEUE == QUEUE)

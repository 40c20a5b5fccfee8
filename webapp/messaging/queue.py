"""The Celery application of the web process, which only sends the ids of work. The tasks are in `workers`."""

from __future__ import annotations

import logging
import uuid

from celery import Celery
from django.conf import settings
from kombu.exceptions import KombuError, OperationalError
from redis import RedisError

from webapp.lib.redis_connection import connection

from . import QUEUE

log = logging.getLogger(__name__)

application = Celery("millrace")
application.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,  # workers wait for Redis indefinitely
    broker_transport_options={"socket_connect_timeout": 0.5, "socket_timeout": 5.0, "visibility_timeout": 12 * 3600},
    task_default_queue=QUEUE,
    task_ignore_result=True,
    task_serializer="json",
    accept_content=["json"],
    # The task of a lost worker is requeued, and a worker prefetches no tasks. If Redis delivers an id twice, the second claim finds
    # nothing to do.
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    worker_prefetch_multiplier=1,
    worker_enable_prefetch_count_reduction=False,  # one message at a time anyway
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    enable_utc=True,
)


def send(task: str, id: uuid.UUID, queue: str) -> bool:
    """Send the id of a piece of work to a queue. task: name of the Celery task. Returns False if Redis is unreachable."""
    try:
        application.send_task(task, args=[str(id)], queue=queue, retry=True, retry_policy={"max_retries": 1, "interval_start": 0})
    except (OperationalError, KombuError, OSError) as error:
        log.warning("%s %s stays queued in the database, the queue is unreachable: %s", task, id, error)
        return False
    return True


def is_reachable() -> bool:
    try:
        return bool(connection().ping())
    except (RedisError, OSError):
        return False

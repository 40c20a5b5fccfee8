"""What each worker does beside its runs: a sign of life, and care for runs that were lost.

Lost are runs whose worker died, and queued runs that the queue does not know, because Redis was away when they were submitted or has lost
its data.
Everything here may be done by many workers at the same time, and twice.
"""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

import redis
from django.db import DatabaseError, close_old_connections, connections
from django.utils import timezone

from webapp.lab.models import Run, RunState
from webapp.lib.redis_connection import connection
from webapp.live.stream import announce
from webapp.queue import QUEUE, enqueue
from webapp.workers_alive import sign_of_life

from .identity import is_dead

log = logging.getLogger(__name__)

SWEEP_S = 2.0
UNDERWAY = timedelta(seconds=5)
"""A run that was handed to the queue this long ago and is still queued, while the queue is empty, has been lost on the way."""


def sweep() -> None:
    """Bring lost runs back."""
    for run in Run.objects.take_back_lost(is_dead):
        log.warning("run %s (#%d): its worker is gone; it is %s now", run.pk, run.number, run.state)
        announce(connection(), run.pk, ended=not run.active)
    waiting = Run.objects.filter(state=RunState.QUEUED, deleted_at__isnull=True).order_by("created_at")
    try:
        queue_is_empty = connection().llen(QUEUE) == 0
    except (redis.RedisError, OSError):
        return
    if queue_is_empty:
        waiting.filter(enqueued_at__lt=timezone.now() - UNDERWAY).update(enqueued_at=None)
    for run_id in waiting.filter(enqueued_at__isnull=True).values_list("pk", flat=True):
        if not enqueue(run_id):
            return


def start() -> threading.Thread:
    """Begin to care, in a thread of its own that ends with the process."""
    thread = threading.Thread(target=_care, name="caretaker", daemon=True)
    thread.start()
    return thread


def _care() -> None:
    pause = threading.Event()
    while True:
        sign_of_life()
        close_old_connections()
        try:
            sweep()
        except DatabaseError as error:
            log.warning("lost runs cannot be looked for, the database does not answer: %s", error)
            connections.close_all()
        except Exception:
            log.exception("looking for lost runs failed")
        pause.wait(SWEEP_S)

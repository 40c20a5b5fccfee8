"""What each worker does beside its work: a sign of life, and care for work that was lost.

Lost is work whose worker died, and queued work that the queue does not know, because Redis was away when it was submitted or has lost its
data.
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
from webapp.live.stream import announce, announce_question
from webapp.queue import KINDS, QUEUE, enqueue
from webapp.workers_alive import sign_of_life

from .identity import is_dead

log = logging.getLogger(__name__)

SWEEP_S = 2.0
UNDERWAY = timedelta(seconds=5)
"""Work that was handed to the queue this long ago and is still queued, while the queue is empty, has been lost on the way."""


def sweep() -> None:
    """Bring lost work back."""
    for kind in KINDS:
        for work in kind.objects.take_back_lost(is_dead):
            log.warning("%s %s: its worker is gone; it is %s now", kind.__name__, work.pk, work.state)
            if isinstance(work, Run):
                announce(connection(), work.pk, ended=not work.active)
            else:
                announce_question(connection(), work.pk)
    try:
        queue_is_empty = connection().llen(QUEUE) == 0
    except (redis.RedisError, OSError):
        return
    for kind in KINDS:
        waiting = kind.objects.filter(state=RunState.QUEUED, deleted_at__isnull=True).order_by("created_at")
        if queue_is_empty:
            waiting.filter(enqueued_at__lt=timezone.now() - UNDERWAY).update(enqueued_at=None)
        for id in waiting.filter(enqueued_at__isnull=True).values_list("pk", flat=True):
            if not enqueue(id, kind):
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
            log.warning("lost work cannot be looked for, the database does not answer: %s", error)
            connections.close_all()
        except Exception:
            log.exception("looking for lost work failed")
        pause.wait(SWEEP_S)

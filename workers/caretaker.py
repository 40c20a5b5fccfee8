"""Background thread of each worker: heartbeats, recovery of lost work, and removal of old files.

Work is lost if its worker died, or if it is queued in the database but not in Redis, because Redis was unreachable or lost its data.
Everything here may be done by several workers concurrently, and repeatedly.
"""

from __future__ import annotations

import logging
import threading
import time
from contextlib import suppress
from datetime import timedelta

import redis
from django.db import DatabaseError, InterfaceError, close_old_connections, connections
from django.utils import timezone

from webapp.lab.models import CalibrationJob, LearningJob, Reproduction, Run, SparkJob, SparkRun, Study, Waterfalls, Work
from webapp.lab.waiting_work import KINDS, enqueue
from webapp.lib import outages
from webapp.lib.migrated import is_migrated
from webapp.lib.redis_connection import connection
from webapp.maintenance import plan_statistics, retention
from webapp.messaging.heartbeats import send_heartbeat
from webapp.messaging.stream import announce, announce_row

from . import figures, studies
from .clock_watch import ClockWatch
from .identity import is_dead, worker_name

log = logging.getLogger(__name__)

CLOCK = ClockWatch()
SWEEP_S = 2.0
TIDY_S = 600.0
ANNOUNCED: dict[type[Work], str] = {
    Study: "study",
    Waterfalls: "question",
    Reproduction: "reproduction",
    LearningJob: "learning",
    SparkJob: "analysis",
    SparkRun: "spark_run",
    CalibrationJob: "calibration",
}
UNDERWAY = timedelta(seconds=5)
"""Work that was enqueued longer ago than this and is still queued, while the queue is empty, is lost."""


def sweep() -> None:
    """Requeue lost work."""
    for kind in KINDS:
        for work in kind.objects.take_back_lost(is_dead):
            log.warning("%s %s: lost its worker; now %s", kind.__name__, work.pk, work.state)
            if isinstance(work, Run):
                if not work.active:
                    work.remove_working_files()
                announce(connection(), work.pk, ended=not work.active)
            elif (name := ANNOUNCED.get(kind)) is not None:
                announce_row(connection(), name, work.pk)
    studies.carry_on_missed()
    figures.wake_missed()
    try:
        empty = {kind.QUEUE: connection().llen(kind.QUEUE) == 0 for kind in KINDS}
    except (redis.RedisError, OSError):
        return
    for kind in KINDS:
        waiting = kind.objects.queued().order_by("created_at")
        if empty[kind.QUEUE]:
            waiting.filter(enqueued_at__lt=timezone.now() - UNDERWAY).update(enqueued_at=None)
        for id in waiting.filter(enqueued_at__isnull=True).values_list("pk", flat=True):
            if not enqueue(id, kind):
                return


def tidy() -> None:
    """Refresh the database's statistics, remove files past their retention time, and notify viewers. Nothing is removed after the clock
    was set."""
    plan_statistics.refresh()
    if not CLOCK.is_steady():
        return
    for run in retention.tidy():
        log.info("run %s (#%d): its frames were removed", run.pk, run.number)
        announce(connection(), run.pk)


def start() -> threading.Thread:
    """Start the caretaker as a daemon thread."""
    thread = threading.Thread(target=_care, name="caretaker", daemon=True)
    thread.start()
    return thread


def tell(error: Exception) -> None:
    """Log why lost work cannot be looked for. At a first start, or after an update, nothing is wrong: the tables are still being made."""
    with suppress(DatabaseError, InterfaceError):
        if outages.note(error) or not is_migrated():
            return
    log.warning("cannot look for lost work: %s", error)


def _care() -> None:
    pause = threading.Event()
    tidied_s = -TIDY_S
    while True:
        send_heartbeat(worker_name())
        close_old_connections()
        try:
            sweep()
            outages.DATABASE.over()
            if time.monotonic() - tidied_s >= TIDY_S:
                tidied_s = time.monotonic()
                tidy()
        except (DatabaseError, InterfaceError) as error:
            tell(error)
            connections.close_all()
        except Exception:
            log.exception("looking for lost work failed")
        pause.wait(SWEEP_S)

"""Runs for Spark: find runs of studies with `executor: spark` in the database and hand them to the executors.

Each core has a Spark job of one task, sent by a thread that waits for its end. It brings a run, and the executor then takes other waiting
runs (`workers.spark.executor`). The outcome of a run is in its row; this process only remembers which runs are with Spark right now, so it
may die at any time. The jobs have their own pool, so that analyses get their share of the executors as soon as a task ends.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import Counter
from contextlib import suppress
from queue import Empty, SimpleQueue
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, InterfaceError, close_old_connections, connection, connections

from webapp.lab.models import Run
from webapp.lib import outages
from workers import studies
from workers.execution import SHUTTING_DOWN
from workers.identity import HOST

from .executor import HandedOver, execute
from .session import Session, SparkUnavailable, first_line

log = logging.getLogger(__name__)

POOL = "studies"
LOOK_S = 0.5
AGAIN_S = 2.0
TRIES_MAX = 3
"""How often a run is handed over without being started before giving up."""


class Runs:
    """Hands over runs, from `start` to the end of the process."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.with_spark: dict[UUID, int] = {}  # runs, with their losses at the time of hand-over
        self.tries: Counter[UUID] = Counter()  # hand-overs without a start
        self.threads = 0
        self.given: SimpleQueue[Run] = SimpleQueue()
        self.ended: SimpleQueue[tuple[UUID, str]] = SimpleQueue()  # a run, and why it cannot be executed

    def start(self) -> None:
        threading.Thread(target=self._care, name="runs for Spark", daemon=True).start()

    def _care(self) -> None:
        while not SHUTTING_DOWN.is_set():
            close_old_connections()
            try:
                while self._hand_over():
                    pass
                with suppress(Empty):
                    self._came_back(*self.ended.get(timeout=LOOK_S))
            except (DatabaseError, InterfaceError) as error:
                if not outages.note(error):
                    log.warning("cannot look for runs for Spark: %s", error)
                connections.close_all()
                SHUTTING_DOWN.wait(AGAIN_S)
            except Exception:
                log.exception("handing runs to Spark failed")
                SHUTTING_DOWN.wait(AGAIN_S)

    def _hand_over(self) -> bool:
        """Hand over waiting runs. Returns False if no run waits, no core is free, or Spark is unavailable."""
        room = max(1, self.session.cores) - len(self.with_spark)
        waiting = Run.objects.for_spark().exclude(pk__in=self.with_spark).defer("document", "summary").order_by("created_at")
        runs = list(waiting[:room]) if room > 0 else []
        if not (runs or self.with_spark):
            return False
        try:
            self.session.get()  # even if all runs are with Spark: it may have lost its executors for good
        except SparkUnavailable as why:
            studies.fail_for_want_of_spark(str(why))
            return False
        for run in runs:
            run.directory.mkdir(parents=True, exist_ok=True)
            self.with_spark[run.pk] = run.losses
            if self.threads < len(self.with_spark):
                self.threads += 1
                threading.Thread(target=self._wait_for_runs, name=f"runs for Spark {self.threads}", daemon=True).start()
            self.given.put(run)
        return bool(runs)

    def _came_back(self, id: UUID, why: str) -> None:
        losses = self.with_spark.pop(id)
        if not Run.objects.for_spark().filter(pk=id, losses=losses).exists():
            self.tries.pop(id, None)
            return
        self.tries[id] += 1
        if self.tries[id] < TRIES_MAX:
            SHUTTING_DOWN.wait(AGAIN_S)
        else:
            self.tries.clear()
            studies.fail_for_want_of_spark(why or "Spark's executors cannot find the runs in their database; give them the lab's database")

    # --- the threads --------------------------------------------------------------------------------------------------------------------

    def _wait_for_runs(self) -> None:
        while True:
            run = self.given.get()
            try:
                why = self._executed(run)
            except SparkUnavailable as unavailable:
                why = str(unavailable)
            except Exception as error:
                log.warning("run %s (#%d): Spark failed: %s", run.pk, run.number, first_line(error))
                why = f"Spark cannot execute runs: {first_line(error)}; the log of the analysis worker has the details"
            self.ended.put((run.pk, why))

    def _executed(self, run: Run) -> str:
        context = self.session.get().sparkContext
        context.setLocalProperty("spark.scheduler.pool", POOL)
        given = HandedOver(str(run.pk), str(run.directory), environment(), HOST, connection.vendor == "sqlite")
        (why,) = context.parallelize([given], 1).map(execute).collect()
        return str(why)


def environment() -> dict[str, str]:
    """Return the environment from which another process gets the same settings."""
    names = ("DATABASE_URL", "REDIS_URL", "MILLRACE_LOG_FORMAT", "DJANGO_SETTINGS_MODULE")
    return {**{name: os.environ.get(name, "") for name in names}, "MILLRACE_DATA": str(settings.DATA_DIR)}

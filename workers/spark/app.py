"""The Celery application of the analysis worker: `celery -A workers.spark.app worker --pool solo --queues spark`.

It answers questions one after the other, and hands runs of studies to Spark's executors in the background. Java starts with the first of
either, so a lab that uses neither pays nothing.
"""

from __future__ import annotations

import os
import threading
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup()

from celery import signals  # noqa: E402

from webapp.lab.models import CalibrationJob, SparkJob, SparkRun  # noqa: E402
from webapp.lib.logs import bound  # noqa: E402
from webapp.messaging.heartbeats import tell_spark_state  # noqa: E402
from webapp.messaging.queue import application  # noqa: E402
from workers import queue_connection  # noqa: E402
from workers.execution import SHUTTING_DOWN  # noqa: E402
from workers.outages import waiting_for_the_database  # noqa: E402

from . import calibrations, jobs, queries  # noqa: E402
from .runs import Runs  # noqa: E402
from .session import SESSION, master  # noqa: E402

queue_connection.watch(application)
__all__ = ["application", "calibration", "spark_job", "spark_run"]

SIGN_S = 2.0


@application.task(name=SparkJob.TASK)
@waiting_for_the_database
def spark_job(id: str) -> None:
    """Answer a question about many runs. Idempotent."""
    with bound(analysis=id):
        jobs.make(id)


@application.task(name=SparkRun.TASK)
@waiting_for_the_database
def spark_run(id: str) -> None:
    """Execute the query of a run on Spark. Idempotent."""
    with bound(query=id):
        queries.make(id)


@application.task(name=CalibrationJob.TASK)
@waiting_for_the_database
def calibration(id: str) -> None:
    """Measure what Spark takes on this machine. Idempotent."""
    with bound(calibration=id):
        calibrations.make(id)


@signals.worker_ready.connect
def begin(**_: Any) -> None:
    threading.Thread(target=_tell, name="state of Spark", daemon=True).start()
    Runs(SESSION).start()


@signals.worker_shutting_down.connect
def stop_working(**_: Any) -> None:
    """Requeue a job in progress; its summaries stay. Runs in progress are lost with the session and executed again."""
    SHUTTING_DOWN.set()


def _tell() -> None:
    pause = threading.Event()
    while True:
        tell_spark_state(SESSION.state, master(), SESSION.message, SESSION.cores)
        pause.wait(SIGN_S)

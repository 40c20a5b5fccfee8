"""The Celery application of a worker: `celery -A workers.app worker --pool solo`.

A process executes one run at a time and has no children: compiled code stays warm, threads and forks do not mix, and a killed process is
exactly one lost worker. To scale, start more processes.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
os.environ.setdefault("MILLRACE_CONNECTION_S", "60")  # the next run needs the database again; connecting takes milliseconds
django.setup()

from celery import signals  # noqa: E402

import engine  # noqa: E402
from webapp.lab import fair_turns  # noqa: E402
from webapp.lab.models import LearningJob, Reproduction, Run, Study, Waterfalls  # noqa: E402
from webapp.lib.logs import bound  # noqa: E402
from webapp.messaging.queue import QUEUE, application  # noqa: E402

from . import caretaker, execution, figures, learning, queue_connection, studies, waterfalls  # noqa: E402
from .outages import waiting_for_the_database  # noqa: E402

log = logging.getLogger(__name__)
queue_connection.watch(application)
__all__ = ["QUEUE", "advance_study", "application", "execute_run", "learn", "make_waterfalls", "reproduce_figure"]


@application.task(name=Run.TASK)
@waiting_for_the_database
def execute_run(run_id: str) -> None:
    """Claim the run whose turn it is, execute it, store its result. Idempotent: a second delivery finds nothing to claim."""
    for id in fair_turns.order(run_id):
        with bound(run=id):
            executed = execution.execute(id)
        studies.after(id)
        if executed:
            fair_turns.wake(id)
            return


@application.task(name=Waterfalls.TASK)
@waiting_for_the_database
def make_waterfalls(id: str) -> None:
    """Repeat a finished run to find the latency breakdown of selected records. Idempotent."""
    with bound(question=id):
        waterfalls.make(id)


@application.task(name=Study.TASK)
@waiting_for_the_database
def advance_study(id: str) -> None:
    """Start a study, or continue it after a loss. Idempotent."""
    studies.advance(id)


@application.task(name=Reproduction.TASK)
@waiting_for_the_database
def reproduce_figure(id: str) -> None:
    """Reproduce a figure and check its assertions. Idempotent."""
    with bound(reproduction=id):
        figures.make(id)


@application.task(name=LearningJob.TASK)
@waiting_for_the_database
def learn(id: str) -> None:
    """Measure a corpus or train models. Idempotent."""
    with bound(job=id):
        learning.learn(id)


@signals.worker_init.connect
def warm_up(**_: Any) -> None:
    """Compile the engine, or load compiled code, in the background, so that the first runs start at once."""
    threading.Thread(target=engine.warm_up, args=(execution.SHUTTING_DOWN.is_set,), name="warm-up").start()


@signals.worker_ready.connect
def start_caretaker(**_: Any) -> None:
    caretaker.start()


@signals.worker_ready.connect
def leave_out_of_the_search_for_garbage(**_: Any) -> None:
    """Exclude the worker's permanent objects from garbage collection: scanning them during a run takes as long as a short run."""
    gc.collect()
    gc.freeze()


@signals.worker_shutting_down.connect
def stop_running(**_: Any) -> None:
    """Snapshot and requeue the running experiment; another worker, or this one after a restart, continues it. Waterfalls and figures
    restart from the beginning."""
    execution.SHUTTING_DOWN.set()

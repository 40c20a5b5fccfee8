"""The Celery application of a worker: `celery -A workers.app worker --pool solo`.

One process executes one run at a time. It has no children: what is compiled once stays warm, threads and forks do not meet, and a killed
process is a killed worker, nothing less and nothing more. More workers are more processes.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
os.environ.setdefault("MILLRACE_CONNECTION_S", "60")  # the next run needs the database again; to connect takes some milliseconds
django.setup()

from celery import signals  # noqa: E402

import engine  # noqa: E402
from webapp.lab.models import Reproduction, Run, Study, Waterfalls  # noqa: E402
from webapp.lib.logs import bound  # noqa: E402
from webapp.messaging.queue import QUEUE, application  # noqa: E402

from . import caretaker, execution, figures, studies, waterfalls  # noqa: E402

log = logging.getLogger(__name__)
__all__ = ["QUEUE", "advance_study", "application", "execute_run", "make_waterfalls", "reproduce_figure"]


@application.task(name=Run.TASK)
def execute_run(run_id: str) -> None:
    """Claim the run, execute it, store its result. Safe to deliver twice: the second claim finds nothing to do."""
    with bound(run=run_id):
        execution.execute(run_id)
    studies.after(run_id)


@application.task(name=Waterfalls.TASK)
def make_waterfalls(id: str) -> None:
    """Run a finished run again and say where the time of chosen records went. Safe to deliver twice."""
    with bound(question=id):
        waterfalls.make(id)


@application.task(name=Study.TASK)
def advance_study(id: str) -> None:
    """Begin a study, or carry it on after a loss. Safe to deliver twice."""
    studies.advance(id)


@application.task(name=Reproduction.TASK)
def reproduce_figure(id: str) -> None:
    """Carry a figure out and judge it. Safe to deliver twice."""
    with bound(reproduction=id):
        figures.make(id)


@signals.worker_init.connect
def warm_up(**_: Any) -> None:
    """Compile, or load what was compiled before, beside all else, so that first runs start at once."""
    threading.Thread(target=engine.warm_up, args=(execution.SHUTTING_DOWN.is_set,), name="warm-up").start()


@signals.worker_ready.connect
def start_caretaker(**_: Any) -> None:
    caretaker.start()


@signals.worker_ready.connect
def leave_out_of_the_search_for_garbage(**_: Any) -> None:
    """What the worker is made of stays for ever; to look through it takes as long as a short run, amid that run."""
    gc.collect()
    gc.freeze()


@signals.worker_shutting_down.connect
def stop_running(**_: Any) -> None:
    """A running experiment is snapshotted and given back to the queue; another worker, or the next start, goes on with it. Waterfalls
    and figures begin anew there."""
    execution.SHUTTING_DOWN.set()

"""On a Spark executor: claim a run by its lease, like any worker, execute it, and advance its study.

Spark only decides where. A task that it starts twice, or again after a loss, finds the run already claimed. No module of the lab is
imported before the executor's process has the lab's environment.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

STAYS_S = 2.0
"""How long an executor keeps taking runs before others get its core. Spark needs about a tenth of a second to start a task."""


@dataclass(frozen=True)
class HandedOver:
    """A run for an executor. directory: the run's, which already exists. environment: for the lab's settings. host: of the analysis worker.
    one_machine: the database is usable only from that host."""

    run: str
    directory: str
    environment: dict[str, str]
    host: str
    one_machine: bool


def execute(given: HandedOver) -> str:
    """Execute the run, unless it is already claimed, and then other waiting runs for a while. Returns why nothing can be executed here, or
    an empty string."""
    here = socket.gethostname()
    if given.one_machine and here != given.host:
        return (
            f"the executor on {here} cannot use the lab's database, an SQLite file on {given.host}; use PostgreSQL for the lab "
            "(DATABASE_URL), or let the lab's own workers execute the runs (executor: workers)"
        )
    if not exists(given.directory):
        return (
            f"the executor on {here} cannot find the folder {given.directory}, which {given.host} created for a run; all machines of "
            "the cluster need the data directory (MILLRACE_DATA) under the same path"
        )
    if not os.access(given.directory, os.R_OK | os.W_OK | os.X_OK):
        return (
            f"the executor on {here} (user {os.getuid()}) cannot write to the folder {given.directory}; executors must run as the "
            "lab's user, or as members of a group that the data directory is shared with (docs/lab.md)"
        )
    try:
        _set_up(given.environment)
        _execute(given.run)
    except Exception as error:
        said = (str(error).strip() or "no message").splitlines()[0][:300]
        return f"the executor on {here} cannot work for the lab: {type(error).__name__}: {said}; its log has the details"
    return ""


def exists(directory: str) -> bool:
    """Return whether the folder exists; True if this user may not see it."""
    try:
        return Path(directory).is_dir()
    except PermissionError:
        return True


def _set_up(environment: dict[str, str]) -> None:
    from django.apps import apps

    if apps.ready:
        return
    os.environ.update(environment)
    os.environ.setdefault("MILLRACE_SECRET_KEY", uuid.uuid4().hex)  # signs nothing here
    import django

    django.setup()


def _execute(first: str) -> None:
    from django.db import connections

    from webapp.lab.models import Run
    from webapp.lib.logs import bound
    from workers import execution, studies
    from workers.outages import waiting_for_the_database

    @waiting_for_the_database
    def execute(run_id: str) -> None:
        with bound(run=run_id):
            execution.execute(run_id)
        studies.after(run_id)

    run_id, until_s = first, time.monotonic() + STAYS_S
    try:
        while run_id:
            execute(run_id)
            waiting = Run.objects.for_spark().order_by("created_at").values_list("pk", flat=True)
            run_id = str(waiting.first() or "") if time.monotonic() < until_s else ""
    finally:
        connections.close_all()

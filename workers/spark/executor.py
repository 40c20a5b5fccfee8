"""On an executor of Spark: a run of the lab is taken by its lease, as any worker does, and its study is carried on.

Spark only chooses where. What it starts twice, or again after a loss, finds that somebody has the run already. Nothing of the lab is
imported before the executor's process knows where the lab is.
"""

from __future__ import annotations

import os
import socket
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

STAYS_S = 2.0
"""So long an executor takes one run after the other. Then others get the core: to start a task takes Spark about a tenth of a second."""


@dataclass(frozen=True)
class HandedOver:
    """A run for an executor. directory: its own, which is there already. environment: with which the lab's settings are read. host: of who
    hands it over; one_machine: the database can be used from there only."""

    run: str
    directory: str
    environment: dict[str, str]
    host: str
    one_machine: bool


def execute(given: HandedOver) -> str:
    """Execute the run, unless somebody else has it, and for a while others that wait. Returns a sentence if nothing can be executed
    here, else nothing."""
    here = socket.gethostname()
    if given.one_machine and here != given.host:
        return (
            f"the executor on {here} cannot use the lab's database, an SQLite file on {given.host}; let the lab have PostgreSQL "
            "(DATABASE_URL), or its own workers make the runs (executor: workers)"
        )
    if not exists(given.directory):
        return (
            f"the executor on {here} does not find the folder {given.directory}, which {given.host} has made for a run; all machines of "
            "the cluster need the data directory (MILLRACE_DATA) under the same path"
        )
    if not os.access(given.directory, os.R_OK | os.W_OK | os.X_OK):
        return (
            f"the executor on {here} (user {os.getuid()}) may not write to the folder {given.directory}; executors must run as the "
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
    """Whether there is such a folder, as far as this user may see it."""
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

    run_id, until_s = first, time.monotonic() + STAYS_S
    try:
        while run_id:
            with bound(run=run_id):
                execution.execute(run_id)
            studies.after(run_id)
            waiting = Run.objects.for_spark().order_by("created_at").values_list("pk", flat=True)
            run_id = str(waiting.first() or "") if time.monotonic() < until_s else ""
    finally:
        connections.close_all()

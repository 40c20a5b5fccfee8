"""Starting runs. The row is stored before the run is enqueued, and also if it cannot be enqueued."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from django.db import transaction
from django.utils import timezone

from engine import spec
from engine.spec.base.parameters import parameters
from engine.spec.base.units import seconds_ns
from engine.spec.rules.forking import Fork
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce

from .documents import Checked, check
from .models import Executor, Experiment, Lab, Run, RunParameter
from .person_limits import check_start
from .verdicts import before_its_end
from .waiting_work import send

QUEUE_AWAY = "the queue is unreachable; the run is stored and starts when the queue is back"


class Refused(Exception):
    """The document is invalid. checked: why."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        super().__init__("the experiment is invalid")


def submit(
    experiment: Experiment, document: dict[str, Any], lab: Lab, seed: int | None = None, pace: float | None = None, author: str = ""
) -> tuple[Run, str | None]:
    """Store a run of a copy of the document and enqueue it.

    seed: replaces the document's seed. pace: maximum virtual seconds per second, None for as fast as possible. author: name of the person
    who starts it. Returns the run and, if it has to wait for the queue, a note that says so. Raises `Refused`, LimitReached.
    """
    document = deepcopy(document)
    if seed is not None and isinstance(document.get("workload"), dict):
        document["workload"]["seed"] = seed
    return start(experiment, document, checked_valid(document, lab), lab, pace, author=author)


def fork(parent: Run, fork: Fork, lab: Lab, pace: float | None = None, author: str = "") -> tuple[Run, str | None]:
    """Store and enqueue a run that is identical to its parent up to the time of the fork. Returns as `submit`. Raises Refused,
    LimitReached, Refusal (with a place inside the fork)."""
    document = fork.applied(checked_valid(parent.document, lab), parent.document)
    valid = checked_valid(document, lab)
    return start(parent.experiment, document, valid, lab, pace, author=author, parent=parent, fork_at_ns=seconds_ns(fork.at_s))


def checked_valid(document: dict[str, Any], lab: Lab) -> spec.Experiment:
    """Raises `Refused`."""
    checked = check(document, lab)
    if checked.experiment is None:
        raise Refused(checked)
    return checked.experiment


def start(
    experiment: Experiment, document: dict[str, Any], valid: spec.Experiment, lab: Lab, pace: float | None = None, **origin: Any
) -> tuple[Run, str | None]:
    """Store a run of a document and enqueue it. valid: the validated document. lab: with its limits as they are now. origin: its author; a
    study and its executor, or a parent and the time of the fork. Returns as `submit`, with the run as it was before a worker claimed it.
    Raises LimitReached."""
    check_start(lab, origin.get("author", ""), waits=origin.get("study") is None)
    rows = RunParameter.rows(lab.pk, parameters(valid.canonical))  # before the transaction: on SQLite, nobody else writes during it
    for_workers = origin.get("executor", Executor.WORKERS) == Executor.WORKERS
    with transaction.atomic():
        run = Run.start(
            experiment,
            document=document,
            hash=valid.hash,
            setup=valid.setup_hash,
            seed=valid.workload.seed,
            horizon_ns=valid.workload.horizon_ns,
            pace=pace,
            judged=before_its_end(valid),
            enqueued_at=timezone.now() if for_workers else None,
            **origin,
        )
        RunParameter.store(run, rows)
    queued = send(run.pk) if for_workers else True
    announce(connection(), run.pk)
    return run, None if queued else QUEUE_AWAY

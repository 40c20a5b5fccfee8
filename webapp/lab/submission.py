"""Starting runs: the row exists before anything is queued, and it exists even when nothing can be queued."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from webapp.lib.redis_connection import connection
from webapp.live.stream import announce
from webapp.queue import enqueue

from .documents import Checked, check
from .models import Experiment, Lab, Run

QUEUE_AWAY = "the queue cannot be reached at the moment; the run is stored and starts by itself as soon as the queue is back"


class Refused(Exception):
    """The document is invalid; `checked` says why."""

    def __init__(self, checked: Checked) -> None:
        self.checked = checked
        super().__init__("the experiment is invalid")


def submit(
    experiment: Experiment, document: dict[str, Any], lab: Lab, seed: int | None = None, pace: float | None = None
) -> tuple[Run, str | None]:
    """Store a run of a copy of the document and hand it to the workers.

    seed: replaces the document's own. pace: virtual seconds a second, None: as fast as possible. Returns the run and, if it has to wait
    for the queue, a note that says so. Raises `Refused`.
    """
    document = deepcopy(document)
    if seed is not None and isinstance(document.get("workload"), dict):
        document["workload"]["seed"] = seed
    checked = check(document, lab)
    valid = checked.experiment
    if valid is None:
        raise Refused(checked)
    run = Run.start(
        experiment,
        document=document,
        hash=valid.hash,
        seed=valid.workload.seed,
        horizon_ns=valid.workload.horizon_ns,
        pace=pace,
    )
    queued = enqueue(run.pk)
    announce(connection(), run.pk)
    run.refresh_from_db()
    return run, None if queued else QUEUE_AWAY

"""One attempt at work other than a run: claim it, monitor it, and store its outcome."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from webapp.lab.models import RunState
from webapp.lab.models.work import WorkQuerySet
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row

from .execution import SHUTTING_DOWN, store_end
from .identity import new_holder
from .run_monitor import LeaseLost, Monitor, ShuttingDown

log = logging.getLogger(__name__)


def attempt(
    rows: WorkQuerySet,
    id: str,
    news: str,
    outcome: Callable[[Any, Any], dict[str, Any] | None],
    *,
    monitored_by: type[Monitor] = Monitor,
    lay_down: Callable[[Any, str], None] | None = None,
) -> Any:
    """Attempt queued work. Returns the work if it has ended; None if another worker holds it, if it is no longer queued, or if it continues
    later.

    news: kind to announce. outcome: does the work and returns its result as changes of the row; None if the work is not finished, in which
    case `lay_down` is called with the lease holder.
    """
    holder = new_holder()
    if not rows.claim(id, holder):
        return None
    announce_row(connection(), news, id)
    work = rows.get(pk=id)
    try:
        with monitored_by(work, holder, SHUTTING_DOWN) as monitor:
            changes = outcome(work, monitor)
    except LeaseLost:
        log.warning("%s %s: lost to another worker, or deleted", news, id)
        return None
    except ShuttingDown:
        if rows.release(id, holder):
            log.info("%s %s: requeued, this worker is shutting down", news, id)
            announce_row(connection(), news, id)
            return None
        changes = {"state": RunState.CANCELLED}
    if changes is None:
        assert lay_down
        lay_down(work, holder)
        return None
    mine = store_end(work, holder, changes)
    announce_row(connection(), news, id)
    log.info("%s %s: %s", news, id, changes["state"] if mine else "taken by another worker")
    return work

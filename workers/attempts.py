"""One attempt at work that is no run: claimed, attended, and left in a state that says how it went."""

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
    outcome: Callable[[Any, Monitor], dict[str, Any] | None],
    *,
    monitored_by: type[Monitor] = Monitor,
    lay_down: Callable[[Any, str], None] | None = None,
) -> Any:
    """Attempt queued work; returns it if it has ended, None if somebody else has it, if it is not queued any more, or if it goes on later.

    news: as what it is announced. outcome: does the work and says how it went, as changes of the row; None: it is not at its end, and
    `lay_down` is told who holds it.
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
            log.info("%s %s: given back, this worker ends", news, id)
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

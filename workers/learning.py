"""One attempt at measuring a corpus or training models, in a process of its own. What was done is kept, and the next attempt goes on."""

from __future__ import annotations

import logging
import os
from typing import Any

from engine.learning.client import Client, LearningFailed
from webapp.lab.models import LearningJob, RunState
from webapp.lab.models.learning import DOING_MAX
from webapp.lib import outages
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row

from .attempts import attempt
from .execution import failed
from .run_monitor import Cancelled, LeaseLost, Monitor, ShuttingDown

log = logging.getLogger(__name__)

NEWS = "learning"
PROCESSES = max(1, (os.cpu_count() or 1) // 2)
"""That work at the same time; other work goes on beside them."""


class Attendant(Monitor):
    """Tells what is going on, in words. news: their kind. Raises what interrupts the work from `is_at`."""

    news = NEWS
    doing = reported = ""

    def is_at(self, doing: str) -> None:
        self.doing = doing
        self.check()

    def _report(self) -> None:
        if self.doing != self.reported and self.rows.held(self.work.pk, self.holder).update(doing=self.doing[:DOING_MAX]):
            self.reported = self.doing
            announce_row(connection(), self.news, self.work.pk)


def learn(id: str) -> None:
    """Do a queued job. No effect if another worker holds it, or if it is not queued."""
    attempt(LearningJob.objects.select_related("lab"), id, NEWS, _outcome, monitored_by=Attendant)


def _outcome(job: LearningJob, monitor: Attendant) -> dict[str, Any]:
    """The outcome as changes of the row. Raises LeaseLost and ShuttingDown."""
    try:
        Client(job.lab.home, PROCESSES, monitor.is_at).ask(job.kind, {"name": job.name, **job.settings})  # type: ignore[arg-type]
    except (LeaseLost, ShuttingDown):
        raise
    except Cancelled:
        return {"state": RunState.CANCELLED}
    except LearningFailed as reason:
        return failed(str(reason))
    except Exception as error:
        outages.pass_on(error)
        log.exception("job %s failed", job.pk)
        return failed(f"{type(error).__name__}: {error}; the worker's log has the details")
    return {"state": RunState.SUCCEEDED}

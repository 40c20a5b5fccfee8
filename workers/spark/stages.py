"""Work on Spark that tells what it does now."""

from __future__ import annotations

from typing import Any, ClassVar

from webapp.lab.models.spark_runs import DOING_MAX
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row
from workers.run_monitor import Monitor


class StageMonitor(Monitor):
    """Stores `doing` and `progress` in the row, and announces it."""

    NEWS: ClassVar[str]
    doing = ""
    reported: tuple[object, ...] = ()

    def is_at(self, doing: str, progress: float) -> None:
        """Raises what interrupts the work."""
        self.doing = doing
        self.reached_share(progress)
        self.wake.set()

    def _now(self) -> dict[str, Any]:
        """Fields of the row."""
        return {"doing": self.doing[:DOING_MAX], "progress": self.progress}

    def _report(self) -> None:
        now = self._now()
        if tuple(now.values()) != self.reported and self.rows.held(self.work.pk, self.holder).update(**now):
            self.reported = tuple(now.values())
            announce_row(connection(), self.NEWS, self.work.pk)

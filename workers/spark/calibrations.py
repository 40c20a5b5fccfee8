"""One attempt at measuring this machine's Spark: ask whether others are at work, measure, and write the file that predictions use."""

from __future__ import annotations

from typing import Any

from engine.spec import Refusal
from webapp.lab import calibrations
from webapp.lab.models import CalibrationJob, RunState
from webapp.lab.models.spark_runs import DOING_MAX
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row
from workers.attempts import attempt
from workers.run_monitor import Monitor

from . import calibrating
from .outcomes import outcome_of
from .session import LOCAL, SESSION, master

NEWS = "calibration"


class CalibrationMonitor(Monitor):
    doing = ""
    reported: tuple[object, ...] = ()

    def is_at(self, doing: str, progress: float) -> None:
        """Raises what interrupts the work."""
        self.doing = doing
        self.reached_share(progress)

    def _report(self) -> None:
        now = {"doing": self.doing[:DOING_MAX], "progress": self.progress}
        if tuple(now.values()) != self.reported and self.rows.held(self.work.pk, self.holder).update(**now):
            self.reported = tuple(now.values())
            announce_row(connection(), NEWS, self.work.pk)


def make(id: str) -> None:
    """Measure for a queued job. No effect if another worker holds it, or if it is no longer queued."""
    attempt(CalibrationJob.objects.all(), id, NEWS, _outcome, monitored_by=CalibrationMonitor)


def _outcome(job: CalibrationJob, monitor: CalibrationMonitor) -> dict[str, Any]:
    return outcome_of(lambda: _make(job, monitor), "the calibration", calibrations.file().parent, "give Spark more (SPARK_DRIVER_MEMORY)")


def _make(job: CalibrationJob, monitor: CalibrationMonitor) -> dict[str, Any]:
    if (where := master()) != LOCAL:
        raise Refusal(f"Spark is a cluster here ({where}), and what is measured is one machine; unset SPARK_MASTER")
    monitor.is_at("looking whether others are at work", 0.0)
    share = 0.0 if job.though_busy else calibrating.work_of_others(monitor.check)
    if share > calibrating.BUSY_MAX:
        raise Refusal(f"other processes have {100 * share:.0f} % of the machine; wait until it is quiet, or choose to measure all the same")
    monitor.is_at("starting Spark", 0.0)
    spark, steps, done = SESSION.get(), calibrating.steps(), 0

    def told(doing: str) -> None:
        nonlocal done
        monitor.is_at(doing, done / steps)
        done += 1

    calibrating.calibrate(spark, told, monitor.check).write(calibrations.file())
    return {"state": RunState.SUCCEEDED, "progress": 1.0, "doing": ""}

"""One attempt at measuring this machine's Spark: ask whether others are at work, measure, and write the file that predictions use."""

from __future__ import annotations

from typing import Any

from engine.spec import Refusal
from webapp.lab import calibrations
from webapp.lab.models import CalibrationJob, RunState
from workers.attempts import attempt

from . import calibrating
from .outcomes import outcome_of
from .session import SESSION
from .stages import StageMonitor

NEWS = "calibration"


class CalibrationMonitor(StageMonitor):
    NEWS = NEWS


def make(id: str) -> None:
    """Measure for a queued job. No effect if another worker holds it, or if it is no longer queued."""
    attempt(CalibrationJob.objects.all(), id, NEWS, _outcome, monitored_by=CalibrationMonitor)


def _outcome(job: CalibrationJob, monitor: CalibrationMonitor) -> dict[str, Any]:
    return outcome_of(lambda: _make(job, monitor), "the calibration", calibrations.file().parent, "give Spark more (SPARK_DRIVER_MEMORY)")


def _make(job: CalibrationJob, monitor: CalibrationMonitor) -> dict[str, Any]:
    calibrating.refuse_a_cluster()
    monitor.is_at("looking whether others are at work", 0.0)
    share = 0.0 if job.though_busy else calibrating.work_of_others(monitor.check)
    if share > calibrating.BUSY_MAX:
        raise Refusal(f"other processes use {100 * share:.0f} % of the machine; wait until it is quiet, or choose to measure all the same")
    monitor.is_at("starting Spark", 0.0)
    spark, steps, done = SESSION.get(), calibrating.steps(), 0

    def told(doing: str) -> None:
        nonlocal done
        monitor.is_at(doing, done / steps)
        done += 1

    calibrating.calibrate(spark, told, monitor.check).write(calibrations.file())
    return {"state": RunState.SUCCEEDED, "progress": 1.0, "doing": ""}

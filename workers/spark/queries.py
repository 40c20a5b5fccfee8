"""One attempt at a run's query on Spark: write the program, stream its input, run the model once more, compare the records.

Spark's checkpoints say how far a stream was, so whoever attempts it next goes on from there.
"""

from __future__ import annotations

import shutil
import time
from typing import Any

import engine
from engine.export import TooManyRecords, compiled, write
from engine.spec import Experiment, Refusal
from engine.spec.rules.validation import Context, load
from webapp.lab import calibrations
from webapp.lab.documents import datasets_of
from webapp.lab.models import RunState, SparkRun
from webapp.lab.models.spark_runs import DOING_MAX, RECORDS_MAX
from webapp.lib.redis_connection import connection
from webapp.maintenance.retention import measure
from webapp.messaging.stream import announce_row
from workers.attempts import attempt
from workers.run_monitor import Monitor
from workers.time_slices import TimeSlices

from .calibrating import busy_share, busy_time
from .outcomes import outcome_of
from .predicting import Outlook, came_true, outlook
from .session import SESSION
from .streaming import BatchLog, compared, drained, stream

NEWS = "spark_run"
STREAMED = 0.8
"""Share of the progress bar for Spark; the rest is the model's run and the comparison."""


class StreamMonitor(Monitor):
    doing = ""
    batches = 0
    reported: tuple[object, ...] = ()

    def is_at(self, doing: str, progress: float, batches: int | None = None) -> None:
        """Raises what interrupts the work."""
        self.doing, self.batches = doing, self.batches if batches is None else batches
        self.reached_share(progress)
        self.wake.set()

    def _report(self) -> None:
        now = {"doing": self.doing[:DOING_MAX], "progress": self.progress, "batches": self.batches}
        if tuple(now.values()) != self.reported and self.rows.held(self.work.pk, self.holder).update(**now):
            self.reported = tuple(now.values())
            announce_row(connection(), NEWS, self.work.pk)


def make(id: str) -> None:
    """Execute a queued query. No effect if another worker holds it, or if it is no longer queued."""
    if ended := attempt(SparkRun.objects.select_related("run__lab"), id, NEWS, _outcome, monitored_by=StreamMonitor):
        ended.refresh_from_db()
        if ended.deleted_at is not None:
            ended.remove_files()
        elif ended.state == RunState.SUCCEEDED:
            shutil.rmtree(ended.program, ignore_errors=True)
        measure([ended.run])


def _outcome(row: SparkRun, monitor: StreamMonitor) -> dict[str, Any]:
    return outcome_of(lambda: _make(row, monitor), "the query on Spark", row.directory, "take a shorter run")


def _make(row: SparkRun, monitor: StreamMonitor) -> dict[str, Any]:
    context = Context(datasets=datasets_of(row.run.lab))
    whole = drained(load(row.run.document, context), context)
    query = compiled(whole, context)
    _write_program(row, monitor, whole, context)
    foreseen = _foreseen(row, monitor, whole, context)
    began_s = time.monotonic()
    log = BatchLog(row.batch_file)
    monitor.is_at("starting Spark", 0.0, len(log.batches))
    spark = SESSION.get()
    expected = (row.files + 1) * len(query.sinks)  # the last record of each stream is a file of its own

    def check() -> None:
        done = len(log.batches)
        monitor.is_at("streaming", STREAMED * min(1.0, done / expected), done)

    before = busy_time()
    stream(spark, row.program, log, check)
    foreseen = came_true(foreseen, log.batches, calibrations.file(), busy_share(before))
    took_s = time.monotonic() - began_s
    monitor.is_at("running the model", STREAMED, len(log.batches))
    simulation = engine.Simulation(whole, datasets=context.datasets, keep_outputs=True)
    TimeSlices().run_until(simulation, simulation.end_ns, monitor.check)
    monitor.is_at("comparing records", 0.95, len(log.batches))
    comparison = compared(simulation, query, row.program, log.batches, took_s)
    done = {"progress": 1.0, "batches": len(log.batches), "doing": "", "comparison": comparison.as_dict(), "prediction": foreseen}
    return {"state": RunState.SUCCEEDED, **done}


def _foreseen(row: SparkRun, monitor: StreamMonitor, whole: Experiment, context: Context) -> Outlook:
    """What the model predicts, also on the page, before Spark begins. An earlier attempt's is kept."""
    if row.prediction is None:
        monitor.is_at("predicting the speed", 0.0)
        row.prediction = outlook(whole, context, calibrations.file(), row.files, monitor.check)
        SparkRun.objects.held(row.pk, monitor.holder).update(prediction=row.prediction)
    found: Outlook = row.prediction
    return found


def _write_program(row: SparkRun, monitor: StreamMonitor, whole: Experiment, context: Context) -> None:
    """The program with its input, whole or not at all; nothing if an earlier attempt wrote it."""
    if row.program.exists():
        return
    monitor.is_at("writing the input", 0.0)
    unfinished = row.directory / "unfinished"
    shutil.rmtree(unfinished, ignore_errors=True)
    try:
        write(whole, unfinished, context, batches=row.files, records_max=RECORDS_MAX)
    except TooManyRecords as many:
        raise Refusal(f"{many}; shorten the run") from None
    unfinished.rename(row.program)

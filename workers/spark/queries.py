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
from webapp.lab.models.spark_runs import RECORDS_MAX
from webapp.maintenance.retention import measure
from workers.attempts import attempt
from workers.run_monitor import Cancelled
from workers.time_slices import TimeSlices

from .calibrating import busy_share, busy_time
from .outcomes import outcome_of
from .pacing import SLICE_NS, Pace
from .predicting import Outlook, came_true, outlook
from .session import SESSION
from .stages import StageMonitor
from .streaming import BatchLog, compared, drained, stream

NEWS = "spark_run"
STREAMED = 0.8
"""Share of the progress bar for Spark; the rest is the model's run and the comparison."""


class StreamMonitor(StageMonitor):
    NEWS = NEWS
    batches = 0

    def has_done(self, batches: int, progress: float) -> None:
        """Raises what interrupts the work."""
        self.batches = batches
        self.is_at("streaming", progress)

    def _now(self) -> dict[str, Any]:
        return {**super()._now(), "batches": self.batches}


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
    experiment = load(row.run.document, context)
    whole = drained(experiment, context)
    query = compiled(whole, context)
    _write_program(row, monitor, whole, context)
    foreseen = _foreseen(row, monitor, experiment, context)
    began_s = time.monotonic()
    log = BatchLog(row.batch_file)
    monitor.batches = len(log.batches)
    monitor.is_at("starting Spark", 0.0)
    spark = SESSION.get()
    expected = (row.files + 1) * len(query.sinks)  # the last record of each stream is a file of its own

    pace = Pace(row.program, row.trigger_ms) if row.paced else None

    def check() -> None:
        SESSION.check_executors()
        done = len(log.batches)
        share = done / expected if pace is None else pace.log_s(time.time()) / whole.workload.horizon_s
        monitor.has_done(done, STREAMED * min(1.0, share))

    before = busy_time()
    try:
        stream(spark, row.program, log, check, pace)
    except Cancelled:
        if pace is not None:
            pace.pause()
        raise
    foreseen = came_true(foreseen, log.batches, calibrations.file(), busy_share(before))
    took_s = time.monotonic() - began_s
    monitor.batches = len(log.batches)
    monitor.is_at("running the model", STREAMED)
    simulation = engine.Simulation(whole, datasets=context.datasets, keep_outputs=True)
    TimeSlices().run_until(simulation, simulation.end_ns, monitor.check)
    monitor.is_at("comparing records", 0.95)
    comparison = compared(simulation, query, row.program, log.batches, took_s, pace, experiment.workload.warmup_ns)
    done = {"progress": 1.0, "batches": len(log.batches), "doing": "", "comparison": comparison.as_dict(), "prediction": foreseen}
    return {"state": RunState.SUCCEEDED, **done}


def _foreseen(row: SparkRun, monitor: StreamMonitor, experiment: Experiment, context: Context) -> Outlook:
    """What the model predicts, also on the page, before Spark begins. An earlier attempt's is kept."""
    if row.prediction is None:
        monitor.is_at("predicting the speed", 0.0)
        trigger_ms = row.trigger_ms if row.paced else None
        row.prediction = outlook(experiment, context, calibrations.file(), row.files, monitor.check, trigger_ms)
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
        write(whole, unfinished, context, batches=row.files, records_max=RECORDS_MAX, slice_ns=SLICE_NS if row.paced else None)
    except TooManyRecords as many:
        raise Refusal(f"{many}; shorten the run") from None
    unfinished.rename(row.program)

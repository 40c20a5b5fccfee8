"""Runs: executions of documents, and their summary metrics."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q

from engine.spec.experiment.metrics import flat
from webapp.lib.covering_index import CoveringIndex
from webapp.lib.inserting import insert

from .experiments import Experiment
from .fields import FieldName
from .pauses import RunQuerySet
from .people import Lab
from .work import RunState, Work

NOTES_LENGTH_MAX = 20_000


class Executor(models.TextChoices):
    """What executes a run."""

    WORKERS = "workers"
    SPARK = "spark"


class ExecutedQuerySet(RunQuerySet):
    """Runs for Spark are in no queue: `workers.spark.runs` finds them here and hands them to the executors."""

    def queued(self) -> Self:
        return super().queued().exclude(executor=Executor.SPARK)

    def for_spark(self) -> Self:
        """Queued runs that Spark's executors take."""
        return super().queued().filter(executor=Executor.SPARK)


class Run(Work):
    """One execution of one document with one seed."""

    TASK = "workers.execute_run"
    LARGE_FIELDS = ("document",)
    SNAPSHOT = "snapshot"

    lab = models.ForeignKey(Lab, on_delete=models.CASCADE)
    number = models.PositiveIntegerField()
    experiment = models.ForeignKey(Experiment, on_delete=models.PROTECT, related_name="runs")
    experiment_version = models.PositiveIntegerField()
    study = models.ForeignKey("Study", null=True, on_delete=models.SET_NULL, related_name="runs")  # the study that created it
    executor = models.CharField(max_length=10, choices=Executor, default=Executor.WORKERS, db_default=Executor.WORKERS.value)
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="forks")  # the run it was forked from
    fork_at_ns = models.BigIntegerField(null=True)  # identical to its parent up to this time
    name = models.CharField(max_length=200)  # the experiment's name at the time
    author = models.CharField(max_length=150, blank=True, db_default="")  # name of the person who started it or its study, as it was then
    document = models.JSONField()
    hash = models.CharField(max_length=64, db_index=True)
    setup = models.CharField(max_length=64, blank=True, db_index=True)  # hash of the document without its seed
    seed = models.BigIntegerField()
    engine_version = models.CharField(max_length=100, blank=True)  # of the worker that claimed it
    horizon_ns = models.BigIntegerField()

    t_ns = models.BigIntegerField(default=0)  # virtual time reached
    eta_s = models.FloatField(null=True)  # estimated remaining wall-clock seconds
    compiling = models.BooleanField(default=False, db_default=False)  # the worker compiles the event loop of this query
    frames = models.PositiveIntegerField(default=0)  # number of frames so far
    pace = models.FloatField(null=True)  # maximum virtual seconds per second; null: as fast as possible
    hold_at_frame = models.PositiveIntegerField(null=True)  # see pauses
    paused_at = models.DateTimeField(null=True)
    summary = models.JSONField(null=True)
    sparkline = models.JSONField(null=True)  # p99 latency over virtual time, in ms; null for runs from before it was stored
    digest = models.CharField(max_length=64, blank=True)
    verdicts = models.JSONField(null=True)  # on the assertions of its document; null until it has ended
    judged = models.CharField(max_length=20, blank=True, db_default="")  # the outcome of all assertions together; empty without any
    notes = models.TextField(max_length=NOTES_LENGTH_MAX, blank=True)  # free text
    stored_bytes = models.BigIntegerField(null=True)  # size of its files; null: to be measured
    frames_removed_at = models.DateTimeField(null=True)  # see storage

    objects = ExecutedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "number"], name="one_run_of_a_number")]
        indexes = [
            # For lists and for joins of conditions: index-only scans, on an index a quarter of the table's size.
            CoveringIndex(
                fields=["lab", "number"],
                include=["id", "study", "state", "experiment", "seed"],
                on_sqlite=[
                    "deleted_at",
                    "name",
                    "author",
                    "started_at",
                    "finished_at",
                    "judged",
                    "hash",
                    "digest",
                    "setup",
                    "engine_version",
                    "stored_bytes",
                ],
                condition=Q(deleted_at__isnull=True),
                name="listed_runs",
            ),
            models.Index(fields=["lab", "experiment", "stored_bytes"], condition=Q(deleted_at__isnull=True), name="bytes_of_runs"),
            models.Index(fields=["lab", "author", "stored_bytes"], condition=Q(deleted_at__isnull=True), name="bytes_of_people"),
            models.Index(fields=["stored_bytes"], condition=Q(stored_bytes__isnull=True), name="unmeasured_runs"),
            models.Index(fields=["state"], condition=Q(state__in=["queued", "running", "paused"]), name="active_runs"),
        ]

    @classmethod
    def start(
        cls,
        experiment: Experiment,
        *,
        document: dict[str, Any],
        hash: str,
        setup: str,
        seed: int,
        horizon_ns: int,
        pace: float | None = None,
        study: models.Model | None = None,
        executor: str = Executor.WORKERS,
        parent: Run | None = None,
        fork_at_ns: int | None = None,
        judged: str = "",
        author: str = "",
        enqueued_at: datetime | None = None,
    ) -> Run:
        """Store a queued run with the lab's next number. The caller must then enqueue it. enqueued_at: when, if right after;
        None: the row is yet to be marked (`webapp.lab.waiting_work`)."""
        with transaction.atomic(savepoint=False):
            Lab.objects.filter(pk=experiment.lab_id).update(runs_numbered=F("runs_numbered") + 1)  # locks the row until the commit
            number = Lab.objects.values_list("runs_numbered", flat=True).get(pk=experiment.lab_id)
            name = document.get("name") or experiment.name
            return cls.objects.create(
                lab_id=experiment.lab_id, number=number, experiment=experiment, experiment_version=experiment.version, name=name,
                document=document, hash=hash, setup=setup, seed=seed, horizon_ns=horizon_ns, pace=pace, study=study,
                executor=executor, parent=parent, fork_at_ns=fork_at_ns, judged=judged, author=author,
                enqueued_at=enqueued_at,
            )  # fmt: skip

    @property
    def progress(self) -> float:
        """Virtual time over horizon, 0 to 1; 1 only once it has succeeded, since draining continues after the horizon."""
        if self.state == RunState.SUCCEEDED:
            return 1.0
        return min(0.999, self.t_ns / self.horizon_ns)

    def lost_error(self) -> str:
        return (
            f"the worker died {self.losses + 1} times in a row at the same point ({self.t_ns / 1e9:.3f} s of virtual time), "
            "probably out of memory; make the experiment smaller (rate, horizon, state) or give the worker more memory, "
            "then run it again"
        )

    @property
    def directory(self) -> Path:
        """Directory of its files: telemetry, live frames, snapshot."""
        return Path(settings.RUNS_DIR) / str(self.pk)

    @property
    def snapshot(self) -> Path:
        """Snapshot from which the next worker continues; none once the run has ended."""
        return self.directory / self.SNAPSHOT

    def remove_unfinished(self) -> None:
        """Remove partial files of a killed worker. Only for the lease holder, or once the run has ended."""
        for path in self.directory.rglob("*.tmp"):
            path.unlink(missing_ok=True)

    def remove_working_files(self) -> None:
        """Remove the snapshot and partial files. Only once the run has ended."""
        self.snapshot.unlink(missing_ok=True)
        self.remove_unfinished()

    def keep_what_was_measured(self) -> None:
        """Store the measurements so far of a run that was cancelled while paused."""
        RunSummary.store(self, self.summary or {})
        self.remove_working_files()


class RunSummary(models.Model):
    """One metric of a run's summary, by dotted name (`latency_ms.p99`), so that SQL can search and compare runs."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="metrics", db_index=False)
    metric = models.CharField(max_length=200)
    value = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "metric"], name="one_value_of_a_metric")]
        # Includes the run for index-only scans: the index keeps the entries of a metric together, the table does not.
        indexes = [CoveringIndex(fields=["metric", "value"], include=["run"], name="runs_by_metric")]

    @classmethod
    def store(cls, run: Run, summary: Mapping[str, Any]) -> None:
        """Replace the run's rows with those of the summary."""
        numbers = flat(summary)
        with transaction.atomic():
            cls.objects.filter(run=run).delete()
            insert(cls, {"run": run.pk}, ("metric", "value"), numbers)
            FieldName.ids(run.lab_id, (name for name, _ in numbers))

"""Runs: executions of documents, and the numbers of their summaries."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import F, Q

from engine.spec.study.metrics import flat
from webapp.lib.inserting import insert

from .experiments import Experiment
from .fields import FieldName
from .pauses import RunQuerySet
from .people import Lab
from .work import RunState, Work

NOTES_LENGTH_MAX = 20_000


class Executor(models.TextChoices):
    """Who takes a run."""

    WORKERS = "workers"
    SPARK = "spark"


class ExecutedQuerySet(RunQuerySet):
    """Runs for Spark are in no queue: who hands them to the executors looks for them here (`workers.spark.runs`)."""

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
    study = models.ForeignKey("Study", null=True, on_delete=models.SET_NULL, related_name="runs")  # that made it
    executor = models.CharField(max_length=10, choices=Executor, default=Executor.WORKERS, db_default=Executor.WORKERS.value)
    parent = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="forks")  # from which it was forked
    fork_at_ns = models.BigIntegerField(null=True)  # up to here it is as its parent
    name = models.CharField(max_length=200)  # the experiment's when the run was made
    document = models.JSONField()
    hash = models.CharField(max_length=64, db_index=True)
    setup = models.CharField(max_length=64, blank=True, db_index=True)  # hash of the document without its seed
    seed = models.BigIntegerField()
    engine_version = models.CharField(max_length=100, blank=True)  # of the worker that took it
    horizon_ns = models.BigIntegerField()

    t_ns = models.BigIntegerField(default=0)  # virtual time reached
    eta_s = models.FloatField(null=True)  # wall-clock seconds to go, estimated
    frames = models.PositiveIntegerField(default=0)  # how many there are
    pace = models.FloatField(null=True)  # virtual seconds a second, at most; null: as fast as possible
    hold_at_frame = models.PositiveIntegerField(null=True)  # see pauses
    paused_at = models.DateTimeField(null=True)
    summary = models.JSONField(null=True)
    digest = models.CharField(max_length=64, blank=True)
    notes = models.TextField(max_length=NOTES_LENGTH_MAX, blank=True)  # what people say of it
    stored_bytes = models.BigIntegerField(null=True)  # that its files take; null: to be measured
    frames_removed_at = models.DateTimeField(null=True)  # see storage

    objects = ExecutedQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["lab", "number"], name="one_run_of_a_number")]
        indexes = [
            # What lists ask of all runs, and how conditions come to runs: answered from the index alone, a quarter of the table.
            models.Index(
                fields=["lab", "number"],
                include=["id", "study", "state", "experiment", "seed"],
                condition=Q(deleted_at__isnull=True),
                name="listed_runs",
            ),
            models.Index(fields=["lab", "experiment", "stored_bytes"], condition=Q(deleted_at__isnull=True), name="bytes_of_runs"),
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
    ) -> Run:
        """Store a queued run with the lab's next number. Handing it to the queue is the caller's next step."""
        with transaction.atomic():
            Lab.objects.filter(pk=experiment.lab_id).update(runs_numbered=F("runs_numbered") + 1)  # locks the row until the commit
            number = Lab.objects.values_list("runs_numbered", flat=True).get(pk=experiment.lab_id)
            name = document.get("name") or experiment.name
            return cls.objects.create(
                lab_id=experiment.lab_id, number=number, experiment=experiment, experiment_version=experiment.version, name=name,
                document=document, hash=hash, setup=setup, seed=seed, horizon_ns=horizon_ns, pace=pace, study=study,
                executor=executor, parent=parent, fork_at_ns=fork_at_ns,
            )  # fmt: skip

    @property
    def progress(self) -> float:
        """Virtual time over horizon, 0 to 1; 1 only when it succeeded, since draining goes on after the horizon."""
        if self.state == RunState.SUCCEEDED:
            return 1.0
        return min(0.999, self.t_ns / self.horizon_ns)

    def lost_error(self) -> str:
        return (
            f"the worker died {self.losses + 1} times in a row at the same point ({self.t_ns / 1e9:.3f} s of virtual time), "
            "most likely for lack of memory; make the experiment smaller (rate, horizon, state) or give the worker more memory, "
            "and run it again"
        )

    @property
    def directory(self) -> Path:
        """Where its files are: telemetry, live frames, snapshot."""
        return Path(settings.RUNS_DIR) / str(self.pk)

    @property
    def snapshot(self) -> Path:
        """From which the next worker goes on; there is none once the run has ended."""
        return self.directory / self.SNAPSHOT

    def remove_unfinished(self) -> None:
        """Remove the files that a killed worker was writing. Only for the holder of the run's lease, or once the run has ended."""
        for path in self.directory.rglob("*.tmp"):
            path.unlink(missing_ok=True)

    def remove_working_files(self) -> None:
        """Remove what only an attempt needs: the snapshot and unfinished files. Only once the run has ended."""
        self.snapshot.unlink(missing_ok=True)
        self.remove_unfinished()

    def keep_what_was_measured(self) -> None:
        """The run was cancelled where it stood."""
        RunSummary.store(self, self.summary or {})
        self.remove_working_files()


class RunSummary(models.Model):
    """One number of a run's summary, by dotted name (`latency_ms.p99`), so that runs can be searched and compared in SQL."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="metrics", db_index=False)
    metric = models.CharField(max_length=200)
    value = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "metric"], name="one_value_of_a_metric")]
        # With the run: conditions are answered from the index alone, whose entries stand together as the rows of a metric do not.
        indexes = [models.Index(fields=["metric", "value"], include=["run"], name="runs_by_metric")]

    @classmethod
    def store(cls, run: Run, summary: Mapping[str, Any]) -> None:
        """Replace the run's rows by those of the summary."""
        numbers = flat(summary)
        with transaction.atomic():
            cls.objects.filter(run=run).delete()
            insert(cls, {"run": run.pk}, ("metric", "value"), numbers)
            FieldName.ids(run.lab_id, (name for name, _ in numbers))

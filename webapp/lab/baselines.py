"""Baselines: one run per experiment, with which the run list and comparisons hold the others against."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.models import QuerySet

from .models import Baseline, Lab, Run, RunState
from .studies import metrics_of

METRICS: Sequence[str] = (
    *(f"latency_ms.{name}" for name in ("mean", "p50", "p95", "p99", "max")),
    *("throughput_in_per_s", "throughput_out_per_s", "records_out", "late", "backlog"),
)
"""The metrics that the run list can show."""


class NotPinnable(ValueError):
    """The run cannot be a baseline; the message says why."""


def pin(run: Run) -> None:
    """Make the run its experiment's baseline, in place of another. Raises NotPinnable."""
    if run.state != RunState.SUCCEEDED:
        raise NotPinnable(f"run {run.number} is {run.state}, so its metrics are not those of a whole run; pin a run that succeeded")
    Baseline.objects.update_or_create(experiment_id=run.experiment_id, defaults={"run": run})


def unpin(run: Run) -> None:
    Baseline.objects.filter(run=run).delete()


def pinned(lab: Lab) -> QuerySet[Baseline]:
    """The lab's baselines, without those whose run was deleted (restoring it brings them back)."""
    found = Baseline.objects.filter(run__lab=lab, run__deleted_at__isnull=True).select_related("run")
    return found.only("experiment_id", "run__id", "run__number").order_by("run__number")


def metrics_by_run(baselines: Sequence[Baseline]) -> dict[object, dict[str, float]]:
    """The metrics of the baselines' runs, by run."""
    return dict(metrics_of({one.run_id for one in baselines}, METRICS))

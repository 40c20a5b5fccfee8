"""Storage used by the lab's runs, data sets and versions of experiments, and the limit above which no new work starts."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field

from django.conf import settings
from django.db.models import Count, Q, Sum

from webapp.lib.file_sizes import in_words, size_of

from .models import Dataset, Experiment, ExperimentVersion, Lab, Run

LARGEST = 10


class LimitReached(Exception):
    """The lab has reached its storage limit, or a person theirs; the message says what to do."""


@dataclass(frozen=True)
class Holding:
    """A large experiment or data set. runs: number of runs of the experiment, 0 for a data set."""

    id: str
    name: str
    bytes: int
    runs: int = field(default=0)


def used_bytes(lab: Lab, deleted: bool = False) -> tuple[int, int, int]:
    """Return the bytes used by runs, data sets and versions of experiments: by kept ones, which count against the limit, or by deleted
    ones, which are removed later."""
    which = Q(lab=lab, deleted_at__isnull=not deleted)
    of_runs = Run.objects.filter(which).aggregate(sum=Sum("stored_bytes"))["sum"] or 0
    versions = ExperimentVersion.objects.filter(experiment__lab=lab, experiment__deleted_at__isnull=not deleted)
    of_versions = versions.aggregate(sum=Sum("bytes"))["sum"] or 0
    return of_runs, sum(size_of(dataset.path) for dataset in Dataset.objects.filter(which)), of_versions


def largest_experiments(lab: Lab) -> list[Holding]:
    """Return the experiments whose runs use most space, largest first."""
    rows = Run.objects.filter(lab=lab, deleted_at__isnull=True).values("experiment")  # all that this needs of a run is in an index
    found = rows.annotate(bytes=Sum("stored_bytes"), count=Count("*")).filter(bytes__gt=0).order_by("-bytes")[:LARGEST]
    experiments = Experiment.objects.in_bulk([row["experiment"] for row in found])
    return [Holding(str(row["experiment"]), experiments[row["experiment"]].name, row["bytes"], row["count"]) for row in found]


def largest_datasets(lab: Lab) -> list[Holding]:
    kept = Dataset.objects.filter(lab=lab, deleted_at__isnull=True)
    found = [Holding(str(dataset.pk), dataset.name, size_of(dataset.path)) for dataset in kept]
    return sorted(found, key=lambda one: (-one.bytes, one.name))[:LARGEST]


def is_full(lab: Lab) -> bool:
    """Return whether the lab has reached its storage limit."""
    limit = limit_bytes(lab)
    return limit is not None and sum(used_bytes(lab)) >= limit


def limit_bytes(lab: Lab) -> int | None:
    """Return the lab's storage limit as stored now, None for no limit."""
    return Lab.objects.values_list("storage_limit_bytes", flat=True).get(pk=lab.pk)


def check_room(lab: Lab) -> None:
    """Check the limit, as it was when the lab's row was read, before work that needs space starts. Raises LimitReached."""
    limit = lab.storage_limit_bytes
    if limit is None or (used := sum(used_bytes(lab))) < limit:
        return
    large = [f"runs of '{one.name}' ({in_words(one.bytes)})" for one in largest_experiments(lab)[:2]]
    large += [f"data set '{one.name}' ({in_words(one.bytes)})" for one in largest_datasets(lab)[:1] if one.bytes]
    what = f"the largest: {', '.join(large)}" if large else "nothing is large; the limit is too low"
    raise LimitReached(
        f"the lab uses {in_words(used)}, its storage limit is {in_words(limit)}; delete runs or data sets ({what}), or ask an owner to "
        "raise the limit (page Lab, Storage)"
    )


def free_bytes() -> int:
    """Return the free bytes on the disk of the data directory."""
    return shutil.disk_usage(settings.DATA_DIR).free

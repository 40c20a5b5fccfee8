"""What the lab keeps on disk: how much that is, how much it may be, and what goes after a while.

Of a run the document, the summary, and answers about its records are always kept. Its frames (telemetry, histograms, live frames) can be
had again, to the last bit: the same document and seed on the same version of the engine give the same files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from .models import Dataset, Lab, Run, Tag, Trial
from .models.work import ACTIVE

FRAMES = ("telemetry", "latency", "live")
"""Folders of a run's directory that can be made again."""

UNFINISHED = (".tmp", ".part")
"""Endings of files that are still being written: each is renamed once it is whole. Such a file is nobody's storage and in no backup."""

DELETED_KEPT = timedelta(days=7)
"""For so long what was deleted can be brought back whole."""

TOGETHER = 500
LARGEST = 10


class StorageFull(Exception):
    """The lab has as much as it may have; the sentence says what to delete."""


@dataclass(frozen=True)
class Holding:
    """Something large. runs: how many there are of an experiment, 0 for a data set."""

    id: str
    name: str
    bytes: int
    runs: int = field(default=0)


def used_bytes(lab: Lab, deleted: bool = False) -> tuple[int, int]:
    """Of runs, and of data sets: those that are kept, which count against the limit, or those that were deleted, which go by themselves."""
    which = Q(lab=lab, deleted_at__isnull=not deleted)
    of_runs = Run.objects.filter(which).aggregate(sum=Sum("stored_bytes"))["sum"] or 0
    return of_runs, sum(size_of(dataset.path) for dataset in Dataset.objects.filter(which))


def largest_experiments(lab: Lab) -> list[Holding]:
    """By what their runs take."""
    rows = Run.objects.filter(lab=lab, deleted_at__isnull=True).values("experiment", "experiment__name")
    found = rows.annotate(bytes=Sum("stored_bytes"), count=Count("pk")).filter(bytes__gt=0).order_by("-bytes")[:LARGEST]
    return [Holding(str(row["experiment"]), row["experiment__name"], row["bytes"], row["count"]) for row in found]


def largest_datasets(lab: Lab) -> list[Holding]:
    kept = Dataset.objects.filter(lab=lab, deleted_at__isnull=True)
    found = [Holding(str(dataset.pk), dataset.name, size_of(dataset.path)) for dataset in kept]
    return sorted(found, key=lambda one: (-one.bytes, one.name))[:LARGEST]


def check_room(lab: Lab) -> None:
    """Before something that takes space begins. Raises StorageFull."""
    limit = Lab.objects.values_list("storage_limit_bytes", flat=True).get(pk=lab.pk)
    if limit is None or (used := sum(used_bytes(lab))) < limit:
        return
    large = [f"runs of '{one.name}' ({in_words(one.bytes)})" for one in largest_experiments(lab)[:2]]
    large += [f"data set '{one.name}' ({in_words(one.bytes)})" for one in largest_datasets(lab)[:1] if one.bytes]
    what = f"the largest: {', '.join(large)}" if large else "there is nothing large: the limit is too low"
    raise StorageFull(
        f"the lab uses {in_words(used)} of the {in_words(limit)} that it may use; delete runs or data sets ({what}), or ask an owner for "
        "more (page Lab, Storage)"
    )


# --- what workers do about it -------------------------------------------------------------------------------------------------------------


def to_be_removed(lab: Lab, now: datetime) -> QuerySet[Run]:
    """Runs whose frames go: deleted long ago, or old by the lab's rule and neither tagged nor noted. Never those that a study or a figure
    under way still looks at."""
    gone = Q(deleted_at__lt=now - DELETED_KEPT)
    if lab.keep_frames_days is not None:
        old = Q(finished_at__lt=now - timedelta(days=lab.keep_frames_days), deleted_at__isnull=True)
        gone |= old & Q(notes="") & ~Exists(Tag.runs.through.objects.filter(run=OuterRef("pk")))
    under_way = Q(study__state__in=ACTIVE) | Q(study__reproduction__state__in=ACTIVE)
    looked_at = Trial.objects.filter(under_way, run=OuterRef("pk"))
    ended = Run.objects.filter(lab=lab, frames_removed_at__isnull=True).exclude(state__in=ACTIVE)
    return ended.filter(gone).exclude(Exists(looked_at))


def tidy() -> list[Run]:
    """Measure what was not, remove what is to go; returns the runs whose frames went. May be done by several at a time, and twice."""
    now = timezone.now()
    removed: list[Run] = []
    for lab in Lab.objects.all():
        found = to_be_removed(lab, now).defer("document", "summary").order_by("finished_at")[:TOGETHER]
        # First the row says it: nobody reuses the run from then on. Whoever dies before the files are gone leaves them to `measure`.
        changes = {"frames_removed_at": now, "stored_bytes": None}
        removed += [run for run in found if to_be_removed(lab, now).filter(pk=run.pk).update(**changes)]
        for dataset in Dataset.objects.filter(lab=lab, deleted_at__lt=now - DELETED_KEPT):
            dataset.path.unlink(missing_ok=True)
            dataset.delete()
    remove_working_files()
    measure(Run.objects.filter(stored_bytes__isnull=True).exclude(state__in=ACTIVE).defer("document", "summary")[:TOGETHER])
    return removed


def remove_working_files() -> None:
    """Remove what workers that were killed left of runs that have ended, and have these runs measured again."""
    left = [entry.name for entry in os.scandir(settings.RUNS_DIR) if is_uuid(entry.name) and has_unfinished(entry.path)]
    for start in range(0, len(left), TOGETHER):
        for run in Run.objects.filter(pk__in=left[start : start + TOGETHER]).exclude(state__in=ACTIVE).defer("document", "summary"):
            run.remove_working_files()
            Run.objects.filter(pk=run.pk).update(stored_bytes=None)


def has_unfinished(directory: str) -> bool:
    """Whether the run's directory itself has an unfinished file, such as half a snapshot."""
    with suppress(OSError), os.scandir(directory) as entries:
        return any(entry.name.endswith(".tmp") for entry in entries)
    return False


def is_uuid(name: str) -> bool:
    with suppress(ValueError):
        return str(UUID(name)) == name
    return False


def measure(runs: Iterable[Run]) -> None:
    """Store how much each run takes, without what an attempt left behind. Only for runs that have ended."""
    for run in runs:
        run.remove_working_files()
        if run.frames_removed_at:
            for folder in FRAMES:
                shutil.rmtree(run.directory / folder, ignore_errors=True)
        Run.objects.filter(pk=run.pk).update(stored_bytes=bytes_below(run.directory))


def bytes_below(directory: Path) -> int:
    """Of all files but unfinished ones; what vanishes meanwhile does not count."""
    return sum(size_of(path) for path in finished_files(directory))


def finished_files(directory: Path) -> Iterator[Path]:
    """All files at any depth, without those that are still being written, or whose writer was killed."""
    for place, _, names in os.walk(directory):
        yield from (Path(place) / name for name in sorted(names) if not name.endswith(UNFINISHED))


def size_of(file: Path) -> int:
    try:
        return file.stat().st_size
    except OSError:
        return 0


def free_bytes() -> int:
    """On the disk of the data directory."""
    return shutil.disk_usage(settings.DATA_DIR).free


def in_words(count: int) -> str:
    value, units = float(count), ["B", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value, units = value / 1000, units[1:]
    return f"{value:.3g} {units[0]}" if value < 100 else f"{value:.0f} {units[0]}"

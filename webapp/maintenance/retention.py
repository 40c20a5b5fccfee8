"""What goes from the lab's disk after a while.

Of a run the document, the summary, and answers about its records are always kept. Its frames (telemetry, histograms, live frames) can be
had again, to the last bit: the same document and seed on the same version of the engine give the same files.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from uuid import UUID

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from webapp.lab.models import Dataset, Lab, Run, Tag, Trial
from webapp.lab.models.work import ACTIVE
from webapp.lib.file_sizes import bytes_below

FRAMES = ("telemetry", "latency", "live")
"""Folders of a run's directory that can be made again."""

DELETED_KEPT = timedelta(days=7)
"""For so long what was deleted can be brought back whole."""

TOGETHER = 500


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

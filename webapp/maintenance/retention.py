"""Removal of old files from the lab's disk.

A run's document, summary and waterfalls are always kept. Its frames (telemetry, histograms, live frames) can be reproduced to the last
bit: the same document and seed on the same engine version give the same files.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from uuid import UUID

from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from webapp.lab.models import Dataset, ExperimentVersion, RetentionRule, Run, Trial
from webapp.lab.models.answers import KEPT, KeptAnswer
from webapp.lab.models.work import ACTIVE
from webapp.lib.file_sizes import bytes_below

from . import rules
from .rules import UNDO_FOR

FRAMES = ("telemetry", "latency", "live")
"""Folders of a run's directory that can be reproduced."""

UPLOAD_KEPT = timedelta(days=1)
UNFINISHED = re.compile(r"\.[0-9a-f]{32}\.parquet")
"""A data set that an earlier version was writing when it died; now they are written in the folder of uploads."""

TOGETHER = 500


def deleted_long_ago(now: datetime) -> QuerySet[Run]:
    """Return deleted runs whose frames are to be removed. Never runs that an active study or figure still reads."""
    under_way = Q(study__state__in=ACTIVE) | Q(study__reproduction__state__in=ACTIVE)
    looked_at = Trial.objects.filter(under_way, run=OuterRef("pk"))
    ended = Run.objects.filter(deleted_at__lt=now - UNDO_FOR, frames_removed_at__isnull=True).exclude(state__in=ACTIVE)
    return ended.exclude(Exists(looked_at)).defer("document", "summary").order_by("deleted_at")


def tidy() -> list[Run]:
    """Apply the rules, remove old files and measure unmeasured runs. Returns the runs whose rows changed for it. Concurrent and repeated
    calls are safe."""
    now = timezone.now()
    for rule in RetentionRule.objects.filter(paused=False).order_by("pk"):
        rules.apply(rule, now)
    # The row changes first, so that the run is no longer reused. If the process dies before removing the files, `measure` does.
    found = [*deleted_long_ago(now)[:TOGETHER], *rules.frames_due(now)]
    unread = Run.objects.filter(frames_removed_at__isnull=True)
    removed = [run for run in found if unread.filter(pk=run.pk).update(frames_removed_at=now, stored_bytes=None)]
    for dataset in Dataset.objects.filter(deleted_at__lt=now - UNDO_FOR):
        dataset.path.unlink(missing_ok=True)
        dataset.delete()
    ExperimentVersion.objects.filter(experiment__deleted_at__lt=now - UNDO_FOR).delete()
    remove_working_files()
    remove_uploads(now)
    Session.objects.filter(expire_date__lt=now).delete()
    KeptAnswer.objects.filter(created_at__lt=now - KEPT).delete()
    measure(Run.objects.filter(stored_bytes__isnull=True).exclude(state__in=ACTIVE).defer("document", "summary")[:TOGETHER])
    return removed


def remove_uploads(now: datetime) -> None:
    """Remove what interrupted uploads have left and nobody has written to for a day: in the folder of uploads, and beside data sets.
    Deleted data sets have names with dashes, and stay."""
    beside = (path for path in Path(settings.DATASETS_DIR).glob("*/.*.parquet") if UNFINISHED.fullmatch(path.name))
    for path in (*Path(settings.UPLOADS_DIR).iterdir(), *beside):
        with suppress(FileNotFoundError):  # another worker tidies, too
            if now.timestamp() - path.lstat().st_mtime > UPLOAD_KEPT.total_seconds():
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()


def remove_working_files() -> None:
    """Remove files that killed workers left in runs that have ended, and mark these runs to be measured again."""
    left = [entry.name for entry in os.scandir(settings.RUNS_DIR) if is_uuid(entry.name) and has_unfinished(entry.path)]
    for start in range(0, len(left), TOGETHER):
        for run in Run.objects.filter(pk__in=left[start : start + TOGETHER]).exclude(state__in=ACTIVE).defer("document", "summary"):
            run.remove_working_files()
            Run.objects.filter(pk=run.pk).update(stored_bytes=None)


def has_unfinished(directory: str) -> bool:
    """Return whether the run's directory itself contains a partial file, such as a partial snapshot."""
    with suppress(OSError), os.scandir(directory) as entries:
        return any(entry.name.endswith(".tmp") for entry in entries)
    return False


def is_uuid(name: str) -> bool:
    with suppress(ValueError):
        return str(UUID(name)) == name
    return False


def measure(runs: Iterable[Run]) -> None:
    """Remove leftovers of attempts and store each run's size. Only for runs that have ended."""
    for run in runs:
        run.remove_working_files()
        if run.frames_removed_at:
            for folder in FRAMES:
                shutil.rmtree(run.directory / folder, ignore_errors=True)
        Run.objects.filter(pk=run.pk).update(stored_bytes=bytes_below(run.directory))

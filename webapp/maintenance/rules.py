"""Retention rules: what they would remove, removing it, and undoing that.

What is taken can be had back for a week: runs and data sets are deleted as if by a person, and frames stay until the week is over. Undoing
pauses the rule. No rule takes a run that has a note or a tag that keeps it, that is a baseline, or that a study or figure in progress
reads; nor, with its row, one that any study refers to. No rule takes a data set that an experiment or a run in progress names.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum

from webapp.lab import bulk, datasets
from webapp.lab.models import Baseline, Dataset, Removal, RetentionRule, Run, Tag, Trial
from webapp.lab.models.retention import Removable
from webapp.lab.models.work import ACTIVE, is_active
from webapp.lib.file_sizes import size_of
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_lists

UNDO_FOR = timedelta(days=7)
"""How long what was removed or deleted can be had back."""

TOGETHER = 500
"""Taken by one rule at one look, so that no transaction is long."""


@dataclass(frozen=True)
class Due:
    """A run or data set that a rule takes. at: from when its age counts."""

    id: uuid.UUID
    bytes: int
    at: datetime


# --- what a rule takes --------------------------------------------------------------------------------------------------------------------


def due(rule: RetentionRule, now: datetime, most: int | None = None) -> list[Due]:
    """Return what the rule takes now, oldest first. The rule need not be stored."""
    is_old = Q() if rule.days is None else Q(**{_age(rule): now - timedelta(days=rule.days)})
    found = _datasets(rule, is_old) if rule.what == Removable.DATASETS else _runs(rule, is_old)
    excess = None if rule.bytes is None else _kept_bytes(rule) - rule.bytes
    taken: list[Due] = []
    for one in found:
        if len(taken) == most or (excess is not None and excess <= 0):
            break
        if excess is not None:
            excess -= one.bytes
        taken.append(one)
    return taken


def protected_count(rule: RetentionRule, now: datetime) -> int:
    """Return the number of things that are old enough, but that the rule leaves alone. Not counted for rules of bytes."""
    if rule.days is None:
        return 0
    is_old = Q(**{_age(rule): now - timedelta(days=rule.days)})
    if rule.what == Removable.DATASETS:
        return Dataset.objects.filter(is_old, lab=rule.lab_id, deleted_at__isnull=True, name__in=_named(rule)).count()
    return _within_reach(rule).filter(is_old).filter(_protected(rule)).count()


def _age(rule: RetentionRule) -> str:
    return "created_at__lt" if rule.what == Removable.DATASETS else "finished_at__lt"


def _runs(rule: RetentionRule, is_old: Q) -> Iterator[Due]:
    found = _within_reach(rule).filter(is_old).exclude(_protected(rule)).order_by("finished_at", "pk")
    for id, bytes, at in found.values_list("pk", "stored_bytes", "finished_at").iterator():
        yield Due(id, bytes or 0, at)


def _within_reach(rule: RetentionRule) -> QuerySet[Run]:
    """Runs that the rule is about, protected ones included. What it took before, and somebody took back, is left alone."""
    runs = Run.objects.filter(lab=rule.lab_id, deleted_at__isnull=True, finished_at__isnull=False).exclude(state__in=ACTIVE)
    taken = Q(removal__rule=rule.pk) if rule.pk else Q(pk__in=[])
    if rule.what == Removable.FRAMES:
        runs = runs.filter(frames_removed_at__isnull=True)
        taken |= Q(removal__what=Removable.FRAMES, removal__undone_at=None, removal__final_at=None)
    return runs.exclude(Exists(Removal.runs.through.objects.filter(taken, run=OuterRef("pk"))))


def _protected(rule: RetentionRule) -> Q:
    tagged = Tag.runs.through.objects.filter(run=OuterRef("pk"))
    if rule.kept_tags is not None:
        tagged = tagged.filter(tag__name__in=rule.kept_tags)
    reads = Q(study__state__in=ACTIVE) | Q(study__reproduction__state__in=ACTIVE)
    if rule.what == Removable.RUNS:
        reads |= Q(study__deleted_at__isnull=True)
    read, baseline = Trial.objects.filter(reads, run=OuterRef("pk")), Baseline.objects.filter(run=OuterRef("pk"))
    return ~Q(notes="") | Exists(tagged) | Exists(baseline) | Exists(read)


def _datasets(rule: RetentionRule, is_old: Q) -> Iterator[Due]:
    taken = Q(removals__rule=rule.pk) if rule.pk else Q(pk__in=[])
    found = Dataset.objects.filter(is_old, lab=rule.lab_id, deleted_at__isnull=True).exclude(taken).exclude(name__in=_named(rule))
    for dataset in found.order_by("created_at", "pk"):
        yield Due(dataset.pk, size_of(dataset.path), dataset.created_at)


def _named(rule: RetentionRule) -> set[str]:
    """Data sets that experiments or runs in progress name."""
    under_way = Run.objects.filter(is_active(), lab=rule.lab_id).values_list("document", flat=True)
    return {*datasets.uses(rule.lab), *(name for document in under_way for name in datasets.named(document))}


def _kept_bytes(rule: RetentionRule) -> int:
    """Bytes of everything that a rule of bytes counts: all that the lab has and no rule has taken."""
    if rule.what == Removable.DATASETS:
        return sum(size_of(one.path) for one in Dataset.objects.filter(lab=rule.lab_id, deleted_at__isnull=True))
    runs = Run.objects.filter(lab=rule.lab_id, deleted_at__isnull=True)
    pending = Q(removal__what=Removable.FRAMES, removal__undone_at=None, removal__final_at=None)
    runs = runs.exclude(Exists(Removal.runs.through.objects.filter(pending, run=OuterRef("pk"))))
    return runs.aggregate(sum=Sum("stored_bytes"))["sum"] or 0


# --- removing, and undoing ----------------------------------------------------------------------------------------------------------------


def apply(rule: RetentionRule, now: datetime) -> int:
    """Take what is due, TOGETHER at most. Returns how many that were. Concurrent calls are safe.

    It looks through the lab before its transaction, in which SQLite lets nobody else write, and there only once more at what it found.
    """
    found = [] if rule.paused else due(rule, now, TOGETHER)
    if not found:
        return 0
    with transaction.atomic():
        stored = RetentionRule.objects.select_for_update(of=("self",)).select_related("lab").filter(pk=rule.pk).first()
        if stored is None or _asked(stored) != _asked(rule):  # removed or changed meanwhile
            return 0
        rule = stored
        among = Q(pk__in=[one.id for one in found])
        taken = list(_datasets(rule, among) if rule.what == Removable.DATASETS else _runs(rule, among))
        if not taken:
            return 0
        ids = [one.id for one in taken]
        removal, _ = Removal.objects.get_or_create(
            rule=rule, day=now.date(), undone_at=None, defaults={"lab": rule.lab, "what": rule.what, "at": now}
        )
        if rule.what == Removable.DATASETS:
            removal.datasets.add(*ids)
            for dataset in Dataset.objects.filter(pk__in=ids):
                datasets.delete(dataset)
        else:
            removal.runs.add(*ids)
        if rule.what == Removable.RUNS:
            bulk.delete(rule.lab, bulk.of_lab(rule.lab, ids))
        bytes = sum(one.bytes for one in taken)
        Removal.objects.filter(pk=removal.pk).update(count=F("count") + len(taken), bytes=F("bytes") + bytes)
    announce_lists(connection(), rule.lab_id)
    return len(taken)


def _asked(rule: RetentionRule) -> tuple[Any, ...]:
    return rule.what, rule.days, rule.bytes, rule.kept_tags, rule.paused


class TooLate(Exception):
    """The removal can no longer be undone; the message says why."""


def undo(removal: Removal, now: datetime) -> list[str]:
    """Give back what a removal took, and pause its rule. Returns names of data sets that stay deleted, since others have their names now.
    Raises TooLate."""
    with transaction.atomic():
        removal = Removal.objects.select_for_update(of=("self",)).select_related("lab").get(pk=removal.pk)
        if removal.undone_at:
            return []
        if removal.final_at or now - removal.at > UNDO_FOR:
            raise TooLate(f"the week in which this could be undone ended on {removal.at + UNDO_FOR:%Y-%m-%d}")
        Removal.objects.filter(pk=removal.pk).update(undone_at=now)
        RetentionRule.objects.filter(pk=removal.rule_id).update(paused=True)
        if removal.what == Removable.RUNS:
            bulk.restore(removal.lab, removal.runs.defer("document"))
    left = []
    for dataset in removal.datasets.filter(deleted_at__isnull=False):
        try:
            datasets.restore(dataset)
        except datasets.NameTaken:
            left.append(dataset.name)
    return left


def frames_due(now: datetime) -> list[Run]:
    """Return runs whose frames go now, since the week after a rule took them is over, TOGETHER at most. Those that got a note or a tag
    meanwhile stay. Closes removals that have nothing left to do."""
    found: list[Run] = []
    for removal in (
        Removal.objects.filter(undone_at=None, final_at=None, at__lt=now - UNDO_FOR).select_related("rule", "lab").order_by("at")
    ):
        rule = removal.rule or RetentionRule(lab=removal.lab, what=removal.what)
        left: list[Run] = []
        if removal.what == Removable.FRAMES:
            runs = removal.runs.filter(frames_removed_at__isnull=True).exclude(_protected(rule)).defer("document", "summary")
            left = list(runs.order_by("finished_at")[:TOGETHER])
        if left:
            found += left
        else:
            Removal.objects.filter(pk=removal.pk, undone_at=None).update(final_at=now)
    return found[:TOGETHER]

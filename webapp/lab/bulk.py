"""Bulk actions on runs. Each returns the runs that it changed, so that a client can undo the action for exactly these runs."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from .models import Lab, Run, Tag, Waterfalls
from .models.work import ACTIVE


def delete(lab: Lab, runs: QuerySet[Run]) -> list[Run]:
    """Soft-delete the runs and their waterfalls; cancel active ones."""
    deleted, now = list(runs.filter(deleted_at__isnull=True)), timezone.now()
    ids = [run.pk for run in deleted]
    questions = Waterfalls.objects.filter(run__in=ids, deleted_at__isnull=True)
    for run in deleted:
        if run.active:
            Run.objects.request_cancel(run.pk)
    for id in questions.filter(state__in=ACTIVE).values_list("pk", flat=True):
        Waterfalls.objects.request_cancel(id)
    Run.objects.filter(pk__in=ids).update(deleted_at=now)
    questions.update(deleted_at=now)
    return deleted


def restore(lab: Lab, runs: QuerySet[Run]) -> list[Run]:
    """Restore the runs and the waterfalls deleted with them. Cancelled runs stay cancelled."""
    restored = list(runs.filter(deleted_at__isnull=False))
    for run in restored:
        run.waterfalls.filter(deleted_at__gte=run.deleted_at).update(deleted_at=None)
        Run.objects.filter(pk=run.pk).update(deleted_at=None)
    return restored


def cancel(lab: Lab, runs: QuerySet[Run]) -> list[Run]:
    """Cancel active runs; takes effect within a second."""
    return [run for run in runs.filter(deleted_at__isnull=True) if Run.objects.request_cancel(run.pk)]


@transaction.atomic
def tag(lab: Lab, runs: QuerySet[Run], name: str) -> list[Run]:
    """Add a tag; runs that already have it do not count as changed."""
    given, _ = Tag.objects.get_or_create(lab=lab, name=name)
    tagged = list(runs.filter(deleted_at__isnull=True).exclude(tags=given))
    given.runs.add(*tagged)
    return tagged


@transaction.atomic
def untag(lab: Lab, runs: QuerySet[Run], name: str) -> list[Run]:
    """Remove a tag; delete the tag once no run has it."""
    taken = Tag.objects.filter(lab=lab, name=name).first()
    if taken is None:
        return []
    untagged = list(runs.filter(deleted_at__isnull=True, tags=taken))
    taken.runs.remove(*untagged)
    if not taken.runs.exists():
        taken.delete()
    return untagged


PLAIN: dict[str, Callable[[Lab, QuerySet[Run]], list[Run]]] = {"delete": delete, "restore": restore, "cancel": cancel}
TAGGING: dict[str, Callable[[Lab, QuerySet[Run], str], list[Run]]] = {"tag": tag, "untag": untag}


def of_lab(lab: Lab, ids: Iterable[uuid.UUID]) -> QuerySet[Run]:
    """Return the runs' rows without documents, including deleted runs. Runs of other labs are left out."""
    return Run.objects.filter(lab=lab, pk__in=list(ids)).defer("document")

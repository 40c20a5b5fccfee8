"""What is done to many runs at once. Each action returns the runs that it changed, so that its opposite can be asked for exactly these."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable

from django.db import transaction
from django.db.models import QuerySet

from .models import Lab, Run, Tag


def delete(lab: Lab, runs: QuerySet[Run]) -> list[Run]:
    """Out of sight, with their questions; those that are active are cancelled."""
    deleted = list(runs.filter(deleted_at__isnull=True))
    for run in deleted:
        run.delete_softly()
        for waterfalls in run.waterfalls.filter(deleted_at__isnull=True):
            waterfalls.delete_softly()
    return deleted


def restore(lab: Lab, runs: QuerySet[Run]) -> list[Run]:
    """Back in sight, with the questions that went with them. What was cancelled stays cancelled."""
    restored = list(runs.filter(deleted_at__isnull=False))
    for run in restored:
        run.waterfalls.filter(deleted_at__gte=run.deleted_at).update(deleted_at=None)
        Run.objects.filter(pk=run.pk).update(deleted_at=None)
    return restored


def cancel(lab: Lab, runs: QuerySet[Run]) -> list[Run]:
    """Those that have not ended are stopped within a second."""
    return [run for run in runs.filter(deleted_at__isnull=True) if Run.objects.request_cancel(run.pk)]


@transaction.atomic
def tag(lab: Lab, runs: QuerySet[Run], name: str) -> list[Run]:
    """Give them a tag; those that have it already are not counted as changed."""
    given, _ = Tag.objects.get_or_create(lab=lab, name=name)
    tagged = list(runs.filter(deleted_at__isnull=True).exclude(tags=given))
    given.runs.add(*tagged)
    return tagged


@transaction.atomic
def untag(lab: Lab, runs: QuerySet[Run], name: str) -> list[Run]:
    """Take a tag away; one that no run has any more is forgotten."""
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
    """Their rows without the documents, deleted ones too; what is not of this lab is left out."""
    return Run.objects.filter(lab=lab, pk__in=list(ids)).defer("document")

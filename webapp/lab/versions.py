"""Which versions of an experiment are kept, and who saved them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row

from .models import Experiment, ExperimentVersion, Run
from .quota import is_full

FOLDED_FOR = timedelta(minutes=10)
"""Saves of one page within this time are one version."""
VERSIONS_MAX = 200
"""Versions of an experiment that are kept; the oldest go first."""


@dataclass(frozen=True)
class Author:
    """Who saves. token: name of the token of a program. editor: a name that the open page has given itself; empty for programs."""

    name: str = ""
    token: str = ""
    editor: str = ""


def record_creation(experiment: Experiment, author: Author) -> None:
    """Keep the first version of a new experiment."""
    _add(experiment, author, experiment.version, experiment.document, experiment.created_at)
    announce_row(connection(), "experiment", experiment.pk)


def save(experiment: Experiment, version: int, document: dict[str, Any], hash: str, author: Author, restored: int | None = None) -> bool:
    """Store the document if `version` is still the newest, and keep it as a version. Returns False, and changes nothing, if someone else
    saved first.

    experiment: as read. restored: number of the version whose document it is.
    """
    before, before_at = experiment.document, experiment.updated_at
    with transaction.atomic():
        if not experiment.save_version(version, document, hash):
            return False
        newest = experiment.versions.order_by("-number").first()
        if newest is None:  # saved before versions were kept
            newest = _add(experiment, Author(), version, before, before_at)
        now = timezone.now()
        if restored is None and newest.document == document:
            experiment.versions.filter(pk=newest.pk).update(number=experiment.version)
        elif restored is None and _goes_on(newest, author, now):
            size = _size(document)
            experiment.versions.filter(pk=newest.pk).update(
                number=experiment.version, document=document, bytes=size, saved_at=now, saves=newest.saves + 1
            )
        else:
            _add(experiment, author, experiment.version, document, now, restored)
            _forget(experiment)
    announce_row(connection(), "experiment", experiment.pk)
    return True


def _goes_on(newest: ExperimentVersion, author: Author, now: datetime) -> bool:
    """Whether a save belongs to the newest version: from the same page, a moment later, and nothing refers to it yet. Programs save on
    purpose, so each of their saves is a version."""
    same_page = author.editor != "" and Author(newest.author, newest.token, newest.editor) == author
    if not same_page or newest.restored is not None or now - newest.began_at >= FOLDED_FOR:
        return False
    return not Run.objects.filter(experiment=newest.experiment_id, experiment_version=newest.number).exists()


def _add(
    experiment: Experiment, author: Author, number: int, document: dict[str, Any], at: datetime, restored: int | None = None
) -> ExperimentVersion:
    return ExperimentVersion.objects.create(
        experiment=experiment, number=number, document=document, bytes=_size(document), author=author.name, token=author.token,
        editor=author.editor, began_at=at, saved_at=at, restored=restored,
    )  # fmt: skip


def _forget(experiment: Experiment) -> None:
    """Remove the oldest versions: those beyond the limit, and at the lab's storage limit as many as the newest one takes."""
    kept = list(experiment.versions.order_by("number").values_list("pk", "bytes"))
    gone = kept[: max(0, len(kept) - VERSIONS_MAX)]
    if is_full(experiment.lab):
        room, wanted = 0, kept[-1][1]
        for pk, size in kept[len(gone) : -1]:
            if room >= wanted:
                break
            gone.append((pk, size))
            room += size
    ExperimentVersion.objects.filter(pk__in=[pk for pk, _ in gone]).delete()


def _size(document: dict[str, Any]) -> int:
    return len(json.dumps(document))

"""The history of an experiment: who saved what, and going back to it."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any, Self

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from webapp.lab.documents import check
from webapp.lab.models import Experiment, ExperimentVersion
from webapp.lab.schemas import ExperimentShape, Problem, SavedShape
from webapp.lab.versions import save
from webapp.lib.described import JsonObject

from .errors import Problem404
from .experiments import Editor, author_of, conflict, experiment_of
from .parsing import Body, Int

router = Router()


class VersionItem(SavedShape):
    """A kept version. began_at to saved_at: its `saves` saves. restored: number of the version that it restored."""

    began_at: datetime
    saves: int
    restored: int | None
    bytes: int

    @classmethod
    def fields_of(cls, version: ExperimentVersion) -> dict[str, Any]:
        more = {"began_at": version.began_at, "saves": version.saves, "restored": version.restored, "bytes": version.bytes}
        return {**super().fields_of(version), **more}


class VersionPage(Schema):
    items: list[VersionItem]
    count: int


class VersionDetail(VersionItem):
    """problems: of the document as the lab is now: a data set may be gone. before: the document of the version before, null for the
    oldest."""

    document: JsonObject
    problems: list[Problem]
    before: JsonObject | None

    @classmethod
    def of(cls, version: ExperimentVersion, problems: list[dict[str, Any]], before: dict[str, Any] | None) -> Self:
        return cls(**cls.fields_of(version), document=version.document, problems=problems, before=before)


class Limits(Schema):
    limit: int = Field(50, ge=1, le=200)
    offset: int = Field(0, ge=0, le=10**9)


class Back(Body):
    version: Int
    editor: Editor = ""


@router.get("/{uuid:experiment_id}/versions", response=VersionPage, summary="Its kept versions, newest first")
def listing(request: HttpRequest, experiment_id: uuid.UUID, which: Query[Limits]) -> VersionPage:
    found = experiment_of(request.auth.lab, experiment_id).versions.defer("document").order_by("-number")
    items = [VersionItem(**VersionItem.fields_of(version)) for version in found[which.offset : which.offset + which.limit]]
    return VersionPage(items=items, count=found.count())


@router.get("/{uuid:experiment_id}/versions/{int:number}", response=VersionDetail, summary="One version, with the document before it")
def read(request: HttpRequest, experiment_id: uuid.UUID, number: int) -> VersionDetail:
    experiment = experiment_of(request.auth.lab, experiment_id)
    version = version_of(experiment, number)
    before = experiment.versions.filter(number__lt=number).order_by("-number").first()
    return VersionDetail.of(version, check(version.document, request.auth.lab).problems, before.document if before else None)


@router.post("/{uuid:experiment_id}/versions/{int:number}/restore", response=ExperimentShape, summary="Save this version's document again")
def restore(request: HttpRequest, experiment_id: uuid.UUID, number: int, body: Back) -> ExperimentShape:
    """A new version; nothing is removed. `version` is the experiment's version as last read: 409 if someone else saved in between."""
    lab = request.auth.lab
    experiment = experiment_of(lab, experiment_id)
    document = version_of(experiment, number).document
    checked = check(document, lab)
    if not save(experiment, body.version, document, checked.hash, author_of(request.auth, body.editor), restored=number):
        raise conflict(experiment, body.version)
    return ExperimentShape.of(experiment, checked.problems)


def version_of(experiment: Experiment, number: int) -> ExperimentVersion:
    found = experiment.versions.filter(number=number).first() if number < 2**31 else None
    if found is None:
        raise Problem404(f"there is no version {number} of this experiment; it may have been joined with the one after it, or be too old")
    return found

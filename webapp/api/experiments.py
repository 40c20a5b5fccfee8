"""Experiments: create, edit (versioned), run, delete."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from django.db.models import Count
from django.db.models.fields.json import KeyTransform
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status
from pydantic import Field, StringConstraints

from webapp.accounts.access import Asker
from webapp.lab import versions
from webapp.lab.documents import check
from webapp.lab.models import Experiment, Lab, Run
from webapp.lab.models.experiments import FIGURE, name_of
from webapp.lab.models.versions import EDITOR_LENGTH_MAX
from webapp.lab.pace import Pace
from webapp.lab.schemas import ExperimentItem, ExperimentShape, RunDetail, SavedShape
from webapp.lab.submission import submit

from .errors import Problem404, Problem409
from .parsing import Body, Int

router = Router()


Editor = Annotated[str, StringConstraints(max_length=EDITOR_LENGTH_MAX), Field(description="A name that the open page gave itself.")]


class NewExperiment(Body):
    document: dict[str, Any]
    parent: uuid.UUID | None = None
    editor: Editor = ""


class Edit(Body):
    version: Int
    document: dict[str, Any]
    editor: Editor = ""


class Start(Body):
    version: Int | None = None
    seed: Int | None = None
    pace: Pace = None


DESCRIPTION_LENGTH_MAX = 300  # characters, in lists


@router.get("", response=list[ExperimentItem], summary="All experiments, last changed first")
def listing(request: HttpRequest) -> list[ExperimentItem]:
    lab = request.auth.lab
    kept = Run.objects.filter(lab=lab, deleted_at__isnull=True)  # a separate count, which the index can answer
    runs = dict(kept.values_list("experiment").annotate(count=Count("*")))
    found = Experiment.objects.filter(lab=lab, deleted_at__isnull=True).defer("document").exclude(fixture__startswith=FIGURE, version=1)
    found = found.annotate(described=KeyTransform("description", "document")).order_by("-updated_at")
    return [
        ExperimentItem(
            id=str(e.pk),
            name=e.name,
            description=e.described[:DESCRIPTION_LENGTH_MAX] if isinstance(e.described, str) else "",
            updated_at=e.updated_at,
            runs=runs.get(e.pk, 0),
            example=bool(e.fixture) and e.version == 1 and e.pk not in runs,
        )
        for e in found
    ]


@router.post("", response={201: ExperimentShape}, summary="Store a new experiment; drafts may be invalid")
def create(request: HttpRequest, body: NewExperiment) -> Status:
    lab = request.auth.lab
    parent = experiment_of(lab, body.parent) if body.parent else None
    checked = check(body.document, lab)
    experiment = Experiment.objects.create(lab=lab, name=name_of(body.document), document=body.document, hash=checked.hash, parent=parent)
    versions.record_creation(experiment, author_of(request.auth, body.editor))
    return Status(201, ExperimentShape.of(experiment, checked.problems))


@router.get("/{uuid:experiment_id}", response=ExperimentShape)
def read(request: HttpRequest, experiment_id: uuid.UUID) -> ExperimentShape:
    lab = request.auth.lab
    experiment = experiment_of(lab, experiment_id)
    return ExperimentShape.of(experiment, check(experiment.document, lab).problems)


@router.put("/{uuid:experiment_id}", response=ExperimentShape, summary="Autosave; 409, with who and when, if someone else saved in between")
def save(request: HttpRequest, experiment_id: uuid.UUID, body: Edit) -> ExperimentShape:
    lab = request.auth.lab
    experiment = experiment_of(lab, experiment_id)
    checked = check(body.document, lab)
    if not versions.save(experiment, body.version, body.document, checked.hash, author_of(request.auth, body.editor)):
        raise conflict(experiment, body.version)
    return ExperimentShape.of(experiment, checked.problems)


@router.delete("/{uuid:experiment_id}", response={204: None}, summary="Delete; its runs stay")
def delete(request: HttpRequest, experiment_id: uuid.UUID) -> Status:
    experiment = experiment_of(request.auth.lab, experiment_id)
    Experiment.objects.filter(pk=experiment.pk).update(deleted_at=timezone.now())
    return Status(204, None)


@router.post("/{uuid:experiment_id}/restore", response={204: None}, summary="Undo a deletion")
def restore(request: HttpRequest, experiment_id: uuid.UUID) -> Status:
    if not Experiment.objects.filter(pk=experiment_id, lab=request.auth.lab).update(deleted_at=None):
        raise Problem404(f"there is no experiment {experiment_id} in this lab")
    return Status(204, None)


@router.post("/{uuid:experiment_id}/runs", response={201: RunDetail}, summary="Run the stored experiment")
def run(request: HttpRequest, experiment_id: uuid.UUID, body: Start | None = None) -> Status:
    lab = request.auth.lab
    experiment = experiment_of(lab, experiment_id)
    start = body or Start()
    if start.version is not None and start.version != experiment.version:
        raise conflict(experiment, start.version)
    started, note = submit(experiment, experiment.document, lab, start.seed, start.pace, request.auth.user.get_username())
    return Status(201, RunDetail.of_new(started, note))


def experiment_of(lab: Lab, experiment_id: uuid.UUID) -> Experiment:
    found = Experiment.objects.filter(pk=experiment_id, lab=lab, deleted_at__isnull=True).first()
    if found is None:
        raise Problem404(f"there is no experiment {experiment_id} in this lab; it may have been deleted")
    return found


def author_of(asker: Asker, editor: str) -> versions.Author:
    return versions.Author(asker.user.get_username(), asker.token.name if asker.token else "", editor)


def conflict(experiment: Experiment, version: int) -> Problem409:
    saved = SavedShape.newest(experiment)
    who = f", saved by {saved.author} at {saved.saved_at:%Y-%m-%d %H:%M} UTC" if saved.author else ""
    detail = f"version {version} is out of date: the experiment is at version {experiment.version}{who}; merge and save again"
    return Problem409(detail, version=experiment.version, document=experiment.document, saved=saved.model_dump(mode="json"))

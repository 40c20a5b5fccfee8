"""Corpora and learned cost models: list, have workers make them, follow, stop, delete (docs/learned-placement.md)."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import AsyncIterator
from dataclasses import asdict
from datetime import datetime
from typing import IO, Annotated, Any

from django.conf import settings
from django.http import HttpRequest, StreamingHttpResponse
from django.utils.http import content_disposition_header
from ninja import File, Form, Router, Schema, Status
from ninja.files import UploadedFile
from pydantic import Field

from engine.spec import Problem
from engine.spec.figure.evaluations import Models as Settings
from webapp.lab import cost_models, learning_archives
from webapp.lab.learning_files import Cost, EpochShape, LabelSpread, WorthShape
from webapp.lab.models import Lab, LearningJob
from webapp.lab.models.learning import LearningKind
from webapp.lab.models.work import ACTIVE
from webapp.lab.schemas import LearningJobShape
from webapp.lab.waiting_work import enqueue
from webapp.lib.described import AsIs, JsonObject
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row

from .errors import Problem404, Problem409, Problem422
from .parsing import Body, Bool, Int

router = Router()

Name = Annotated[str, Field(pattern=f"^{cost_models.NAME}$")]
QUEUE_AWAY = "the queue is unreachable; the job is stored and starts when the queue is back"
ENDED_MAX = 10
CHUNK_BYTES = 1 << 20


class CorpusShape(Schema):
    """done: traces that are measured. balance: null until all are."""

    name: str
    draw: str
    seed: int
    traces: int
    done: int
    measured_by: str
    balance: Annotated[JsonObject | None, AsIs(LabelSpread | None)]


class ModelRow(Schema):
    """Models of a corpus in a list. promoted: they are the default, which advice asks if a question names none. members: trained models by
    cost. q50: median q-error of the network on the test, by cost; accuracy: share of correct classes."""

    name: str
    shipped: bool
    promoted: bool
    corpus: str
    traces: int
    measured_by: str
    hidden: int
    logarithmic: bool
    members: dict[str, int]
    q50: dict[str, float]
    accuracy: dict[str, float]


class MemberShape(Schema):
    metric: Cost
    seed: int
    epochs: Annotated[list[JsonObject], AsIs(list[EpochShape])]
    is_trained: bool


class ModelDetail(ModelRow):
    training: list[MemberShape]
    report: Annotated[list[JsonObject], AsIs(list[WorthShape])]


class Learning(Schema):
    """jobs: those in progress, and the last that ended, newest first. import_bytes_max: of an archive."""

    corpora: list[CorpusShape]
    models: list[ModelRow]
    jobs: list[LearningJobShape]
    import_bytes_max: int


class Imported(Schema):
    name: str


class NewCorpus(Body):
    name: Name
    traces: Int = Field(4000, ge=100, le=1_000_000)
    seed: Int = Field(1, ge=0, lt=1 << 31)


class NewModels(Body):
    """corpus: its name. hidden: width of the network. members: models of each cost. batch: graphs of a step."""

    name: Name
    corpus: Name
    hidden: Int = Field(32, ge=4, le=1024)
    members: Int = Field(3, ge=1, le=25)
    epochs: Int = Field(80, ge=1, le=10_000)
    batch: Int = Field(32, ge=1, le=4096)
    logarithmic: Bool = True


@router.get("", response=Learning, summary="All corpora and models, and the jobs that make them")
def listing(request: HttpRequest) -> Learning:
    lab = request.auth.lab
    jobs = LearningJob.objects.filter(lab=lab, deleted_at__isnull=True).order_by("-created_at")
    ended = jobs.exclude(state__in=ACTIVE)[:ENDED_MAX]
    default = cost_models.default(lab.home)
    return Learning(
        corpora=[CorpusShape(**asdict(one)) for one in cost_models.corpora(lab.home)],
        models=[row_of(one, default) for one in cost_models.all_models(lab.home)],
        jobs=[LearningJobShape.of(job) for job in sorted([*jobs.filter(state__in=ACTIVE), *ended], key=_newest_first)],
        import_bytes_max=settings.UPLOAD_BYTES_MAX,
    )


@router.get("/models/{str:name}", response=ModelDetail, summary="Models with the course of their training and what they are worth")
def model(request: HttpRequest, name: str) -> ModelDetail:
    home = request.auth.lab.home
    known = cost_models.models(home, name)
    if known is None:
        raise Problem404(f"there are no models '{name}'")
    training = [MemberShape(**asdict(member)) for member in known.members]
    return ModelDetail(**row_of(known, cost_models.default(home)).model_dump(), training=training, report=known.report)


@router.post("/corpora", response={201: LearningJobShape}, summary="Measure a corpus, or the rest of one")
def make_corpus(request: HttpRequest, body: NewCorpus) -> Status:
    """A worker runs that many drawn experiments. A corpus of this name with another seed or size is refused."""
    home = request.auth.lab.home
    for known in cost_models.corpora(home):
        if known.name == body.name and (known.seed, known.traces, known.draw) != (body.seed, body.traces, "training"):
            raise Problem409(
                f"corpus '{body.name}' has {known.traces:,} traces of seed {known.seed} ({known.draw}); choose another name, or delete it"
            )
        if known.name == body.name and known.balance is not None and cost_models.has_all_parts(home, body.name):
            raise Problem409(f"corpus '{body.name}' is whole already")
    return started(request, LearningKind.CORPUS, body.name, {"traces": body.traces, "seed": body.seed})


@router.post("/models", response={201: LearningJobShape}, summary="Train models on a corpus, or the rest of them")
def train(request: HttpRequest, body: NewModels) -> Status:
    """A worker trains them. Models that are there already are kept, if they are of this corpus."""
    home = request.auth.lab.home
    corpora = {one.name: one for one in cost_models.corpora(home)}
    if body.corpus not in corpora:
        raise Problem404(f"there is no corpus '{body.corpus}'")
    if corpora[body.corpus].balance is None:
        raise Problem409(f"corpus '{body.corpus}' is not whole; have the rest of it measured first")
    known = cost_models.models(home, body.name)
    if known is not None and not known.shipped and known.corpus not in ("", body.corpus):
        raise Problem409(f"models '{body.name}' are of corpus '{known.corpus}'; choose another name, or delete them")
    if known is not None and not known.shipped and known.hidden not in (0, body.hidden):
        raise Problem409(f"models '{body.name}' are {known.hidden} wide, not {body.hidden}; choose another name, or delete them")
    names = ("hidden", "members", "epochs", "batch", "logarithmic")
    models = Settings(**{name: getattr(body, name) for name in names})
    return started(request, LearningKind.MODELS, body.name, {"corpus": body.corpus, "models": models.model_dump(mode="json")})


@router.post("/jobs/{uuid:id}/cancel", response={202: LearningJobShape}, summary="Cancel; what is done is kept")
def cancel(request: HttpRequest, id: uuid.UUID) -> Status:
    job = LearningJob.objects.filter(pk=id, lab=request.auth.lab).first()
    if job is None:
        raise Problem404(f"there is no job {id} in this lab")
    LearningJob.objects.request_cancel(id)
    announce_row(connection(), "learning", id)
    job.refresh_from_db()
    return Status(202, LearningJobShape.of(job))


@router.delete("/corpora/{str:name}", response={204: None}, summary="Delete a corpus with its files; models trained on it stay")
def delete_corpus(request: HttpRequest, name: str) -> Status:
    return deleted(request.auth.lab, LearningKind.CORPUS, name)


@router.delete("/models/{str:name}", response={204: None}, summary="Delete models with their files")
def delete_models(request: HttpRequest, name: str) -> Status:
    return deleted(request.auth.lab, LearningKind.MODELS, name)


@router.post("/corpora/{str:name}/restore", response={204: None}, summary="Undo the deletion of a corpus")
def restore_corpus(request: HttpRequest, name: str) -> Status:
    return restored(request.auth.lab, LearningKind.CORPUS, name)


@router.post("/models/{str:name}/restore", response={204: None}, summary="Undo the deletion of models")
def restore_models(request: HttpRequest, name: str) -> Status:
    return restored(request.auth.lab, LearningKind.MODELS, name)


@router.post("/models/{str:name}/promote", response={204: None}, summary="Set models as the default, which advice asks")
def promote(request: HttpRequest, name: str) -> Status:
    """Of two promotions at once, the later one counts."""
    home = request.auth.lab.home
    known = cost_models.models(home, name)
    if known is None:
        raise Problem404(f"there are no models '{name}'")
    if known.broken:
        raise Problem409(f"models '{name}' cannot be loaded: {known.broken}")
    if not known.can_be_asked:
        raise Problem409(f"models '{name}' are not ready; wait until Delivers, Keeps up and one other cost are trained")
    cost_models.promote(home, name)
    return Status(204, None)


@router.get("/models/{str:name}/export", summary="The files of models, as a ZIP")
def export_models(request: HttpRequest, name: str) -> StreamingHttpResponse:
    return exported(request.auth.lab, LearningKind.MODELS, name)


@router.get("/corpora/{str:name}/export", summary="The files of a corpus, as a ZIP")
def export_corpus(request: HttpRequest, name: str) -> StreamingHttpResponse:
    return exported(request.auth.lab, LearningKind.CORPUS, name)


@router.post("/import/models", response={201: Imported}, summary="Import models that were exported")
def import_models(request: HttpRequest, file: File[UploadedFile], name: Form[str] = "") -> Status:
    """name: default: the one in the archive. No code of the file is run."""
    return imported(request.auth.lab, LearningKind.MODELS, file, name)


@router.post("/import/corpora", response={201: Imported}, summary="Import a corpus that was exported")
def import_corpus(request: HttpRequest, file: File[UploadedFile], name: Form[str] = "") -> Status:
    """name: default: the one in the archive."""
    return imported(request.auth.lab, LearningKind.CORPUS, file, name)


def exported(lab: Lab, kind: LearningKind, name: str) -> StreamingHttpResponse:
    folder = cost_models.folder_of(kind, lab.home, name)
    if folder is None:
        raise Problem404(f"there is no corpus '{name}'" if kind == LearningKind.CORPUS else f"there are no models '{name}'")
    try:
        file = learning_archives.packed(folder, kind)
    except learning_archives.Refused as refused:
        raise Problem409(str(refused)) from None
    headers = {
        "Content-Disposition": content_disposition_header(True, f"{name}.{kind}.zip") or "",
        "Content-Length": str(os.fstat(file.fileno()).st_size),
    }
    return StreamingHttpResponse(chunks(file), content_type="application/zip", headers=headers)


async def chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    """Read a file in another thread and close it. Of a synchronous iterator, Django would collect the whole content first."""
    with file:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk


def imported(lab: Lab, kind: LearningKind, file: UploadedFile, name: str) -> Status:
    try:
        return Status(201, Imported(name=learning_archives.unpack(lab, file, kind, name)))
    except learning_archives.Refused as refused:
        raise Problem422(str(refused), [Problem("/file", "not_taken", str(refused), value=file.name or "").as_dict()]) from None


def restored(lab: Lab, kind: LearningKind, name: str) -> Status:
    if not cost_models.restore(cost_models.place_of(kind, lab.home), name):
        raise Problem404(f"nothing of the name '{name}' was deleted lately, or there is a new one")
    return Status(204, None)


def deleted(lab: Lab, kind: LearningKind, name: str) -> Status:
    is_corpus = kind == LearningKind.CORPUS
    what = "corpus" if is_corpus else "models"
    for job in LearningJob.objects.filter(lab=lab, state__in=ACTIVE):
        if (job.kind, job.name) == (kind, name) or (is_corpus and job.settings.get("corpus") == name):
            raise Problem409(f"{what} '{name}' is in use by a job; cancel the job first")
    if not cost_models.delete(cost_models.place_of(kind, lab.home), name):
        known = cost_models.models(lab.home, name) if not is_corpus else None
        if known is not None:
            raise Problem409(f"models '{name}' come with Millrace and cannot be deleted")
        raise Problem404(f"there is no corpus '{name}'" if is_corpus else f"there are no models '{name}'")
    return Status(204, None)


def started(request: HttpRequest, kind: LearningKind, name: str, settings: dict[str, Any]) -> Status:
    lab = request.auth.lab
    if LearningJob.objects.filter(lab=lab, kind=kind, name=name, state__in=ACTIVE, cancel_requested=False).exists():
        raise Problem409(f"a job for '{name}' is in progress; cancel it first, or wait until it has ended")
    author = request.auth.user.get_username()
    job = LearningJob.objects.create(lab=lab, kind=kind, name=name, settings=settings, author=author)
    queued = enqueue(job.pk, LearningJob)
    announce_row(connection(), "learning", job.pk)
    job.refresh_from_db()
    return Status(201, LearningJobShape.of(job, None if queued else QUEUE_AWAY))


def row_of(known: cost_models.KnownModels, default: str) -> ModelRow:
    """default: name of the models that advice asks."""
    members: dict[str, int] = {}
    for member in known.members:
        members[member.metric] = members.get(member.metric, 0) + member.is_trained
    worth = {one["metric"]: one["off"].get("costream", {}) for one in known.report}
    return ModelRow(
        name=known.name,
        shipped=known.shipped,
        promoted=known.name == default,
        corpus=known.corpus,
        traces=known.traces,
        measured_by=known.measured_by,
        hidden=known.hidden,
        logarithmic=known.logarithmic,
        members=members,
        q50={metric: off["q50"] for metric, off in worth.items() if off.get("q50") is not None},
        accuracy={metric: off["accuracy"] for metric, off in worth.items() if off.get("accuracy") is not None},
    )


def _newest_first(job: LearningJob) -> float:
    created: datetime = job.created_at
    return -created.timestamp()

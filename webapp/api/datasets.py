"""Data sets: preview of a file, upload, list, delete."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.http import HttpRequest
from ninja import File, Form, Router, Status
from ninja.files import UploadedFile

from engine.spec import Problem
from engine.workloads import DatasetError
from engine.workloads.reading import Choices, ReadingRefused, choices_of
from webapp.accounts.rights import Right
from webapp.lab import datasets
from webapp.lab.models import Dataset, Lab
from webapp.lab.schemas import DatasetDetail, DatasetShape, UploadPreview
from webapp.lib.clients import is_gone
from webapp.lib.limited import Abandoned
from webapp.lib.turns import TooManyWaiting

from .authentication import Needs
from .errors import ClientGone, Problem404, Problem409, Problem422, Problem429
from .parsing import NoJson, json_of, unstorable

router = Router()


@router.get("", response=list[DatasetShape], summary="All data sets, by name")
def listing(request: HttpRequest) -> list[DatasetShape]:
    kept = Dataset.objects.filter(lab=request.auth.lab, deleted_at__isnull=True)
    return [DatasetShape.of(dataset) for dataset in kept.order_by("name")]


@router.get("/uses", response=dict[str, int], summary="Number of experiments that use each data set")
def uses(request: HttpRequest) -> dict[str, int]:
    return datasets.uses(request.auth.lab)


@router.post("", response={201: DatasetShape}, summary="Upload a CSV or Parquet file")
def upload(request: HttpRequest, file: File[UploadedFile], name: Form[str] = "", reading: Form[str] = "") -> Status:
    """name: the name documents use for it. Default: the file name without its extension. reading: JSON, how a CSV file is read; what it
    leaves out is detected."""
    try:
        with refusals():
            choices, who = choices_in(reading), request.auth.user.pk
            author = request.auth.user.get_username()
            return Status(201, DatasetShape.of(datasets.store(request.auth.lab, file, name, choices, who, is_gone(request), author)))
    except datasets.NameTaken as error:
        raise Problem409(str(error)) from None
    except datasets.BadName as error:
        raise Problem422(str(error), [Problem("/name", "bad_name", str(error), value=name or file.name).as_dict()]) from None


@router.post(
    "/preview",
    auth=Needs(Right.READ),
    response=UploadPreview,
    summary="The first rows of a CSV file as a reading has them; stores nothing",
)
def preview(request: HttpRequest, file: File[UploadedFile], reading: Form[str] = "", whole: Form[bool] = True) -> UploadPreview:
    """file: its first megabyte is looked at. reading: JSON; what it leaves out is detected. whole: false if only the beginning is sent."""
    with refusals():
        choices = choices_in(reading) or Choices()
        return UploadPreview(**datasets.preview_upload(file, whole, choices, request.auth.user.pk, is_gone(request)))


def choices_in(text: str) -> Choices | None:
    """Read the choices of a form. None if there are none. Raises Problem422, ReadingRefused."""
    if not text:
        return None
    try:
        document = json_of(text, "reading")
    except NoJson as error:
        raise Problem422(str(error), [Problem("/reading", "bad_text", str(error)).as_dict()]) from None
    problems = [{**problem.as_dict(), "pointer": f"/reading{problem.pointer}"} for problem in unstorable(document)]
    if problems:
        raise Problem422(f"{problems[0]['pointer']}: {problems[0]['message']}", problems)
    return choices_of(document)


@contextmanager
def refusals() -> Iterator[None]:
    """Answer 422 for a file or a reading that is refused, and 429 where somebody has too many waiting."""
    try:
        yield
    except ReadingRefused as refused:
        problems = [{**problem.as_dict(), "pointer": f"/reading{problem.pointer}"} for problem in refused.problems]
        raise Problem422(f"the reading cannot be used: {refused}", problems) from None
    except DatasetError as error:
        raise Problem422(str(error), [dataset_problem(error)]) from None
    except TooManyWaiting as error:
        raise Problem429(f"uploads and previews are read in turn, and {error}") from None
    except Abandoned:
        raise ClientGone("the client has gone") from None


@router.get("/{uuid:dataset_id}", response=DatasetDetail)
def read(request: HttpRequest, dataset_id: uuid.UUID) -> DatasetDetail:
    dataset = dataset_of(request.auth.lab, dataset_id, deleted_at__isnull=True)
    try:
        return DatasetDetail.of_rows(dataset, datasets.preview(dataset))
    except datasets.RecordsGone as error:
        raise Problem404(str(error)) from None


@router.delete("/{uuid:dataset_id}", response={204: None}, summary="Delete; experiments that use it can no longer run")
def delete(request: HttpRequest, dataset_id: uuid.UUID) -> Status:
    datasets.delete(dataset_of(request.auth.lab, dataset_id, deleted_at__isnull=True))
    return Status(204, None)


@router.post("/{uuid:dataset_id}/restore", response={204: None}, summary="Undo a deletion; 409 if the name is in use again")
def restore(request: HttpRequest, dataset_id: uuid.UUID) -> Status:
    try:
        datasets.restore(dataset_of(request.auth.lab, dataset_id))
    except datasets.NameTaken as error:
        raise Problem409(str(error)) from None
    return Status(204, None)


def dataset_of(lab: Lab, dataset_id: uuid.UUID, **more: Any) -> Dataset:
    found = Dataset.objects.filter(pk=dataset_id, lab=lab, **more).first()
    if found is None:
        raise Problem404(f"there is no data set {dataset_id} in this lab; it may have been deleted")
    return found


def dataset_problem(error: DatasetError) -> dict[str, Any]:
    """A problem in the file. Line and column are separate fields, because a file has no JSON pointers."""
    problem = Problem("/file", "bad_file", str(error), value=error.value).as_dict()
    return {**problem, "line": error.line, "column": error.column}

"""Data sets: upload, list, preview, delete."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest
from ninja import File, Form, Router, Status
from ninja.files import UploadedFile

from engine.spec import Problem
from engine.workloads import DatasetError
from webapp.lab import datasets
from webapp.lab.models import Dataset, Lab
from webapp.lab.schemas import DatasetDetail, DatasetShape

from .errors import Problem404, Problem409, Problem422

router = Router()


@router.get("", response=list[DatasetShape], summary="All data sets, by name")
def listing(request: HttpRequest) -> list[DatasetShape]:
    kept = Dataset.objects.filter(lab=request.auth.lab, deleted_at__isnull=True)
    return [DatasetShape.of(dataset) for dataset in kept.order_by("name")]


@router.get("/uses", response=dict[str, int], summary="Number of experiments that use each data set")
def uses(request: HttpRequest) -> dict[str, int]:
    return datasets.uses(request.auth.lab)


@router.post("", response={201: DatasetShape}, summary="Upload a CSV or Parquet file")
def upload(request: HttpRequest, file: File[UploadedFile], name: Form[str] = "") -> Status:
    """name: the name documents use for it. Default: the file name without its extension."""
    try:
        return Status(201, DatasetShape.of(datasets.store(request.auth.lab, file, name)))
    except datasets.NameTaken as error:
        raise Problem409(str(error)) from None
    except datasets.BadName as error:
        raise Problem422(str(error), [Problem("/name", "bad_name", str(error), value=name or file.name).as_dict()]) from None
    except DatasetError as error:
        raise Problem422(str(error), [dataset_problem(error)]) from None


@router.get("/{uuid:dataset_id}", response=DatasetDetail)
def read(request: HttpRequest, dataset_id: uuid.UUID) -> DatasetDetail:
    dataset = dataset_of(request.auth.lab, dataset_id, deleted_at__isnull=True)
    try:
        return DatasetDetail(**DatasetShape.fields_of(dataset), preview=datasets.preview(dataset))
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

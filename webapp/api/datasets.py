"""Data sets: uploaded, listed, looked into."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest
from ninja import File, Form, Router, Status
from ninja.files import UploadedFile

from engine.spec import Problem
from engine.workloads import DatasetError
from webapp.lab import datasets
from webapp.lab.models import Dataset
from webapp.lab.shapes import DatasetDetail, DatasetShape

from .errors import Problem404, Problem409, Problem422

router = Router()


@router.get("", response=list[DatasetShape], summary="All data sets, by name")
def listing(request: HttpRequest) -> list[DatasetShape]:
    return [DatasetShape.of(dataset) for dataset in Dataset.objects.filter(lab=request.auth.lab).order_by("name")]


@router.post("", response={201: DatasetShape}, summary="Upload a CSV or Parquet file")
def upload(request: HttpRequest, file: File[UploadedFile], name: Form[str] = "") -> Status:
    """name: how documents call it; the file's own name without its ending if not given."""
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
    dataset = Dataset.objects.filter(pk=dataset_id, lab=request.auth.lab).first()
    if dataset is None:
        raise Problem404(f"there is no data set {dataset_id} in this lab")
    return DatasetDetail(**DatasetShape.fields_of(dataset), preview=datasets.preview(dataset))


def dataset_problem(error: DatasetError) -> dict[str, Any]:
    """Where in the file: the line and the column are fields of their own, a file has no JSON pointers."""
    problem = Problem("/file", "bad_file", str(error), value=error.value).as_dict()
    return {**problem, "line": error.line, "column": error.column}

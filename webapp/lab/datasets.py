"""Keeping data sets: the upload's normal form as `<name>.parquet` in the lab's directory, and a row that describes it."""

from __future__ import annotations

import re
import shutil
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import IntegrityError, transaction

from engine.workloads import DatasetInfo, to_parquet

from .documents import datasets_directory
from .models import Dataset, Lab

NAME = re.compile(r"\w[\w .()+-]{0,99}")
NAME_BYTES_MAX = 200  # it is a file's name, with an ending
PREVIEW_ROWS = 20


class BadName(ValueError):
    """A name that cannot be a data set's."""


class NameTaken(ValueError):
    """Another data set has the name already."""


def store(lab: Lab, upload: TemporaryUploadedFile, name: str = "") -> Dataset:
    """Keep an uploaded CSV or Parquet file. Raises BadName, NameTaken, engine.workloads.DatasetError."""
    given_name = Path(upload.name or "upload").name
    directory = Path(settings.UPLOADS_DIR) / uuid.uuid4().hex
    directory.mkdir()
    try:
        file = directory / given_name  # its own name, so that errors can say it
        Path(upload.temporary_file_path()).rename(file)
        return add(lab, file, name.strip() or file.stem.strip())
    finally:
        shutil.rmtree(directory)


def add(lab: Lab, file: Path, name: str) -> Dataset:
    """Keep a file of this machine under a name. Raises as `store`."""
    if not NAME.fullmatch(name) or len(name.encode()) > NAME_BYTES_MAX:
        raise BadName(
            f"'{name}' cannot be a data set's name; it must begin with a letter or digit and have at most 100 letters, digits, spaces "
            "or . _ - + ( )"
        )
    if Dataset.objects.filter(lab=lab, name=name).exists():
        raise NameTaken(f"there is a data set '{name}' already; data sets never change, so choose another name")
    directory = datasets_directory(lab)
    directory.mkdir(parents=True, exist_ok=True)
    unfinished = directory / f".{uuid.uuid4().hex}.parquet"
    try:
        info = to_parquet(file, unfinished, bytes_max=settings.UPLOAD_BYTES_MAX)
        with transaction.atomic():
            # The row first: its unique name decides between two uploads at the same time, and only the winner's file gets the name.
            dataset = Dataset.objects.create(
                lab=lab,
                name=name,
                file=str((directory / f"{name}.parquet").relative_to(settings.DATA_DIR)),
                rows=info.rows,
                bytes=file.stat().st_size,
                columns=columns_of(info),
                timestamps=list(info.timestamps),
            )
            unfinished.replace(dataset.path)
        return dataset
    except IntegrityError:
        raise NameTaken(f"there is a data set '{name}' already; data sets never change, so choose another name") from None
    finally:
        unfinished.unlink(missing_ok=True)


def columns_of(info: DatasetInfo) -> list[dict[str, Any]]:
    return [{"name": column.name, "type": column.type, "sample": list(column.sample)} for column in info.columns]


def preview(dataset: Dataset) -> list[dict[str, Any]]:
    """The first rows, JSON-able: timestamps as ISO texts in UTC, to the nanosecond."""
    batches = parquet.ParquetFile(dataset.path).iter_batches(batch_size=PREVIEW_ROWS)
    table = pa.Table.from_batches([next(batches)]).slice(0, PREVIEW_ROWS)
    columns = {name: values_of(table[name]) for name in table.column_names}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def values_of(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return [f"{np.datetime64(nanoseconds, 'ns')}Z" for nanoseconds in column.cast(pa.int64()).to_pylist()]
    values: list[Any] = column.to_pylist()
    return values

"""Keeping data sets: the upload's normal form as `<name>.parquet` in the lab's directory, and a row that describes it."""

from __future__ import annotations

import re
import shutil
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import IntegrityError, transaction
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from engine.workloads import DatasetInfo, to_parquet

from .documents import datasets_directory
from .models import Dataset, Experiment, Lab
from .quota import check_room

NAME = re.compile(r"\w[\w .()+-]{0,99}")
NAME_BYTES_MAX = 200  # it is a file's name, with an ending
PREVIEW_ROWS = 20


class BadName(ValueError):
    """A name that cannot be a data set's."""


class NameTaken(ValueError):
    """Another data set has the name already."""


class RecordsGone(Exception):
    """The row is there, its file is not."""


def store(lab: Lab, upload: TemporaryUploadedFile, name: str = "") -> Dataset:
    """Keep an uploaded CSV or Parquet file. Raises BadName, NameTaken, StorageFull, engine.workloads.DatasetError."""
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
    check_room(lab)
    if not NAME.fullmatch(name) or len(name.encode()) > NAME_BYTES_MAX:
        raise BadName(
            f"'{name}' cannot be a data set's name; it must begin with a letter or digit and have at most 100 letters, digits, spaces "
            "or . _ - + ( )"
        )
    if Dataset.objects.filter(lab=lab, name=name, deleted_at__isnull=True).exists():
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
                file=_below_data(directory / f"{name}.parquet"),
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


def delete(dataset: Dataset) -> None:
    """Out of sight: documents and runs that name it find nothing, until it is restored."""
    _move(dataset, dataset.path.with_name(f".{dataset.pk}.parquet"), timezone.now())


def restore(dataset: Dataset) -> None:
    """Undo a deletion. Raises NameTaken when another data set has the name by now."""
    try:
        _move(dataset, dataset.path.with_name(f"{dataset.name}.parquet"), None)
    except IntegrityError:
        raise NameTaken(f"there is another data set '{dataset.name}' by now; delete it first to have this one back") from None


@transaction.atomic
def _move(dataset: Dataset, file: Path, deleted_at: datetime | None) -> None:
    """The row and then the file, or neither. Done already: nothing happens."""
    now = Dataset.objects.select_for_update().get(pk=dataset.pk)
    if (now.deleted_at is None) == (deleted_at is None):
        return
    Dataset.objects.filter(pk=dataset.pk).update(deleted_at=deleted_at, file=_below_data(file))
    with suppress(FileNotFoundError):  # somebody took it away; the row can go all the same
        now.path.replace(file)


def _below_data(file: Path) -> str:
    return str(file.relative_to(settings.DATA_DIR))


def uses(lab: Lab) -> Counter[str]:
    """How many experiments name each data set, wherever in their workload."""
    workloads = Experiment.objects.filter(lab=lab, deleted_at__isnull=True).annotate(workload=KeyTransform("workload", "document"))
    return Counter(name for workload in workloads.values_list("workload", flat=True) for name in set(_named(workload)))


def _named(value: Any) -> Iterator[str]:
    """Data sets in a part of a document, which may be a draft."""
    if isinstance(value, dict):
        if isinstance(value.get("dataset"), str):
            yield value["dataset"]
        for part in value.values():
            yield from _named(part)
    elif isinstance(value, list):
        for part in value:
            yield from _named(part)


def columns_of(info: DatasetInfo) -> list[dict[str, Any]]:
    return [{"name": column.name, "type": column.type, "sample": list(column.sample)} for column in info.columns]


def preview(dataset: Dataset) -> list[dict[str, Any]]:
    """The first rows, JSON-able: timestamps as ISO texts in UTC, to the nanosecond. Raises RecordsGone."""
    try:
        batches = parquet.ParquetFile(dataset.path).iter_batches(batch_size=PREVIEW_ROWS)
    except FileNotFoundError:
        raise RecordsGone(f"the records of data set '{dataset.name}' are gone from the server's data directory; upload it again") from None
    table = pa.Table.from_batches([next(batches)]).slice(0, PREVIEW_ROWS)
    columns = {name: values_of(table[name]) for name in table.column_names}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def values_of(column: pa.ChunkedArray) -> list[Any]:
    if pa.types.is_timestamp(column.type):
        return [f"{np.datetime64(nanoseconds, 'ns')}Z" for nanoseconds in column.cast(pa.int64()).to_pylist()]
    values: list[Any] = column.to_pylist()
    return values

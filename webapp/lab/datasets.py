"""Storage of data sets: each is a `<name>.parquet` in the lab's directory, converted from the upload, and a row that describes it."""

from __future__ import annotations

import re
import shutil
import uuid
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as parquet
from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.db import IntegrityError, transaction
from django.db.models.fields.json import KeyTransform
from django.utils import timezone

from engine.workloads.reading import Choices, json_values

from . import readers, reading
from .documents import datasets_directory
from .models import Dataset, Experiment, Lab
from .person_limits import check_stored
from .quota import check_room

NAME = re.compile(r"\w[\w .()+-]{0,99}")
NAME_BYTES_MAX = 200  # it becomes a file name, with an extension
PREVIEW_ROWS = 20


class BadName(ValueError):
    """The name is not valid for a data set."""


class NameTaken(ValueError):
    """Another data set already has the name."""


class RecordsGone(Exception):
    """The data set's row exists, but its file is missing."""


def store(
    lab: Lab,
    upload: TemporaryUploadedFile,
    name: str = "",
    choices: Choices | None = None,
    who: Hashable = None,
    is_gone: reading.IsGone = lambda: False,
    author: str = "",
) -> Dataset:
    """Store an uploaded CSV or Parquet file. choices: how a CSV file is read; what they leave out is detected.

    who: the person, for whose uploads each other wait. author: their name. is_gone: whether the client has gone. Raises BadName, NameTaken,
    LimitReached, DatasetError, ReadingRefused, TooManyWaiting, Abandoned.
    """
    given_name = Path(upload.name or "upload").name
    directory = Path(settings.UPLOADS_DIR) / uuid.uuid4().hex
    directory.mkdir()
    try:
        file = directory / given_name  # keep its name, so that errors can quote it
        Path(upload.temporary_file_path()).rename(file)
        upload.close()
        name = name.strip() or file.stem.strip()
        _check(lab, name)
        check_stored(lab, author)
        normal = directory / f"{uuid.uuid4().hex}.parquet"
        read = reading.converted(file, normal, choices, who, is_gone)
        return _keep(lab, name, normal, read, file.stat().st_size, author)
    finally:
        shutil.rmtree(directory)


def add(lab: Lab, file: Path, name: str) -> Dataset:
    """Store a local file that is trusted. Raises as `store`."""
    _check(lab, name)
    directory = Path(settings.UPLOADS_DIR) / uuid.uuid4().hex
    directory.mkdir()
    try:
        normal = directory / "normal.parquet"
        read = reading.outcome(readers.convert(str(file), str(normal), None, settings.UPLOAD_BYTES_MAX))
        return _keep(lab, name, normal, read, file.stat().st_size)
    finally:
        shutil.rmtree(directory)


def _check(lab: Lab, name: str) -> None:
    """Raises BadName, NameTaken, LimitReached."""
    check_room(lab)
    if not NAME.fullmatch(name) or len(name.encode()) > NAME_BYTES_MAX:
        raise BadName(
            f"'{name}' is not a valid data set name; it must start with a letter or digit and have at most 100 letters, digits, spaces "
            "or . _ - + ( )"
        )
    if Dataset.objects.filter(lab=lab, name=name, deleted_at__isnull=True).exists():
        raise NameTaken(f"there is a data set '{name}' already; data sets never change, so choose another name")


def _keep(lab: Lab, name: str, normal: Path, read: dict[str, Any], size_bytes: int, author: str = "") -> Dataset:
    """Store the normal form of a file, and the row that describes it. Raises NameTaken."""
    directory = datasets_directory(lab)
    directory.mkdir(parents=True, exist_ok=True)
    try:
        with transaction.atomic():
            # The row first: its unique constraint decides between concurrent uploads, and only the winner's file gets the name.
            file = _below_data(directory / f"{name}.parquet")
            dataset = Dataset.objects.create(lab=lab, name=name, file=file, bytes=size_bytes, author=author, **read)
            normal.replace(dataset.path)
        return dataset
    except IntegrityError:
        raise NameTaken(f"there is a data set '{name}' already; data sets never change, so choose another name") from None


def preview_upload(
    upload: TemporaryUploadedFile, whole: bool, choices: Choices, who: Hashable = None, is_gone: reading.IsGone = lambda: False
) -> dict[str, Any]:
    """Preview a file of text; stores nothing. whole: the upload is all of the file. Raises as `store`."""
    return reading.previewed(Path(upload.temporary_file_path()), whole, choices, who, is_gone)


def delete(dataset: Dataset) -> None:
    """Soft-delete: documents and runs cannot find the data set until it is restored."""
    _move(dataset, dataset.path.with_name(f".{dataset.pk}.parquet"), timezone.now())


def restore(dataset: Dataset) -> None:
    """Undo a deletion. Raises NameTaken if another data set now has the name."""
    try:
        _move(dataset, dataset.path.with_name(f"{dataset.name}.parquet"), None)
    except IntegrityError:
        raise NameTaken(f"another data set named '{dataset.name}' exists now; delete it first to restore this one") from None


@transaction.atomic
def _move(dataset: Dataset, file: Path, deleted_at: datetime | None) -> None:
    """Move the row and then the file, or neither. No effect if already done."""
    now = Dataset.objects.select_for_update().get(pk=dataset.pk)
    if (now.deleted_at is None) == (deleted_at is None):
        return
    Dataset.objects.filter(pk=dataset.pk).update(deleted_at=deleted_at, file=_below_data(file))
    with suppress(FileNotFoundError):  # the file is missing; delete or restore the row anyway
        now.path.replace(file)


def _below_data(file: Path) -> str:
    return str(file.relative_to(settings.DATA_DIR))


def uses(lab: Lab) -> Counter[str]:
    """Count the experiments that use each data set anywhere in their workload."""
    workloads = Experiment.objects.filter(lab=lab, deleted_at__isnull=True).annotate(workload=KeyTransform("workload", "document"))
    return Counter(name for workload in workloads.values_list("workload", flat=True) for name in set(named(workload)))


def named(value: Any) -> Iterator[str]:
    """Names of data sets in a part of a document, which may be a draft."""
    if isinstance(value, dict):
        if isinstance(value.get("dataset"), str):
            yield value["dataset"]
        for part in value.values():
            yield from named(part)
    elif isinstance(value, list):
        for part in value:
            yield from named(part)


def preview(dataset: Dataset) -> list[dict[str, Any]]:
    """Return the first rows as JSON values, with timestamps as ISO strings in UTC to the nanosecond. Raises RecordsGone."""
    try:
        batches = parquet.ParquetFile(dataset.path).iter_batches(batch_size=PREVIEW_ROWS)
    except FileNotFoundError:
        raise RecordsGone(
            f"the records of data set '{dataset.name}' are missing from the server's data directory; upload it again"
        ) from None
    table = pa.Table.from_batches([next(batches)]).slice(0, PREVIEW_ROWS)
    columns = {name: json_values(table[name]) for name in table.column_names}
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]

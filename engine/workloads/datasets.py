"""Uploaded files: inspection of CSV and Parquet files, and conversion to the normal form, a Parquet file.

The normal form has the types int64, double, bool, string and timestamp[ns] (UTC) only, and at least one column that can serve as event
time, or else one of numbers: then the file can be no stream, but a trace of rates or delays. A CSV file becomes this by a reading
(`engine.workloads.reading`). A Parquet file has types of its own: there a null text is the empty text, a column of ISO texts is a timestamp
column, and null, NaN or infinity in any other column are refused, because the engine has no null. An integer column whose values all lie
between 1980 and 2100, read as s, ms, us or ns since 1970, stays an integer column and can serve as event time.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from engine.spec.base.records import FieldType, RecordField, RecordSchema
from engine.spec.experiment.streams import DatasetInfo as DatasetSchema

from .dataseterror import DatasetError
from .epochs import EPOCH_UNITS_NS, TIMESTAMPS_RIGHT, unit_of
from .limits import BYTES_MAX, refuse_long_text, refuse_size, refuse_texts, text_bytes
from .parquet_files import NORMAL, ParquetFile
from .reading import (
    EMPTY,
    NO_ROWS,
    Choices,
    Counts,
    Reading,
    TextFile,
    detect_whole,
    hash_of,
    json_values,
    records,
    refuse_spoilt,
    refuse_spoilt_times,
    schema_of,
)

SAMPLES = 5
PARQUET_MAGIC = b"PAR1"


@dataclass(frozen=True)
class DatasetColumn:
    """sample: the first few values as JSON values (timestamps in ISO format)."""

    name: str
    type: FieldType
    sample: tuple[Any, ...]


@dataclass(frozen=True)
class DatasetInfo(DatasetSchema):
    """The contents of a file, with samples.

    path: the file. bytes: its size.
    """

    path: Path
    bytes: int
    columns: tuple[DatasetColumn, ...]


@dataclass(frozen=True)
class Conversion:
    """An upload in the normal form.

    hash: of the upload's bytes and its reading. reading: None for a Parquet file. counts: what the reading did not simply take over.
    """

    info: DatasetInfo
    hash: str
    reading: Reading | None
    counts: Counts


def inspect(path: Path, bytes_max: int = BYTES_MAX) -> DatasetInfo:
    """Inspect a CSV or Parquet file. Raises DatasetError if it cannot be replayed."""
    path = Path(path)
    return _each(path, bytes_max, lambda batch: None).info(path)


def to_parquet(upload: Path, destination: Path, choices: Choices | None = None, bytes_max: int = BYTES_MAX) -> Conversion:
    """Write the upload's normal form to `destination` (atomically). choices: how a CSV file is read; what they leave out is detected.

    Files are read in batches, so that memory does not grow with their size. Raises DatasetError, ReadingRefused.
    """
    upload, destination = Path(upload), Path(destination)
    unfinished = destination.with_name(f".{destination.name}.{os.getpid()}.tmp")
    try:
        if _is_parquet(upload, bytes_max):
            if choices is not None:
                raise DatasetError("a Parquet file has types of its own; leave out the reading")
            file = ParquetFile(upload)
            with _writer(unfinished, file.schema) as writer:
                described = _described(file, writer.write_batch)
            counts, reading = Counts(rows=described.rows), None
            with upload.open("rb") as content:
                digest = hashlib.file_digest(content, lambda: hashlib.blake2b(digest_size=32)).digest()
        else:
            text = TextFile.at(upload)
            digest = text.check()
            reading = detect_whole(text, choices or Choices())
            counts, described = Counts(), Description(schema_of(reading))
            with _writer(unfinished, described.schema) as writer:
                for batch in records(text, reading, counts):
                    described.add(batch)
                    writer.write_batch(batch)
            _refuse_lost(described, counts)
            if not described.timestamps and not (choices and choices.columns):
                refuse_spoilt_times(text, reading)
        unfinished.replace(destination)
    finally:
        unfinished.unlink(missing_ok=True)
    return Conversion(described.info(destination), hash_of(digest, reading), reading, counts)


def _writer(path: Path, schema: pa.Schema) -> parquet.ParquetWriter:
    return parquet.ParquetWriter(path, schema.with_metadata({NORMAL: b"1"}), compression="zstd", compression_level=9)


def _refuse_lost(described: Description, counts: Counts) -> None:
    """Refuse a file of which no row is left."""
    if not described.rows:
        message = f"each of the {counts.rows:,} rows lacks a value in some column; put a value in place of missing ones"
        raise DatasetError(message if counts.rows else NO_ROWS, value=0)


def lookup(directories: Iterable[Path]) -> Callable[[str], DatasetInfo | None]:
    """Return a lookup of data sets by name: `<directory>/<name>.parquet` in the normal form, from the first directory that has it.

    The lookup raises DatasetError for a file that cannot be replayed.
    """
    places = [Path(directory) for directory in directories]

    def find(name: str) -> DatasetInfo | None:
        if not name or name != os.path.basename(name) or name.startswith(".") or "\\" in name or "\0" in name:
            return None
        for place in places:
            path = place / f"{name}.parquet"
            if path.is_file():
                status = path.stat()
                try:
                    return _inspected(path, status.st_mtime_ns, status.st_size)
                except DatasetError as error:
                    message = f"data set '{name}': {error}"
                    raise DatasetError(message, line=error.line, column=error.column, value=error.value) from None
        return None

    return find


@functools.lru_cache(maxsize=64)
def _inspected(path: Path, changed_ns: int, size: int) -> DatasetInfo:
    return inspect(path)


# Reading


def read(path: Path, bytes_max: int = BYTES_MAX) -> pa.Table:
    """Return the file's rows in the normal form. Raises DatasetError."""
    batches: list[pa.RecordBatch] = []
    described = _each(path, bytes_max, batches.append)
    return pa.Table.from_batches(batches, described.schema)


def _each(path: Path, bytes_max: int, take: Callable[[pa.RecordBatch], None]) -> Description:
    """Read a file, and let `take` have each batch of the normal form. Raises DatasetError."""
    if _is_parquet(path, bytes_max):
        stored = _stored(path)
        return _described(ParquetFile(path), take) if stored is None else _taken(stored, take)
    text = TextFile.at(path)
    text.check()
    reading = detect_whole(text, Choices())
    described = Description(schema_of(reading))
    for batch in records(text, reading, Counts()):
        described.add(batch)
        take(batch)
    if not described.timestamps:
        refuse_spoilt_times(text, reading)
    return described


def _stored(path: Path) -> pa.Table | None:
    """Return the rows of a file that is in the normal form, which was checked when it was written. None for other files."""
    try:
        if NORMAL not in (parquet.read_schema(path).metadata or {}):
            return None
        table = parquet.read_table(path)
    except (pa.ArrowInvalid, OSError):
        return None
    return None if any(column.null_count for column in table.columns) else table.replace_schema_metadata(None)


def _taken(table: pa.Table, take: Callable[[pa.RecordBatch], None]) -> Description:
    described = Description(table.schema)
    for batch in table.to_batches():
        described.add(batch)
        take(batch)
    return described


def _described(file: ParquetFile, take: Callable[[pa.RecordBatch], None]) -> Description:
    """Read a Parquet file, and let `take` have each batch of the normal form. Raises DatasetError."""
    described = Description(file.schema)
    for batch in file.batches():
        described.add(batch)
        take(batch)
    if not described.timestamps and not file.is_normal:
        refuse_spoilt(file.schema.names, file.batches(), lambda batch, position: batch.column(position))
        if not any(pa.types.is_integer(type) or pa.types.is_floating(type) for type in file.schema.types):
            names = ", ".join(f"'{name}'" for name in file.schema.names[:20])
            message = f"no column can serve as timestamp and none contains numbers (columns: {names}); one must contain {TIMESTAMPS_RIGHT}"
            raise DatasetError(message)
    return described


def _is_parquet(path: Path, bytes_max: int) -> bool:
    """Return whether the file is or should be a Parquet file, by its start or its name. Raises DatasetError if its size cannot be right."""
    size = path.stat().st_size
    if size > bytes_max:
        raise DatasetError(f"the file has {size:,} bytes; at most {bytes_max:,} are allowed; upload a sample of it", value=size)
    if not size:
        raise DatasetError(EMPTY, value=0)
    with path.open("rb") as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC or path.suffix.lower() in (".parquet", ".pq")


# Describing


class Description:
    """What batches of one schema hold, gathered from one after another."""

    def __init__(self, schema: pa.Schema):
        self.schema = schema
        self.rows = 0
        self._cells_per_row = sum(max(1, _dimensions(field.type)) for field in schema)
        self._texts_bytes = 0
        self._samples: dict[str, list[Any]] = {name: [] for name in schema.names}
        self._extremes: dict[str, tuple[int, int]] = {}  # least and greatest value of columns of integers and times

    def add(self, batch: pa.RecordBatch) -> None:
        """Raises DatasetError if there are too many cells, or too long texts."""
        before = self.rows
        self.rows += batch.num_rows
        refuse_size(self.rows, self._cells_per_row)
        if not batch.num_rows:
            return
        for name, column in zip(self.schema.names, batch.columns, strict=True):
            sample = self._samples[name]
            if len(sample) < SAMPLES:
                sample += json_values(column.slice(0, SAMPLES - len(sample)))
            if pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type):
                found = compute.min_max(column.cast(pa.int64())).as_py()
                least, most = self._extremes.get(name, (found["min"], found["max"]))
                self._extremes[name] = min(least, found["min"]), max(most, found["max"])
            elif pa.types.is_string(column.type):
                sizes = text_bytes(column)
                refuse_long_text(name, sizes, before)
                self._texts_bytes += compute.sum(sizes).as_py() or 0
        refuse_texts(self._texts_bytes)

    @property
    def timestamps(self) -> tuple[str, ...]:
        """The columns that can serve as event time: timestamps first, then integers since 1970."""
        if not self.rows:
            return ()
        stamped = [field.name for field in self.schema if pa.types.is_timestamp(field.type)]
        since_1970 = [field.name for field in self.schema if pa.types.is_integer(field.type) and unit_of(*self._extremes[field.name])]
        return tuple(stamped + since_1970)

    def info(self, path: Path) -> DatasetInfo:
        columns = tuple(DatasetColumn(field.name, _field_type(field.type), tuple(self._samples[field.name])) for field in self.schema)
        fields = (RecordField(field.name, _field_type(field.type), dimensions=_dimensions(field.type)) for field in self.schema)
        schema = RecordSchema(tuple(fields))
        firsts_ns = {name: self._first_ns(name) for name in self.timestamps}
        return DatasetInfo(schema, self.timestamps, self.rows, firsts_ns, path, path.stat().st_size, columns)

    def _first_ns(self, name: str) -> int:
        least, most = self._extremes[name]
        if pa.types.is_timestamp(self.schema.field(name).type):
            return least
        unit = unit_of(least, most)
        assert unit is not None
        return least * EPOCH_UNITS_NS[unit]


def _dimensions(type: pa.DataType) -> int:
    """Coordinates of a column of vectors; 0 for others."""
    return int(type.list_size) if pa.types.is_fixed_size_list(type) else 0


def _field_type(type: pa.DataType) -> FieldType:
    if pa.types.is_timestamp(type):
        return "timestamp"
    if pa.types.is_integer(type):
        return "int"
    if pa.types.is_floating(type):
        return "float"
    if pa.types.is_fixed_size_list(type):
        return "vector"
    return "bool" if pa.types.is_boolean(type) else "string"

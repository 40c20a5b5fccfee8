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

from engine.spec.base.records import DIMENSIONS_MAX, VECTOR_DIMENSIONS_MAX, VECTORS_MAX, FieldType, RecordField, RecordSchema
from engine.spec.experiment.streams import DatasetInfo as DatasetSchema

from .dataseterror import DatasetError
from .epochs import EPOCH_UNITS_NS, TIMESTAMP, TIMESTAMPS_RIGHT, unit_of
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

BYTES_MAX = 256_000_000
CELLS_MAX = 100_000_000  # a run needs 8 bytes per cell
SAMPLES = 5
PARQUET_MAGIC = b"PAR1"

TEXT_TIMESTAMPS = (TIMESTAMP, pa.timestamp("ns", "UTC"))  # without and with a time zone; a column has only one of them
NORMAL = b"millrace.normal_form"
"""Key of the metadata of files in the normal form: their texts stay texts, also if they look like times."""


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
    return _info(read(path, bytes_max), path)


def to_parquet(upload: Path, destination: Path, choices: Choices | None = None, bytes_max: int = BYTES_MAX) -> Conversion:
    """Write the upload's normal form to `destination` (atomically). choices: how a CSV file is read; what they leave out is detected.

    A CSV file is read in blocks, so that memory does not grow with its size. Raises DatasetError, ReadingRefused.
    """
    upload, destination = Path(upload), Path(destination)
    unfinished = destination.with_name(f".{destination.name}.{os.getpid()}.tmp")
    try:
        if _is_parquet(upload, bytes_max):
            if choices is not None:
                raise DatasetError("a Parquet file has types of its own; leave out the reading")
            table = _read_parquet(upload)
            described = Description(table.schema)
            described.add(table)
            counts, reading = Counts(rows=table.num_rows), None
            with upload.open("rb") as file:
                digest = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=32)).digest()
            with _writer(unfinished, table.schema) as writer:
                writer.write_table(table)
        else:
            text = TextFile.at(upload)
            digest = text.check()
            reading = detect_whole(text, choices or Choices())
            counts, described = Counts(), Description(schema_of(reading))
            with _writer(unfinished, described.schema) as writer:
                for batch in records(text, reading, counts):
                    described.add(pa.Table.from_batches([batch]))
                    writer.write_table(pa.Table.from_batches([batch]))
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


# Reading and normalising


def read(path: Path, bytes_max: int = BYTES_MAX) -> pa.Table:
    """Return the file's rows in the normal form. Raises DatasetError."""
    if _is_parquet(path, bytes_max):
        return _read_parquet(path)
    text = TextFile.at(path)
    text.check()
    reading, counts = detect_whole(text, Choices()), Counts()
    table = pa.Table.from_batches(records(text, reading, counts), schema_of(reading))
    described = Description(table.schema)
    described.add(table)
    if not described.timestamps:
        refuse_spoilt_times(text, reading)
    return table


def _is_parquet(path: Path, bytes_max: int) -> bool:
    """Return whether the file is or should be a Parquet file, by its start or its name. Raises DatasetError if its size cannot be right."""
    size = path.stat().st_size
    if size > bytes_max:
        raise DatasetError(f"the file has {size:,} bytes; at most {bytes_max:,} are allowed; upload a sample of it", value=size)
    if not size:
        raise DatasetError(EMPTY, value=0)
    with path.open("rb") as file:
        return file.read(len(PARQUET_MAGIC)) == PARQUET_MAGIC or path.suffix.lower() in (".parquet", ".pq")


def _read_parquet(path: Path) -> pa.Table:
    """Return the rows of a Parquet file in the normal form. Raises DatasetError."""
    try:
        file = parquet.ParquetFile(path)
    except (pa.ArrowInvalid, OSError) as error:
        message = f"'{path.name}' is not a Parquet file or is truncated ({error}); upload a complete Parquet file, or a CSV file named .csv"
        raise DatasetError(message) from error
    names = file.schema_arrow.names
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        message = f"the column name '{repeated[0]}' occurs {names.count(repeated[0])} times; names must be unique"
        raise DatasetError(message, column=repeated[0])
    if not file.metadata.num_rows:
        raise DatasetError(NO_ROWS, value=0)
    refuse_size(file.metadata.num_rows, len(names))
    try:
        table = file.read()
    except (pa.ArrowInvalid, OSError) as error:
        raise DatasetError(f"'{path.name}' is damaged ({error}); upload a complete Parquet file") from error
    is_normal = NORMAL in (table.schema.metadata or {})
    table = _with_coordinates(table)
    columns = [_normal(name, column, is_normal) for name, column in zip(table.column_names, table.columns, strict=True)]
    table = pa.table(columns, names=table.column_names)
    if is_normal:
        return table
    described = Description(table.schema)
    described.add(table)
    if not described.timestamps:
        for name in table.column_names:
            refuse_spoilt(name, table[name].chunks)
        if not any(pa.types.is_integer(column.type) or pa.types.is_floating(column.type) for column in table.columns):
            names = ", ".join(f"'{name}'" for name in table.column_names)
            message = f"no column can serve as timestamp and none contains numbers (columns: {names}); one must contain {TIMESTAMPS_RIGHT}"
            raise DatasetError(message)
    return table


def _with_coordinates(table: pa.Table) -> pa.Table:
    """Replace each column of short lists of numbers by a column of each coordinate: v by v1, v2, ... Longer ones become columns of vectors.
    Raises DatasetError if lists differ in length."""
    columns: dict[str, pa.ChunkedArray] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        made = _coordinates(name, column) if _holds_lists(column.type) else {name: column}
        taken = sorted(made.keys() & (columns.keys() | set(table.column_names) - {name}))
        if taken:
            message = f"column '{name}' holds vectors, whose coordinates would be named as column '{taken[0]}'; rename one of the two"
            raise DatasetError(message, column=name)
        columns |= made
    vectors = [name for name, column in columns.items() if _holds_lists(column.type)]
    if len(vectors) > VECTORS_MAX:
        message = f"column '{vectors[VECTORS_MAX]}' is one of {len(vectors)} with long vectors; keep at most {VECTORS_MAX} of them"
        raise DatasetError(message, column=vectors[VECTORS_MAX], value=len(vectors))
    return pa.table(columns).replace_schema_metadata(table.schema.metadata)


def _holds_lists(type: pa.DataType) -> bool:
    is_list = pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type)
    return bool(is_list and (pa.types.is_floating(type.value_type) or pa.types.is_integer(type.value_type)))


def _coordinates(name: str, column: pa.ChunkedArray) -> dict[str, pa.ChunkedArray]:
    _refuse_nulls(name, column)
    lengths = compute.list_value_length(column)
    found = compute.min_max(lengths).as_py()
    if found["min"] != found["max"]:
        rows = [compute.index(lengths, found[which]).as_py() + 1 for which in ("min", "max")]
        message = (
            f"column '{name}' has {found['min']} numbers in row {rows[0]} and {found['max']} in row {rows[1]}; "
            "vectors to be compared have equally many coordinates"
        )
        raise DatasetError(message, column=name, value=found["max"])
    size = found["max"]
    if not 1 <= size <= VECTOR_DIMENSIONS_MAX:
        most = f"{VECTOR_DIMENSIONS_MAX:,}"
        message = f"column '{name}' has vectors of {size:,} numbers; give them 1 to {most}, for example by projecting them"
        raise DatasetError(message, column=name, value=size)
    if size > DIMENSIONS_MAX:
        values = pa.concat_arrays(chunk.flatten().cast(pa.float64()) for chunk in column.chunks)
        return {name: pa.chunked_array([pa.FixedSizeListArray.from_arrays(values, size)])}
    separator = "_" if name[-1:].isdigit() else ""
    return {f"{name}{separator}{n + 1}": compute.list_element(column, n).cast(pa.float64()) for n in range(size)}


def refuse_size(rows: int, columns: int) -> None:
    if rows * columns > CELLS_MAX:
        message = f"the file has {rows:,} rows of {columns} columns or more; at most {CELLS_MAX:,} cells are allowed; upload a sample of it"
        raise DatasetError(message, value=rows * columns)


def _normal(name: str, column: pa.ChunkedArray, is_normal: bool) -> pa.ChunkedArray:
    """Convert a column of a Parquet file to its normal type, without nulls. is_normal: the file is in the normal form already."""
    type = column.type
    if pa.types.is_dictionary(type):
        column = column.cast(type.value_type)
        type = column.type
    if pa.types.is_null(type):
        raise DatasetError(f"column '{name}' has no values; fill it in or leave it out", column=name)
    if pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type):
        texts = compute.fill_null(column.cast(pa.string()), "")
        return texts if is_normal else _texts_or_timestamps(texts)
    _refuse_nulls(name, column)
    if pa.types.is_fixed_size_list(type):
        numbers = pa.chunked_array(chunk.flatten() for chunk in column.chunks)
        _refuse_infinite(name, numbers, type.list_size)
        return column
    if pa.types.is_boolean(type):
        return column
    if pa.types.is_integer(type):
        return _integers(name, column)
    if pa.types.is_floating(type):
        column = column.cast(pa.float64())
        _refuse_infinite(name, column)
        return column
    if pa.types.is_timestamp(type) or pa.types.is_date(type):
        try:
            zone = type.tz if pa.types.is_timestamp(type) else None
            return column.cast(pa.timestamp("ns", zone)).cast(pa.int64()).cast(TIMESTAMP)
        except pa.ArrowInvalid as error:
            message = f"column '{name}' has times outside the years 1678 to 2261, which do not fit in ns ({error})"
            raise DatasetError(message, column=name) from error
    raise DatasetError(
        f"column '{name}' has the type {type}, which is not supported; "
        "convert it to an integer, double, bool, string or timestamp, or leave it out",
        column=name,
        value=str(type),
    )


def _refuse_infinite(name: str, numbers: pa.ChunkedArray, per_row: int = 1) -> None:
    if numbers.null_count:
        place = compute.index(compute.is_null(numbers), True).as_py()
        raise DatasetError(f"column '{name}' has a vector with a missing number in row {place // per_row + 1}; fill it in", column=name)
    finite = compute.is_finite(numbers)
    if not compute.all(finite).as_py():
        place = compute.index(finite, False).as_py()
        value = numbers[place].as_py()
        message = f"column '{name}' has {value} in row {place // per_row + 1}; only finite numbers are allowed"
        raise DatasetError(message, column=name, value=str(value))


def _refuse_nulls(name: str, column: pa.ChunkedArray) -> None:
    if column.null_count:
        row = compute.index(compute.is_null(column), True).as_py()
        raise DatasetError(
            f"column '{name}' ({column.type}) has no value in {column.null_count:,} of {len(column):,} rows, first in row {row + 1}; "
            "fill them in or remove these rows (only text columns may have empty cells)",
            column=name,
        )


def _integers(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        most = compute.max(column).as_py()
        row = compute.index(column, most).as_py()
        message = f"column '{name}' has {most} in row {row + 1}; integers must be below 9,223,372,036,854,775,808"
        raise DatasetError(message, column=name, value=most) from error


def _texts_or_timestamps(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    """Convert ISO texts, all with or all without a time zone, to timestamp[ns] in UTC; other texts stay."""
    for type in TEXT_TIMESTAMPS:
        if _holds(texts.slice(0, 100), type) and _holds(texts, type):  # a cast that fails at every row is slow
            return texts.cast(type).cast(pa.int64()).cast(TIMESTAMP)
    return texts


def _holds(texts: pa.ChunkedArray, type: pa.DataType) -> bool:
    """Return whether all texts are timestamps of this type."""
    try:
        texts.cast(type)
    except pa.ArrowInvalid:
        return False
    return True


# Describing


class Description:
    """What tables of one schema hold, gathered from one after another."""

    def __init__(self, schema: pa.Schema):
        self.schema = schema
        self.rows = 0
        self._samples: dict[str, list[Any]] = {name: [] for name in schema.names}
        self._extremes: dict[str, tuple[int, int]] = {}  # least and greatest value of columns of integers and times

    def add(self, table: pa.Table) -> None:
        """Raises DatasetError if there are too many cells."""
        self.rows += table.num_rows
        refuse_size(self.rows, sum(max(1, _dimensions(field.type)) for field in self.schema))
        if not table.num_rows:
            return
        for name in self.schema.names:
            column, sample = table[name], self._samples[name]
            if len(sample) < SAMPLES:
                sample += json_values(column.slice(0, SAMPLES - len(sample)))
            if pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type):
                found = compute.min_max(column.cast(pa.int64())).as_py()
                least, most = self._extremes.get(name, (found["min"], found["max"]))
                self._extremes[name] = min(least, found["min"]), max(most, found["max"])

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


def _info(table: pa.Table, path: Path) -> DatasetInfo:
    described = Description(table.schema)
    described.add(table)
    return described.info(path)


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

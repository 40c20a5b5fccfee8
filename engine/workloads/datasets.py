"""Uploaded files: inspection of CSV and Parquet files, and conversion to the normal form, a Parquet file.

The normal form has the types int64, double, bool, string and timestamp[ns] (UTC) only, and at least one column that can serve as event
time, or else one of numbers: then the file can be no stream, but a trace of rates or delays. Rules: a string cell that is empty or null is
the empty text (CSV cannot tell the two apart); an empty cell, NaN or infinity in any other column is refused, because the engine has no
null. A column of ISO texts is a timestamp column. An integer column whose values all lie between 1980 and 2100, read as s, ms, us or ns
since 1970, stays an integer column and can serve as event time.
"""

from __future__ import annotations

import functools
import os
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet
from numpy.typing import NDArray

from engine.spec.base.records import FieldType, RecordField, RecordSchema
from engine.spec.experiment.streams import DatasetInfo as DatasetSchema

from .csvfile import read_csv
from .dataseterror import DatasetError

BYTES_MAX = 256_000_000
CELLS_MAX = 100_000_000  # a run needs 8 bytes per cell
SAMPLES = 5
PARQUET_MAGIC = b"PAR1"

TIMESTAMP = pa.timestamp("ns")
TEXT_TIMESTAMPS = (TIMESTAMP, pa.timestamp("ns", "UTC"))  # without and with a time zone; a column has only one of them
TIMESTAMPS_RIGHT = (
    "ISO texts such as 2026-01-31T12:00:00Z, Arrow timestamps, or whole numbers of s, ms, us or ns since 1970 (from 1980 to 2100)"
)
EPOCH_FIRST_S, EPOCH_LAST_S = 315_532_800, 4_102_444_800  # 1980 and 2100: in this range the four units cannot be confused
EPOCH_UNITS_NS = {"s": 1_000_000_000, "ms": 1_000_000, "us": 1_000, "ns": 1}

LineOf = Callable[[int], int | None]  # from row number to line number, None for files without lines


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


def inspect(path: Path, bytes_max: int = BYTES_MAX) -> DatasetInfo:
    """Inspect a CSV or Parquet file. Raises DatasetError if it cannot be replayed."""
    path = Path(path)
    return _info(read(path, bytes_max), path)


def to_parquet(upload: Path, destination: Path, bytes_max: int = BYTES_MAX) -> DatasetInfo:
    """Write the upload's normal form to `destination` (atomically) and return its contents. Raises DatasetError."""
    upload, destination = Path(upload), Path(destination)
    table = read(upload, bytes_max)
    unfinished = destination.with_name(f".{destination.name}.{os.getpid()}.tmp")
    try:
        parquet.write_table(table, unfinished, compression="zstd", compression_level=9)
        unfinished.replace(destination)
    finally:
        unfinished.unlink(missing_ok=True)
    return _info(table, destination)


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


def epoch_ns(column: pa.ChunkedArray, name: str) -> NDArray[np.int64]:
    """Convert a timestamp column to ns since 1970; integers by their unit. Raises DatasetError. Shape (rows,)."""
    if pa.types.is_timestamp(column.type):
        values: NDArray[np.int64] = column.cast(TIMESTAMP).cast(pa.int64()).to_numpy().copy()
        return values
    unit = epoch_unit(column)
    if unit is None:
        raise DatasetError(f"column '{name}' is not a timestamp column; use {TIMESTAMPS_RIGHT}", column=name)
    values = column.to_numpy() * EPOCH_UNITS_NS[unit]
    return values


def epoch_unit(column: pa.ChunkedArray) -> str | None:
    """Return the unit in which all values of an integer column lie between 1980 and 2100, or None."""
    if not pa.types.is_integer(column.type) or not len(column):
        return None
    extremes = compute.min_max(column).as_py()
    return _unit_of(extremes["min"], extremes["max"])


def _unit_of(least: int, most: int) -> str | None:
    for unit, unit_ns in EPOCH_UNITS_NS.items():
        per_s = 1_000_000_000 // unit_ns
        if EPOCH_FIRST_S * per_s <= least and most < EPOCH_LAST_S * per_s:
            return unit
    return None


# Reading and normalising


def read(path: Path, bytes_max: int = BYTES_MAX) -> pa.Table:
    """Return the file's rows in the normal form. Raises DatasetError."""
    size = path.stat().st_size
    if size > bytes_max:
        raise DatasetError(f"the file has {size:,} bytes; at most {bytes_max:,} are allowed; upload a sample of it", value=size)
    if not size:
        raise DatasetError("the file is empty; it must have a header line and at least one row", value=0)
    with path.open("rb") as file:
        start = file.read(len(PARQUET_MAGIC))
    if start == PARQUET_MAGIC or path.suffix.lower() in (".parquet", ".pq"):
        table, line_of = _read_parquet(path)
    else:
        table, line_of = read_csv(path)
    _refuse_size(table.num_rows, table.num_columns)
    columns = [_normal(name, column, line_of) for name, column in zip(table.column_names, table.columns, strict=True)]
    table = pa.table(columns, names=table.column_names)
    if not _timestamps(table):
        _refuse_spoilt_timestamps(table, line_of)
        if not any(pa.types.is_integer(column.type) or pa.types.is_floating(column.type) for column in table.columns):
            names = ", ".join(f"'{name}'" for name in table.column_names)
            message = f"no column can serve as timestamp and none contains numbers (columns: {names}); one must contain {TIMESTAMPS_RIGHT}"
            raise DatasetError(message)
    return table


def _refuse_size(rows: int, columns: int) -> None:
    if not rows:
        raise DatasetError("the file has no rows; it must have at least one", value=0)
    if rows * columns > CELLS_MAX:
        message = f"the file has {rows:,} rows of {columns} columns; at most {CELLS_MAX:,} cells are allowed; upload a sample of it"
        raise DatasetError(message, value=rows * columns)


def _read_parquet(path: Path) -> tuple[pa.Table, LineOf]:
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
    _refuse_size(file.metadata.num_rows, len(names))
    try:
        return file.read(), lambda row: None
    except (pa.ArrowInvalid, OSError) as error:
        raise DatasetError(f"'{path.name}' is damaged ({error}); upload a complete Parquet file") from error


def _normal(name: str, column: pa.ChunkedArray, line_of: LineOf) -> pa.ChunkedArray:
    """Convert a column to its normal type, without nulls."""
    type = column.type
    if pa.types.is_dictionary(type):
        column = column.cast(type.value_type)
        type = column.type
    if pa.types.is_null(type):
        raise DatasetError(f"column '{name}' has no values; fill it in or leave it out", column=name)
    if pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type):
        return _texts_or_timestamps(compute.fill_null(column.cast(pa.string()), ""))
    _refuse_nulls(name, column, line_of)
    if pa.types.is_boolean(type):
        return column
    if pa.types.is_integer(type):
        return _integers(name, column, line_of)
    if pa.types.is_floating(type):
        column = column.cast(pa.float64())
        finite = compute.is_finite(column)
        if not compute.all(finite).as_py():
            row = compute.index(finite, False).as_py()
            value = column[row].as_py()
            line = line_of(row)
            message = f"column '{name}' has {value} in {_place(line, row)}; only finite numbers are allowed"
            raise DatasetError(message, line=line, column=name, value=str(value))
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


def _refuse_nulls(name: str, column: pa.ChunkedArray, line_of: LineOf) -> None:
    if column.null_count:
        row = compute.index(compute.is_null(column), True).as_py()
        line = line_of(row)
        raise DatasetError(
            f"column '{name}' ({column.type}) has no value in {column.null_count:,} of {len(column):,} rows, first in {_place(line, row)}; "
            "fill them in or remove these rows (only text columns may have empty cells)",
            line=line,
            column=name,
        )


def _integers(name: str, column: pa.ChunkedArray, line_of: LineOf) -> pa.ChunkedArray:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        most = compute.max(column).as_py()
        row = compute.index(column, most).as_py()
        line = line_of(row)
        message = f"column '{name}' has {most} in {_place(line, row)}; integers must be below 9,223,372,036,854,775,808"
        raise DatasetError(message, line=line, column=name, value=most) from error


def _as_timestamps(texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Convert ISO texts, all with or all without a time zone, to timestamp[ns] in UTC; None if any of them is not a timestamp."""
    for type in TEXT_TIMESTAMPS:
        if _holds(texts.slice(0, 100), type) and _holds(texts, type):  # a cast that fails at every row is slow
            return texts.cast(type).cast(pa.int64()).cast(TIMESTAMP)
    return None


def _holds(texts: pa.ChunkedArray, type: pa.DataType) -> bool:
    """Return whether all texts are timestamps of this type."""
    try:
        texts.cast(type)
    except pa.ArrowInvalid:
        return False
    return True


def _texts_or_timestamps(texts: pa.ChunkedArray) -> pa.ChunkedArray:
    timestamps = _as_timestamps(texts)
    return texts if timestamps is None else timestamps


def _timestamps(table: pa.Table) -> tuple[str, ...]:
    """Return the columns that can serve as event time: timestamps first, then integers since 1970."""
    stamped = [name for name in table.column_names if pa.types.is_timestamp(table[name].type)]
    return tuple(stamped + [name for name in table.column_names if epoch_unit(table[name]) is not None])


def _refuse_spoilt_timestamps(table: pa.Table, line_of: LineOf) -> None:
    """Refuse a column that would be a timestamp column except for some value, and name that value."""
    for name in table.column_names:
        values = table[name]
        row = _first_bad_text(values) if pa.types.is_string(values.type) else _first_bad_number(values)
        if row is None:
            continue
        value, line = values[row].as_py(), line_of(row)
        found = f"column '{name}' has {value!r} in {_place(line, row)}, which is not a timestamp like the others"
        raise DatasetError(f"{found}; use {TIMESTAMPS_RIGHT}", line=line, column=name, value=value)


def _first_bad_text(texts: pa.ChunkedArray) -> int | None:
    """Return the row of the first other text in a column whose first rows are mostly timestamps; None if there is none."""
    head = [pa.chunked_array([[text]]) for text in texts.slice(0, 200).to_pylist()]
    for type in TEXT_TIMESTAMPS:
        if 2 * sum(_holds(text, type) for text in head) >= len(head):
            return bisect_left(range(len(texts)), True, key=lambda row: not _holds(texts.slice(0, row + 1), type))
    return None


def _first_bad_number(numbers: pa.ChunkedArray) -> int | None:
    """Return the row of the first other number in an integer column whose median is a time since 1970; None if there is none."""
    if not pa.types.is_integer(numbers.type):
        return None
    values = numbers.to_numpy()
    median = int(np.sort(values)[len(values) // 2])
    unit = _unit_of(median, median)
    if unit is None:
        return None
    return next(row for row, value in enumerate(values.tolist()) if _unit_of(value, value) != unit)


def _place(line: int | None, row: int) -> str:
    return f"row {row + 1}" if line is None else f"line {line}"


# Describing


def _info(table: pa.Table, path: Path) -> DatasetInfo:
    types = [_field_type(column.type) for column in table.columns]
    columns = tuple(DatasetColumn(name, type, _sample(table[name])) for name, type in zip(table.column_names, types, strict=True))
    schema = RecordSchema(tuple(RecordField(column.name, column.type) for column in columns))
    timestamps = _timestamps(table)
    firsts_ns = {name: int(epoch_ns(table[name], name).min()) for name in timestamps}
    return DatasetInfo(schema, timestamps, table.num_rows, firsts_ns, path, path.stat().st_size, columns)


def _field_type(type: pa.DataType) -> FieldType:
    if pa.types.is_timestamp(type):
        return "timestamp"
    if pa.types.is_integer(type):
        return "int"
    if pa.types.is_floating(type):
        return "float"
    return "bool" if pa.types.is_boolean(type) else "string"


def _sample(column: pa.ChunkedArray) -> tuple[Any, ...]:
    head = column.slice(0, SAMPLES)
    if pa.types.is_timestamp(column.type):
        return tuple(f"{np.datetime64(int(value), 'ns')}Z" for value in head.cast(pa.int64()).to_pylist())
    return tuple(head.to_pylist())

"""Parquet files from elsewhere, read in batches of the normal form.

A small file can hold much: a long text that a million rows share, or one number a billion times. So the file's own directory is added up
before anything is read, texts are measured before they are copied out of their dictionary, and only a batch is in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as compute
import pyarrow.parquet as parquet

from engine.spec.base.records import DIMENSIONS_MAX, VECTOR_DIMENSIONS_MAX, VECTORS_MAX

from .dataseterror import DatasetError
from .epochs import TIMESTAMP
from .limits import refuse_long_text, refuse_size, refuse_texts, text_bytes
from .reading import COLUMNS_MAX, NO_ROWS

NORMAL = b"millrace.normal_form"
"""Key of the metadata of files in the normal form: their texts stay texts, also if they look like times."""
BATCH_ROWS, BATCH_CELLS, BATCH_TEXT_BYTES = 1 << 16, 1 << 22, 64 << 20
UNPACKED_BYTES_MAX = 2_000_000_000
"""Of all pages of a file."""
TEXT_TIMESTAMPS = (TIMESTAMP, pa.timestamp("ns", "UTC"))  # without and with a time zone; a column has only one of them


class ParquetFile:
    """A Parquet file whose columns have been looked at. schema: of its batches. is_normal: it is in the normal form already."""

    def __init__(self, path: Path):
        """Raises DatasetError."""
        self._name = path.name
        try:
            file = parquet.ParquetFile(path)
        except (pa.ArrowInvalid, OSError) as error:
            raise DatasetError(
                f"'{path.name}' is not a Parquet file or is truncated ({error}); upload a complete Parquet file, or a CSV file named .csv"
            ) from error
        metadata, schema = file.metadata, file.schema_arrow
        _refuse_names(schema.names)
        if not metadata.num_rows:
            raise DatasetError(NO_ROWS, value=0)
        refuse_size(metadata.num_rows, len(schema))
        self.is_normal = NORMAL in (schema.metadata or {})
        self._columns = [Column(field.name, field.type, self.is_normal) for field in schema]
        texts = [column.name for column in self._columns if column.holds_texts]
        self._file = parquet.ParquetFile(path, metadata=metadata, read_dictionary=texts)
        cells, unpacked = _content(metadata)
        self._batch_rows = max(1, min(BATCH_ROWS, BATCH_CELLS * metadata.num_rows // max(1, cells)))
        self._kept: list[tuple[int, pa.RecordBatch]] = []
        self._look(keep=cells <= BATCH_CELLS and unpacked <= BATCH_TEXT_BYTES)
        self.schema = self._normal_schema()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """The rows in the normal form. Raises DatasetError."""
        for before, batch in self._kept or self._raw():
            yield from self._parts(before, batch)

    def _raw(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Batches as the file has them, with texts in dictionaries, and the number of rows before each."""
        before = 0
        batches = self._file.iter_batches(self._batch_rows)
        while True:
            try:
                batch = next(batches, None)
            except (pa.ArrowInvalid, OSError) as error:
                raise DatasetError(f"'{self._name}' is damaged ({error}); upload a complete Parquet file") from error
            if batch is None:
                return
            yield before, batch
            before += batch.num_rows

    def _look(self, keep: bool) -> None:
        """Look at all rows for what only all of them tell. keep: keep them for `batches`, since they are few."""
        texts = rows = 0
        for before, batch in self._raw():
            if keep:
                self._kept.append((before, batch))
            for column, values in zip(self._columns, batch.columns, strict=True):
                column.see(values, before)
                if column.holds_texts:
                    sizes = text_bytes(values)
                    refuse_long_text(column.name, sizes, before)
                    texts += compute.sum(sizes).as_py() or 0
            refuse_texts(texts)
            for column, values in zip(self._columns, batch.columns, strict=True):
                for part in _slices(values) if column.may_be_times else ():
                    column.try_times(part)
            rows += batch.num_rows
        for column in self._columns:
            column.refuse(rows)

    def _normal_schema(self) -> pa.Schema:
        """Raises DatasetError for vectors whose coordinates would have the names of other columns, and for too many long ones."""
        fields: dict[str, pa.DataType] = {}
        names = {column.name for column in self._columns}
        for column in self._columns:
            made = column.normal
            if column.holds_lists:
                taken = sorted(made.keys() & (fields.keys() | (names - {column.name})))
                if taken:
                    message = (
                        f"column '{column.name}' holds vectors, whose coordinates would be named as column '{taken[0]}'; rename one of "
                        "the two"
                    )
                    raise DatasetError(message, column=column.name)
            fields |= made
        vectors = [name for name, type in fields.items() if pa.types.is_fixed_size_list(type)]
        if len(vectors) > VECTORS_MAX:
            message = f"column '{vectors[VECTORS_MAX]}' is one of {len(vectors)} with long vectors; keep at most {VECTORS_MAX} of them"
            raise DatasetError(message, column=vectors[VECTORS_MAX], value=len(vectors))
        return pa.schema(list(fields.items()))

    def _parts(self, before: int, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """A batch in the normal form, in two halves if its texts are many."""
        texts = sum(_total(values) for column, values in zip(self._columns, batch.columns, strict=True) if column.holds_texts)
        if texts > BATCH_TEXT_BYTES and batch.num_rows > 1:
            half = batch.num_rows // 2
            yield from self._parts(before, batch.slice(0, half))
            yield from self._parts(before + half, batch.slice(half))
            return
        arrays = [array for column, values in zip(self._columns, batch.columns, strict=True) for array in column.normalised(values, before)]
        yield pa.record_batch(arrays, schema=self.schema)


@dataclass
class Column:
    """What is known of a column. nulls, first_null: how many values are missing, and the row (from 0) of the first. sizes: the least and
    the greatest number of elements of its lists, each with the first row that has it. times: types of times that all texts so far have."""

    name: str
    type: pa.DataType
    is_normal: bool
    nulls: int = 0
    first_null: int = 0
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    times: list[pa.DataType] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Raises DatasetError for types that are not supported."""
        if pa.types.is_dictionary(self.type):
            self.type = self.type.value_type
        if pa.types.is_null(self.type):
            raise DatasetError(f"column '{self.name}' has no values; fill it in or leave it out", column=self.name)
        if not (self.holds_texts or self.holds_lists or _is_plain(self.type)):
            raise DatasetError(
                f"column '{self.name}' has the type {self.type}, which is not supported; "
                "convert it to an integer, double, bool, string or timestamp, or leave it out",
                column=self.name,
                value=str(self.type),
            )
        if self.holds_texts and not self.is_normal:
            self.times = list(TEXT_TIMESTAMPS)

    @property
    def holds_texts(self) -> bool:
        return bool(pa.types.is_string(self.type) or pa.types.is_large_string(self.type) or pa.types.is_string_view(self.type))

    @property
    def holds_lists(self) -> bool:
        """Whether it holds lists of numbers: vectors."""
        type = self.type
        is_list = pa.types.is_list(type) or pa.types.is_large_list(type) or pa.types.is_fixed_size_list(type)
        return bool(is_list and (pa.types.is_floating(type.value_type) or pa.types.is_integer(type.value_type)))

    @property
    def may_be_times(self) -> bool:
        return bool(self.times)

    def see(self, values: pa.Array, before: int) -> None:
        """Count missing values and elements. before: rows before these."""
        if values.null_count:
            if not self.nulls:
                self.first_null = before + compute.index(compute.is_null(values), True).as_py()
            self.nulls += values.null_count
        if self.holds_lists:
            lengths = compute.list_value_length(values)
            for which, length in compute.min_max(lengths).as_py().items():
                known = self.sizes.get(which, (length, 0))[0]
                if length is not None and (which not in self.sizes or (length < known if which == "min" else length > known)):
                    self.sizes[which] = length, before + compute.index(lengths, length).as_py()

    def try_times(self, values: pa.Array) -> None:
        """Keep the types of times that these texts have. A missing text is the empty one, which is no time."""
        texts = compute.fill_null(values.cast(pa.string()), "")
        # a cast that fails at every row is slow
        self.times = [type for type in self.times if _holds(texts.slice(0, 100), type) and _holds(texts, type)]

    def refuse(self, rows: int) -> None:
        """Raises DatasetError for missing values, and for lists that differ in length or are too long."""
        if self.nulls and not self.holds_texts:
            raise DatasetError(
                f"column '{self.name}' ({self.type}) has no value in {self.nulls:,} of {rows:,} rows, first in row {self.first_null + 1}; "
                "fill them in or remove these rows (only text columns may have empty cells)",
                column=self.name,
            )
        if not self.holds_lists:
            return
        (least, row), (most, row_of_most) = self.sizes["min"], self.sizes["max"]
        if least != most:
            message = (
                f"column '{self.name}' has {least} numbers in row {row + 1} and {most} in row {row_of_most + 1}; "
                "vectors to be compared have equally many coordinates"
            )
            raise DatasetError(message, column=self.name, value=most)
        if not 1 <= most <= VECTOR_DIMENSIONS_MAX:
            message = (
                f"column '{self.name}' has vectors of {most:,} numbers; give them 1 to {VECTOR_DIMENSIONS_MAX:,}, for example by "
                "projecting them"
            )
            raise DatasetError(message, column=self.name, value=most)

    @property
    def dimensions(self) -> int:
        return self.sizes["max"][0]

    @property
    def normal(self) -> dict[str, pa.DataType]:
        """Name and type of the columns that it becomes. A short vector becomes a column of each coordinate: v becomes v1, v2, ..."""
        if self.holds_lists:
            if self.dimensions > DIMENSIONS_MAX:
                return {self.name: pa.list_(pa.float64(), self.dimensions)}
            separator = "_" if self.name[-1:].isdigit() else ""
            return {f"{self.name}{separator}{n + 1}": pa.float64() for n in range(self.dimensions)}
        if self.holds_texts:
            return {self.name: TIMESTAMP if self.times else pa.string()}
        if pa.types.is_boolean(self.type):
            return {self.name: pa.bool_()}
        if pa.types.is_integer(self.type):
            return {self.name: pa.int64()}
        return {self.name: pa.float64() if pa.types.is_floating(self.type) else TIMESTAMP}

    def normalised(self, values: pa.Array, before: int) -> list[pa.Array]:
        """The columns that it becomes. before: rows before these. Raises DatasetError."""
        if self.holds_lists:
            return self._coordinates(values, before)
        if self.holds_texts:
            texts = compute.fill_null(values.cast(pa.string()), "")
            return [texts.cast(self.times[0]).cast(pa.int64()).cast(TIMESTAMP) if self.times else texts]
        if pa.types.is_dictionary(values.type):
            values = values.cast(self.type)
        if pa.types.is_integer(self.type):
            return [self._integers(values, before)]
        if pa.types.is_floating(self.type):
            numbers = values.cast(pa.float64())
            _refuse_infinite(self.name, numbers, before)
            return [numbers]
        return [values] if pa.types.is_boolean(self.type) else [self._times(values)]

    def _coordinates(self, values: pa.Array, before: int) -> list[pa.Array]:
        if self.dimensions > DIMENSIONS_MAX:
            numbers = values.flatten().cast(pa.float64())
            _refuse_gaps(self.name, numbers, before, "a vector with a missing number", self.dimensions)
            _refuse_infinite(self.name, numbers, before, self.dimensions)
            return [pa.FixedSizeListArray.from_arrays(numbers, self.dimensions)]
        columns = []
        for n, name in enumerate(self.normal):
            numbers = compute.list_element(values, n).cast(pa.float64())
            _refuse_gaps(name, numbers, before, "no number")
            _refuse_infinite(name, numbers, before)
            columns.append(numbers)
        return columns

    def _integers(self, values: pa.Array, before: int) -> pa.Array:
        try:
            return values.cast(pa.int64())
        except pa.ArrowInvalid as error:
            most = compute.max(values).as_py()
            row = before + compute.index(values, most).as_py() + 1
            message = f"column '{self.name}' has {most} in row {row}; integers must be below 9,223,372,036,854,775,808"
            raise DatasetError(message, column=self.name, value=most) from error

    def _times(self, values: pa.Array) -> pa.Array:
        zone = values.type.tz if pa.types.is_timestamp(values.type) else None
        try:
            return values.cast(pa.timestamp("ns", zone)).cast(pa.int64()).cast(TIMESTAMP)
        except pa.ArrowInvalid as error:
            message = f"column '{self.name}' has times outside the years 1678 to 2261, which do not fit in ns ({error})"
            raise DatasetError(message, column=self.name) from error


def _refuse_names(names: list[str]) -> None:
    if len(names) > COLUMNS_MAX:
        raise DatasetError(f"the file has {len(names):,} columns; at most {COLUMNS_MAX:,} are allowed", value=len(names))
    repeated = sorted(name for name, times in Counter(names).items() if times > 1)
    if repeated:
        message = f"the column name '{repeated[0]}' occurs {names.count(repeated[0])} times; names must be unique"
        raise DatasetError(message, column=repeated[0])


def _content(metadata: parquet.FileMetaData) -> tuple[int, int]:
    """Count the values of a file, those in lists too, and their bytes, by its directory. Raises DatasetError if either are too many."""
    cells = unpacked = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        cells += sum(group.column(position).num_values for position in range(group.num_columns))
        unpacked += group.total_byte_size
    refuse_size(1, cells)
    if unpacked > UNPACKED_BYTES_MAX:
        message = f"the file unpacks to {unpacked:,} bytes; at most {UNPACKED_BYTES_MAX:,} are allowed; upload a sample of it"
        raise DatasetError(message, value=unpacked)
    return cells, unpacked


def _slices(values: pa.Array) -> Iterator[pa.Array]:
    """A column of texts in parts of which none copies out much."""
    if len(values) > 1 and _total(values) > BATCH_TEXT_BYTES:
        half = len(values) // 2
        yield from _slices(values.slice(0, half))
        yield from _slices(values.slice(half))
    else:
        yield values


def _total(texts: pa.Array) -> int:
    return int(compute.sum(text_bytes(texts)).as_py() or 0)


def _is_plain(type: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_boolean(type) or types.is_integer(type) or types.is_floating(type) or types.is_timestamp(type) or types.is_date(type)
    )


def _refuse_gaps(name: str, numbers: pa.Array, before: int, what: str, per_row: int = 1) -> None:
    if numbers.null_count:
        place = compute.index(compute.is_null(numbers), True).as_py()
        raise DatasetError(f"column '{name}' has {what} in row {before + place // per_row + 1}; fill it in", column=name)


def _refuse_infinite(name: str, numbers: pa.Array, before: int, per_row: int = 1) -> None:
    finite = compute.is_finite(numbers)
    if not compute.all(finite).as_py():
        place = compute.index(finite, False).as_py()
        value = numbers[place].as_py()
        message = f"column '{name}' has {value} in row {before + place // per_row + 1}; only finite numbers are allowed"
        raise DatasetError(message, column=name, value=str(value))


def _holds(texts: pa.Array, type: pa.DataType) -> bool:
    """Return whether all texts are timestamps of this type."""
    try:
        texts.cast(type)
    except pa.ArrowInvalid:
        return False
    return True

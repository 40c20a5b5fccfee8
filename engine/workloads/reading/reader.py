"""Reading a whole file: batches of records in the normal form, with bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as compute

from ..dataseterror import DatasetError
from .cells import ARROW_TYPES, Cells, Marks, read_cells, why_bad
from .document import ReadColumn, Reading, ReadingRefused, reading_problems
from .text import TextFile


@dataclass
class Counts:
    """What was not simply taken over. missing, bad: cells by column name. rows: rows of the file."""

    rows: int = 0
    rows_skipped: int = 0
    missing: dict[str, int] = field(default_factory=dict)
    bad: dict[str, int] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        return {"rows": self.rows, "rows_skipped": self.rows_skipped, "missing": self.missing, "bad": self.bad}


def schema_of(reading: Reading) -> pa.Schema:
    """Return the schema of the records."""
    return pa.schema([(column.name, ARROW_TYPES[column.type]) for _, column in reading.kept])


def records(file: TextFile, reading: Reading, counts: Counts) -> Iterator[pa.RecordBatch]:
    """Read the file's records in the normal form, and count in `counts` what was not simply taken over.

    The file's header must be the one that the reading was made for. Raises ReadingRefused, and DatasetError with line, column and value.
    """
    problems = reading_problems(reading)
    if problems:
        raise ReadingRefused(problems)
    schema = schema_of(reading)
    marks = Marks.of(reading)
    for batch in file.rows(reading.delimiter, reading.header, len(reading.columns)):
        first_row = counts.rows + 1
        counts.rows += batch.num_rows
        arrays, lacking = [], None
        for position, column in reading.kept:
            texts = batch.column(position)
            cells = read_cells(texts, column, marks)
            _count(counts.bad, column.name, cells.bad)
            if reading.bad_cells == "refuse":
                _refuse_bad(file, reading, column, texts, cells, first_row, marks)
            if column.type != "string" and cells.values.null_count:
                _count(counts.missing, column.name, cells.missing)
                if column.fill is not None:
                    cells = Cells(compute.fill_null(cells.values, pa.scalar(column.filling, cells.values.type)), cells.missing, cells.bad)
                elif reading.missing == "refuse":
                    _refuse_missing(file, reading, column, cells, first_row)
                else:
                    empty = compute.is_null(cells.values)
                    lacking = empty if lacking is None else compute.or_(lacking, empty)
            arrays.append(cells.values)
        read = pa.RecordBatch.from_arrays(arrays, schema=schema)
        if lacking is not None:
            counts.rows_skipped += compute.sum(lacking).as_py()
            read = read.filter(compute.invert(lacking))
        yield read


def _count(counts: dict[str, int], name: str, mask: pa.Array) -> None:
    number = compute.sum(mask).as_py() or 0
    if number:
        counts[name] = counts.get(name, 0) + number


def _refuse_bad(file: TextFile, reading: Reading, column: ReadColumn, texts: pa.Array, cells: Cells, first_row: int, marks: Marks) -> None:
    index = compute.index(cells.bad, True).as_py()
    if index < 0:
        return
    value, row = texts[index].as_py(), first_row + index
    line = file.line_of(row, reading.delimiter, reading.header)
    raise DatasetError(bad_cell(column, value, row, line, marks), line=line, column=column.name, value=value[:100])


def bad_cell(column: ReadColumn, value: str, row: int, line: int | None, marks: Marks) -> str:
    """Name a bad cell, and say what would be right."""
    place = f"row {row:,}" if line is None else f"line {line:,} (row {row:,})"
    shown = value if len(value) <= 80 else f"{value[:77]}..."
    return f"column '{column.name}' ({column.type}) has '{shown}' in {place}, {why_bad(value, column, marks)}"


def _refuse_missing(file: TextFile, reading: Reading, column: ReadColumn, cells: Cells, first_row: int) -> None:
    index = compute.index(compute.is_null(cells.values), True).as_py()
    row = first_row + index
    line = file.line_of(row, reading.delimiter, reading.header)
    remedy = "fill them in, or choose in the reading to skip such rows or to put a value in their place"
    message = f"column '{column.name}' ({column.type}) has no value in line {line} (row {row:,}); {remedy} (only strings may be empty)"
    raise DatasetError(message, line=line, column=column.name)

"""Detection over a whole file, for uploads about which not everything was chosen, and what such files are refused for."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa

from engine.spec.base.problems import Problem

from ..dataseterror import DatasetError
from .cells import Marks, read_cells
from .detection import Detected, detect, frame_of
from .document import Choices, Reading, ReadingRefused, reading_problems
from .spoilt import refuse_spoilt
from .text import NO_ROWS, TextFile

HEAD_ROWS_OF_MARKS = 10_000
"""Rows that decide on the decimal mark."""


def detect_whole(file: TextFile, choices: Choices) -> Reading:
    """Complete the choices from all rows of a file. Raises ReadingRefused, and DatasetError for what a file must say by itself."""
    frame = frame_of(file, choices)
    if choices.header is None and frame.looks_like_data:
        position, cell = frame.looks_like_data
        raise DatasetError(
            f"line 1 looks like data: column {position + 1} is named '{cell}'; the first line must contain the column names, or the "
            "reading must say that there is no header",
            line=1,
            column=cell,
            value=cell,
        )

    def batches() -> Iterator[pa.RecordBatch]:
        return file.rows(frame.delimiter, frame.header, len(frame.names))

    first = next((batch for batch in batches() if batch.num_rows), None)
    if first is None:
        raise DatasetError(NO_ROWS, value=0)
    head = [column.slice(0, HEAD_ROWS_OF_MARKS) for column in first.columns]
    detected = detect(frame, choices, head, batches())
    problems = reading_problems(detected.reading)
    if problems and not choices.columns:
        if problems[0].code == "no_timestamp":
            refuse_spoilt_times(file, detected.reading)
        raise _of_the_file(problems[0], detected)
    if problems:
        raise ReadingRefused(problems)
    if detected.empty:
        raise DatasetError(f"column '{detected.empty[0]}' has no values; fill it in or leave it out", column=detected.empty[0])
    return detected.reading


def _of_the_file(problem: Problem, detected: Detected) -> DatasetError:
    """Return a problem of a reading that nobody chose as one of the file, whose header is to blame."""
    if problem.code == "no_timestamp":
        return DatasetError(problem.message)
    name = problem.value if problem.code == "duplicate" else None
    return DatasetError(f"line 1: {problem.message}", line=1, column=name, value=problem.value)


def refuse_spoilt_times(file: TextFile, reading: Reading) -> None:
    """Refuse a column that would be event time except for some value, and name that value. For files without any event time."""
    marks, kept = Marks.of(reading), reading.kept

    def cells(batch: pa.RecordBatch, number: int) -> pa.Array:
        position, column = kept[number]
        return read_cells(batch.column(position), column, marks).values

    batches = file.rows(reading.delimiter, reading.header, len(reading.columns))
    line_of = partial(file.line_of, delimiter=reading.delimiter, header=reading.header)
    refuse_spoilt([column.name for _, column in kept], batches, cells, line_of)

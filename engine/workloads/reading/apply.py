"""Detection over a whole file, for uploads about which not everything was chosen, and what such files are refused for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from engine.spec.base.problems import Problem

from ..dataseterror import DatasetError
from ..epochs import EPOCH_FIRST_S, EPOCH_LAST_S, EPOCH_UNITS_NS, TIMESTAMPS_RIGHT, unit_of
from . import times
from .detection import HEAD_ROWS, Detected, detect, frame_of
from .document import Choices, ReadColumn, Reading, ReadingRefused, reading_problems
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
    batches = file.rows(reading.delimiter, reading.header, len(reading.columns))
    first = next((batch for batch in batches if batch.num_rows), None)
    if first is None:
        return
    for position, column in reading.kept:
        head = first.column(position).slice(0, HEAD_ROWS)
        if column.type == "string":
            for zoned in (False, True):
                if 2 * compute.sum(times.iso_shape(head, zoned)).as_py() >= len(head):
                    _name_spoilt(file, reading, position, column, partial(times.iso_mask, zoned=zoned))
        elif column.type == "int":
            numbers = np.sort(_integers(head))
            unit = unit_of(int(numbers[len(numbers) // 2]), int(numbers[len(numbers) // 2])) if len(numbers) else None
            if unit is not None:
                per_s = 1_000_000_000 // EPOCH_UNITS_NS[unit]
                low, high = EPOCH_FIRST_S * per_s, EPOCH_LAST_S * per_s
                _name_spoilt(file, reading, position, column, partial(_between, low=low, high=high))


def _integers(cells: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array([int(text) for text in cells.to_pylist() if text.strip().lstrip("+-").isdecimal()], np.int64)


def _between(cells: pa.Array, low: int, high: int) -> pa.Array:
    numbers = compute.utf8_trim_whitespace(cells).cast(pa.int64())
    return compute.and_(compute.greater_equal(numbers, low), compute.less(numbers, high))


def _name_spoilt(file: TextFile, reading: Reading, position: int, column: ReadColumn, is_right: Callable[[pa.Array], pa.Array]) -> None:
    """Refuse the first cell that is not right, if there is one."""
    row = 0
    for batch in file.rows(reading.delimiter, reading.header, len(reading.columns)):
        index = compute.index(is_right(batch.column(position)), False).as_py()
        if index >= 0:
            text = batch.column(position)[index].as_py()
            value = int(text) if column.type == "int" else text
            line = file.line_of(row + index + 1, reading.delimiter, reading.header)
            why = "which is not a timestamp like the others"
            if column.type == "string" and "outside the years" in (reason := times.why_not(text, times.ISO, "UTC")):
                why = reason
            found = f"column '{column.name}' has {value!r} in line {line}, {why}"
            raise DatasetError(f"{found}; use {TIMESTAMPS_RIGHT}", line=line, column=column.name, value=value)
        row += batch.num_rows

"""The first rows of a file, as written and as a reading has them, with what is wrong with each column."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as compute

from engine.spec.base.problems import Problem, pointer
from engine.spec.base.structure import shortened

from ..dataseterror import DatasetError
from ..limits import refuse_long_text, text_bytes
from .cells import Cells, Marks, json_values, read_cells
from .detection import Frame, Reason, column_reasons, detect, frame_of
from .document import Choices, ReadColumn, Reading, reading_problems
from .reader import bad_cell
from .text import NO_ROWS, TextFile, whole_rows

PREVIEW_ROWS = 50
PREVIEW_BYTES = 1 << 20
"""Bytes from the start of a file that a preview looks at."""


@dataclass(frozen=True)
class Preview:
    """What a reading makes of the beginning of a file.

    reasons: why detection proposes what nobody chose. problems: of the reading and of cells; pointers refer to the reading, or are /file.
    rows: rows looked at. missing, bad: cells without a value and cells of another type, by column. written, read: the first rows; a cell
    that has no value is None in `read`.
    """

    reading: Reading
    reasons: list[Reason]
    problems: list[dict[str, Any]]
    rows: int
    missing: list[int]
    bad: list[int]
    written: list[list[str]]
    read: list[list[Any]]


def preview_text(content: bytes, whole: bool, choices: Choices) -> Preview:
    """Preview a file. content: its first bytes. whole: they are all of it. Raises DatasetError, ReadingRefused.

    Ragged rows are a problem of the preview and no error, because another delimiter may mend them.
    """
    file = TextFile.of(content if whole or not content else whole_rows(content))
    file.check()
    frame = frame_of(file, choices)
    problems: list[dict[str, Any]] = []
    try:
        batches = list(file.rows(frame.delimiter, frame.header, len(frame.names)))
        rows = pa.Table.from_batches(batches) if batches else _table(frame, [])
    except DatasetError as error:
        problems.append(_file_problem(str(error), error))
        rows = _even_rows(file, frame)
    if not rows.num_rows and not problems:
        problems.append(_file_problem(NO_ROWS, DatasetError(NO_ROWS, value=0)))
    columns = [pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], pa.string()) for column in rows.columns]
    detected = detect(frame, choices, columns, rows.to_batches())
    reading = detected.reading
    found = reading_problems(reading)
    problems += [_problem(problem) for problem in found]
    unreadable = {problem.pointer.split("/")[2] for problem in found if problem.pointer.endswith(("time_format", "time_zone"))}
    marks = Marks.of(reading)
    lines = cache(partial(file.lines, frame.delimiter, frame.header, len(frame.names)))  # slow, and needed only if something is wrong
    missing, bad, read = [], [], []
    for position, (column, texts) in enumerate(zip(reading.columns, columns, strict=True)):
        if not column.keep or str(position) in unreadable:
            missing.append(0)
            bad.append(0)
            read.append([None] * min(PREVIEW_ROWS, len(texts)))
            continue
        cells = read_cells(texts, column, marks)
        missing.append(_true(cells.missing))
        bad.append(_true(cells.bad))
        read.append(json_values(cells.values.slice(0, PREVIEW_ROWS)))
        problems += _cell_problems(lines, reading, position, column, texts, cells, marks)
    written = [texts.slice(0, PREVIEW_ROWS).to_pylist() for texts in columns]
    return Preview(
        reading=reading,
        reasons=[*detected.reasons, *column_reasons(reading, columns, rows.num_rows)] if rows.num_rows else detected.reasons,
        problems=problems,
        rows=rows.num_rows,
        missing=missing,
        bad=bad,
        written=[list(row) for row in zip(*written, strict=True)],
        read=[list(row) for row in zip(*read, strict=True)],
    )


def _even_rows(file: TextFile, frame: Frame) -> pa.Table:
    """Return the first rows that have as many cells as the first one."""
    rows = (cells for cells in itertools.islice(file.cells(frame.delimiter), 10 * PREVIEW_ROWS) if len(cells) == len(frame.names))
    return _table(frame, list(itertools.islice(rows, frame.header, PREVIEW_ROWS + frame.header)))


def _table(frame: Frame, rows: list[list[str]]) -> pa.Table:
    columns = zip(*rows, strict=True) if rows else [()] * len(frame.names)
    names = [str(position) for position in range(len(frame.names))]
    return pa.table([pa.array(list(column), pa.string()) for column in columns], names=names)


def _true(mask: pa.Array) -> int:
    return int(compute.sum(mask).as_py() or 0)


def _cell_problems(
    lines: Callable[[], list[int]],
    reading: Reading,
    position: int,
    column: ReadColumn,
    texts: pa.Array,
    cells: Cells,
    marks: Marks,
) -> list[dict[str, Any]]:
    """Say what is wrong with the cells of a column under what the reading does with them. lines: gives the line of each row."""
    problems = []
    place, rows = pointer("columns", position, "type"), len(texts)
    if bad := _true(cells.bad):
        index = compute.index(cells.bad, True).as_py()
        value = texts[index].as_py()
        line = lines()[index]
        message = bad_cell(column, value, index + 1, line, marks)
        if bad > 1:
            message += f"; {bad:,} of {rows:,} rows have such cells"
        severity: Literal["error", "warning"] = "error" if reading.bad_cells == "refuse" else "warning"
        problem = Problem(place, "bad_cell", message, value[:100], severity=severity)
        problems.append({**_problem(problem), "line": line, "column": column.name})
    if column.type == "string":
        try:
            refuse_long_text(column.name, text_bytes(cells.values), 0)
        except DatasetError as error:
            line = lines()[compute.index(text_bytes(cells.values), error.value).as_py()]
            problems.append({**_problem(Problem(place, "bad_cell", str(error), error.value)), "line": line, "column": column.name})
    empty = compute.is_null(cells.values)
    lacking = _true(empty) if reading.bad_cells == "null" else _true(cells.missing)
    if lacking and column.fill is None:
        index = compute.index(empty if reading.bad_cells == "null" else cells.missing, True).as_py()
        line = lines()[index]
        what = f"column '{column.name}' ({column.type}) has no value in {lacking:,} of {rows:,} rows, first in line {line}"
        skips = reading.missing == "skip_row"
        message = f"{what}; {'these rows are skipped' if skips else 'skip such rows, give a value for missing cells, or choose string'}"
        problem = Problem(place, "missing_value", message, severity="warning" if skips else "error")
        problems.append({**_problem(problem), "line": line, "column": column.name})
    return problems


def _problem(problem: Problem) -> dict[str, Any]:
    return {**shortened(problem).as_dict(), "line": None, "column": None}


def _file_problem(message: str, error: DatasetError) -> dict[str, Any]:
    return {**_problem(Problem("/file", "bad_file", message, error.value)), "line": error.line, "column": error.column}

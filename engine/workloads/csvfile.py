"""Reads a CSV file: UTF-8, one header line, separated by comma, semicolon, tab or bar (the most frequent one in the header line)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as arrow_csv

from .dataseterror import DatasetError

SEPARATORS = ",;\t|"
LOOKS_LIKE_DATA = re.compile(r"\s*([-+]?(\d[\d.,]*|\.\d+)([eE][-+]?\d+)?|\d{4}-\d\d-\d\d([T ].*)?)\s*")
OTHER_FORMATS = {b"PK\x03\x04": "a zip or Excel file", b"\x1f\x8b": "a gzip file", b"\xff\xfe": "in UTF-16", b"\xfe\xff": "in UTF-16"}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def read_csv(path: Path) -> tuple[pa.Table, Callable[[int], int | None]]:
    """Return the table, with types inferred from all rows, and a function from row number (from 0) to line number. Raises DatasetError."""
    content = path.read_bytes()
    text = _decoded(content)
    header = text[: text.index("\n")] if "\n" in text else text
    separator = max(SEPARATORS, key=header.count)
    if text.count('"') % 2:
        _refuse_open_quote(text, separator)
    names = _header(text, separator)

    def line_of(row: int) -> int | None:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
        filled = (reader.line_num for cells in reader if cells)
        return next(line for position, line in enumerate(filled) if position == row + 1)

    try:
        table = _parsed(content, separator, {})
        # Times of day are not a supported type: they stay text.
        texts = {field.name: pa.string() for field in table.schema if pa.types.is_time(field.type)}
        if texts:
            table = _parsed(content, separator, texts)
    except pa.ArrowInvalid as error:
        raise _ragged(text, separator, names, str(error)) from error
    return table, line_of


def _parsed(content: bytes, separator: str, types: dict[str, pa.DataType]) -> pa.Table:
    return arrow_csv.read_csv(
        io.BytesIO(content),
        # One block, so that a column's type is inferred from all rows, not just from the first megabyte.
        read_options=arrow_csv.ReadOptions(block_size=max(len(content) + 1, 1 << 16), use_threads=False),
        parse_options=arrow_csv.ParseOptions(delimiter=separator, newlines_in_values=True),
        convert_options=arrow_csv.ConvertOptions(column_types=types),
    )


def _decoded(content: bytes) -> str:
    for start, format in OTHER_FORMATS.items():
        if content.startswith(start):
            raise DatasetError(f"the file is {format}; save it as CSV in UTF-8, or as Parquet")
    try:
        text = content.removeprefix(BYTE_ORDER_MARK).decode("utf-8")
    except UnicodeDecodeError as error:
        offset = error.start + (len(BYTE_ORDER_MARK) if content.startswith(BYTE_ORDER_MARK) else 0)
        line = content.count(b"\n", 0, offset) + 1
        message = f"byte {offset} (line {line}) is 0x{content[offset]:02x}, which is not UTF-8; save the file in UTF-8"
        raise DatasetError(message, line=line, value=f"0x{content[offset]:02x}") from None
    if not text.strip():
        raise DatasetError("the file is empty; it must have a header line and at least one row", line=1)
    return text


def _refuse_open_quote(text: str, separator: str) -> None:
    """Refuse an unclosed quote, which would swallow all following lines without an error of the reader."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = 1
    try:
        for _ in reader:
            line = reader.line_num + 1
    except csv.Error:
        message = (
            f"the cell that starts with a quote in line {line} has no closing quote; close it, or double quotes that belong to the text"
        )
        raise DatasetError(message, line=line) from None


def _header(text: str, separator: str) -> list[str]:
    """Return the column names, from the first non-empty line."""
    names = next(cells for cells in csv.reader(io.StringIO(text, newline=""), delimiter=separator) if cells)
    for position, name in enumerate(names):
        if LOOKS_LIKE_DATA.fullmatch(name):
            message = f"line 1 looks like data: column {position + 1} is named '{name}'; the first line must contain the column names"
            raise DatasetError(message, line=1, column=name, value=name)
        if not name.strip():
            raise DatasetError(f"column {position + 1} has no name in line 1; every column needs one", line=1, value=name)
        if name in names[:position]:
            first = names.index(name) + 1
            message = f"columns {first} and {position + 1} are both named '{name}' in line 1; names must be unique"
            raise DatasetError(message, line=1, column=name, value=name)
    return names


def _ragged(text: str, separator: str, names: list[str], reason: str) -> DatasetError:
    """Return an error for the first line with too many or too few cells, or with the reader's own reason."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    for cells in reader:
        if cells and len(cells) != len(names):
            shown = separator.join(cells)[:100]
            message = f"line {reader.line_num} has {len(cells)} cells, but the header has {len(names)} columns: {shown!r}"
            return DatasetError(message, line=reader.line_num, value=shown)
    return DatasetError(f"the file cannot be read as CSV ({reason})")

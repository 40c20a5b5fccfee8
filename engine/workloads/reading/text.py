"""A file of text as rows of cells, read in blocks."""

from __future__ import annotations

import codecs
import csv
import hashlib
import io
import itertools
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv

from ..dataseterror import DatasetError

BLOCK_BYTES = 4 << 20  # also the longest row
OTHER_FORMATS = {
    b"PK\x03\x04": "is a zip or Excel file",
    b"\x1f\x8b": "is a gzip file",
    b"\xff\xfe": "is in UTF-16",
    b"\xfe\xff": "is in UTF-16",
}
BYTE_ORDER_MARK = codecs.BOM_UTF8
NO_ROWS = "the file has no rows; it must have at least one"
EMPTY = "the file is empty; it must have a header line and at least one row"

csv.field_size_limit(BLOCK_BYTES)  # cells that Arrow reads can be shown in errors


class TextFile:
    """A file in UTF-8 with delimited cells.

    open: opens it for reading from the start; each reading of the rows opens it anew. Lines and rows count from 1, rows without the header.
    """

    def __init__(self, open: Callable[[], BinaryIO]):
        self._open = open

    @classmethod
    def at(cls, path: Path) -> TextFile:
        return cls(lambda: path.open("rb"))

    @classmethod
    def of(cls, content: bytes) -> TextFile:
        return cls(lambda: io.BytesIO(content))

    def check(self) -> bytes:
        """Return a digest of the bytes. Raises DatasetError if they are no text, or if a quote is not closed."""
        hasher = hashlib.blake2b(digest_size=32)
        decoder = codecs.getincrementaldecoder("utf-8")()
        offset = lines = quotes = 0
        is_blank = True
        with self._open() as file:
            while block := file.read(BLOCK_BYTES):
                if not offset:
                    _refuse_other_formats(block)
                hasher.update(block)
                if (zero := block.find(b"\0")) >= 0:
                    line = lines + block.count(b"\n", 0, zero) + 1
                    message = f"byte {offset + zero} (line {line}) is 0x00, so the file is not text; save it as CSV in UTF-8, or as Parquet"
                    raise DatasetError(message, line=line, value="0x00")
                kept = len(decoder.getstate()[0])  # bytes of a character that the last block ended in
                try:
                    text = decoder.decode(block)
                except UnicodeDecodeError as error:
                    raise self._not_utf8(offset - kept + error.start) from None
                is_blank = is_blank and not text.removeprefix("\ufeff").strip()
                quotes += block.count(b'"')
                lines += block.count(b"\n")
                offset += len(block)
        try:
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            raise self._not_utf8(offset - len(decoder.getstate()[0])) from None
        if is_blank:
            raise DatasetError(EMPTY, line=1)
        if quotes % 2:
            self._refuse_open_quote()
        return hasher.digest()

    def first_row(self, delimiter: str) -> list[str]:
        """Return the cells of the first row that is not empty. Raises DatasetError if it has more than a block."""
        with self._open() as file:
            start = file.read(BLOCK_BYTES + 1)
        try:
            if len(start) > BLOCK_BYTES:  # what follows is not looked at: its cells might be many
                start = whole_rows(start)
            return next(TextFile.of(start).cells(delimiter), [])
        except (csv.Error, DatasetError):
            raise _too_long() from None

    def first_line(self) -> str:
        """Return the first line that is not empty, up to a block."""
        with self._open() as file:
            start = file.read(BLOCK_BYTES).removeprefix(BYTE_ORDER_MARK).decode("utf-8", "ignore")
        return re.split(r"[\r\n]", start.lstrip("\r\n"), maxsplit=1)[0]

    def rows(self, delimiter: str, header: bool, count: int) -> Iterator[pa.RecordBatch]:
        """Read the rows after the header in batches, each cell as written. Shape (rows, count). Raises DatasetError for a ragged row."""
        names = [str(position) for position in range(count)]
        with self._open() as file:
            try:
                reader = arrow_csv.open_csv(
                    file,
                    read_options=arrow_csv.ReadOptions(block_size=BLOCK_BYTES, use_threads=False, column_names=names),
                    parse_options=arrow_csv.ParseOptions(delimiter=delimiter, newlines_in_values=True),
                    convert_options=arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=False),
                )
                to_skip = int(header)
                for batch in reader:
                    yield batch.slice(to_skip)
                    to_skip = max(0, to_skip - batch.num_rows)
            except pa.ArrowInvalid as error:
                raise self._ragged(delimiter, count, header, str(error)) from error

    def line_of(self, row: int, delimiter: str, header: bool) -> int | None:
        """Return the line in which a row ends."""
        filled = (line for line, cells in self._lines(delimiter) if cells)
        return next(itertools.islice(filled, row - 1 + header, None), None)

    def lines(self, delimiter: str, header: bool, count: int) -> list[int]:
        """Return the line in which each row of so many cells ends."""
        return [line for line, cells in self._lines(delimiter) if len(cells) == count][int(header) :]

    def cells(self, delimiter: str) -> Iterator[list[str]]:
        """Yield the cells of each row that is not empty, however many they are. Slow: for files with ragged rows."""
        return (cells for _, cells in self._lines(delimiter) if cells)

    def _lines(self, delimiter: str, strict: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Yield each row with the line in which it ends. Slow: only for errors."""
        with self._open() as file, io.TextIOWrapper(file, "utf-8-sig", newline="") as text:
            reader = csv.reader(text, delimiter=delimiter, strict=strict)
            for cells in reader:
                yield reader.line_num, cells

    def _not_utf8(self, offset: int) -> DatasetError:
        with self._open() as file:
            before = 0
            for start in range(0, offset, BLOCK_BYTES):
                before += file.read(min(BLOCK_BYTES, offset - start)).count(b"\n")
            byte = file.read(1)
        line, value = before + 1, f"0x{byte.hex()}"
        return DatasetError(f"byte {offset} (line {line}) is {value}, which is not UTF-8; save the file in UTF-8", line=line, value=value)

    def _refuse_open_quote(self) -> None:
        """Refuse an unclosed quote, which would swallow all following lines without an error of the reader."""
        delimiter = delimiter_of(self.first_line())
        line = 1
        try:
            for end, _ in self._lines(delimiter, strict=True):
                line = end + 1
        except csv.Error:
            message = (
                f"the cell that starts with a quote in line {line} has no closing quote; close it, or double quotes that belong to the text"
            )
            raise DatasetError(message, line=line) from None

    def _ragged(self, delimiter: str, count: int, header: bool, reason: str) -> DatasetError:
        """Return an error for the first line with too many or too few cells, or with the reader's own reason."""
        other = f"the header has {count} columns" if header else f"the first row has {count}"
        try:
            for line, cells in self._lines(delimiter):
                if cells and len(cells) != count:
                    shown = delimiter.join(cells)[:100]
                    return DatasetError(f"line {line} has {len(cells)} cells, but {other}: {shown!r}", line=line, value=shown)
        except csv.Error:
            pass
        if "straddling" in reason:
            return _too_long()
        return DatasetError(f"the file cannot be read as CSV ({reason})")


def _too_long() -> DatasetError:
    return DatasetError(f"a row has more than {BLOCK_BYTES:,} bytes; is the closing quote of a cell missing?")


def whole_rows(content: bytes) -> bytes:
    """Return the beginning of a file without the row that it was cut off in. Raises DatasetError if there is no whole row."""
    letters = np.frombuffer(content, np.uint8)
    is_outside = np.cumsum(letters == ord('"')) % 2 == 0
    line_end = ord("\n") if b"\n" in content else ord("\r")
    ends = np.flatnonzero((letters == line_end) & is_outside)
    if not len(ends):
        raise DatasetError(f"the first row does not end within {len(content):,} bytes; is the closing quote of a cell missing?")
    return content[: int(ends[-1]) + 1]


def delimiter_of(line: str) -> str:
    """Return the most frequent delimiter in a line."""
    return max(",;\t|", key=line.count)


def _refuse_other_formats(start: bytes) -> None:
    for magic, format in OTHER_FORMATS.items():
        if start.startswith(magic):
            raise DatasetError(f"the file {format}; save it as CSV in UTF-8, or as Parquet")

"""How large the files may be that people upload, and what is said of larger ones."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as compute

from .dataseterror import DatasetError

BYTES_MAX = 256_000_000
CELLS_MAX = 100_000_000  # a run needs 8 bytes per cell
TEXTS_BYTES_MAX = 1_000_000_000
"""Of all texts of a file, each counted in every row that has it. A compressed file holds a text once, a run reads it row by row."""
TEXT_BYTES_MAX = 65_536


def refuse_size(rows: int, columns: int) -> None:
    """Raises DatasetError if there are too many cells."""
    if rows * columns > CELLS_MAX:
        message = f"the file has {rows:,} rows of {columns} columns or more; at most {CELLS_MAX:,} cells are allowed; upload a sample of it"
        raise DatasetError(message, value=rows * columns)


def text_bytes(texts: pa.Array) -> pa.Array:
    """Bytes of each text, null for null. Texts in a dictionary are not copied out of it."""
    if pa.types.is_dictionary(texts.type):
        return compute.binary_length(texts.dictionary).take(texts.indices)
    return compute.binary_length(texts)


def refuse_long_text(name: str, sizes: pa.Array, before: int) -> None:
    """Raises DatasetError for a column with a text that is too long. sizes: bytes of its texts. before: rows that come before these."""
    longest = compute.max(sizes).as_py() or 0
    if longest > TEXT_BYTES_MAX:
        row = before + compute.index(sizes, longest).as_py() + 1
        message = (
            f"column '{name}' has a text of {longest:,} bytes in row {row:,}; at most {TEXT_BYTES_MAX:,} are allowed; shorten it, or leave "
            "the column out"
        )
        raise DatasetError(message, column=name, value=longest)


def refuse_texts(bytes: int) -> None:
    """Raises DatasetError if all texts of a file together are too long."""
    if bytes > TEXTS_BYTES_MAX:
        message = (
            f"the texts of the file have more than {TEXTS_BYTES_MAX:,} bytes when each row has its own; shorten them, or upload a sample "
            "of the file"
        )
        raise DatasetError(message, value=bytes)

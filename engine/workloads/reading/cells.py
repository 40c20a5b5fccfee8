"""The cells of a column as values of a type."""

from __future__ import annotations

import functools
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as compute

from .document import ReadColumn, Reading
from .times import EPOCH_DIGITS, read_times, why_not

TRUE_WORDS, FALSE_WORDS = ("true", "1", "yes"), ("false", "0", "no")
VECTOR_SHOWN = 4
INT_BELOW = "9,223,372,036,854,775,808"
ARROW_TYPES = {
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "timestamp": pa.timestamp("ns"),
}


@dataclass(frozen=True)
class Marks:
    """How numbers are written, and the words for no value besides the empty cell."""

    decimal: str
    thousands: str
    nulls: tuple[str, ...]

    @classmethod
    def of(cls, reading: Reading) -> Marks:
        return cls(reading.decimal, reading.thousands, reading.nulls)

    @property
    def whole(self) -> str:
        """Regular expression of a whole number without a sign."""
        return _whole(self.thousands)

    @property
    def is_plain(self) -> bool:
        return self.decimal == "." and not self.thousands


@functools.cache
def _whole(thousands: str) -> str:
    return rf"(?:[0-9]+|[0-9]{{1,3}}(?:{re.escape(thousands)}[0-9]{{3}})+)" if thousands else "[0-9]+"


@dataclass(frozen=True)
class Cells:
    """values: in the column's type, null where there is no value. missing: cells that hold a word for no value. bad: cells that hold
    something else than the type. Shapes (rows,).
    """

    values: pa.Array
    missing: pa.Array
    bad: pa.Array


def read_cells(texts: pa.Array, column: ReadColumn, marks: Marks) -> Cells:
    """Read the cells of a column."""
    if column.type == "string":
        none = pa.repeat(pa.scalar(False), len(texts))
        return Cells(texts, none, none)
    trimmed, missing = without_nulls(texts, marks)
    values = _values(trimmed, column, marks)
    bad = compute.and_(compute.is_null(values), compute.is_valid(trimmed))
    return Cells(values, missing, bad)


def json_values(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """Return the values of a column as JSON values, timestamps as ISO texts in UTC to the nanosecond, vectors as texts with their first
    coordinates; None for null."""
    if pa.types.is_timestamp(column.type):
        return [None if ns is None else f"{np.datetime64(ns, 'ns')}Z" for ns in column.cast(pa.int64()).to_pylist()]
    values: list[Any] = column.to_pylist()
    if pa.types.is_fixed_size_list(column.type):
        first = (", ".join(f"{x:.3g}" for x in value[:VECTOR_SHOWN]) for value in values)
        return [f"[{text}, … {column.type.list_size} in all]" for text in first]
    return values


def without_nulls(texts: pa.Array, marks: Marks) -> tuple[pa.Array, pa.Array]:
    """Return the cells without surrounding space, null where they hold a word for no value, and a mask of these."""
    trimmed = compute.utf8_trim_whitespace(texts)
    missing = compute.is_in(trimmed, value_set=pa.array(["", *marks.nulls], pa.string()))
    return compute.if_else(missing, pa.scalar(None, pa.string()), trimmed), missing


def why_bad(text: str, column: ReadColumn, marks: Marks) -> str:
    """Say what is wrong with a bad cell: a relative clause, and what would be right."""
    text = text.strip()
    if column.type == "timestamp":
        return why_not(text, column.time_format, column.time_zone, marks.decimal)
    if column.type == "bool":
        return f"which is not a bool; write {' or '.join(TRUE_WORDS)}, {' or '.join(FALSE_WORDS)}"
    example = f"1{marks.thousands}234" + (f"{marks.decimal}5" if column.type == "float" else "")
    if column.type == "int" and ints(pa.array([text]), marks)[0].is_valid:
        return f"which does not fit; integers must be below {INT_BELOW}"
    if column.type == "float" and re.fullmatch(_float_form(marks), text):
        return "which is not finite; only numbers below 1.8e308 are allowed"
    kind = "a whole number" if column.type == "int" else "a finite number"
    return f"which is not {kind} such as {example}"


def _values(cells: pa.Array, column: ReadColumn, marks: Marks) -> pa.Array:
    match column.type:
        case "int":
            return _cast_ints(ints(cells, marks))
        case "float":
            return floats(cells, marks)
        case "bool":
            return bools(cells, TRUE_WORDS, FALSE_WORDS)
    decimal = marks.decimal if column.time_format in EPOCH_DIGITS else "."
    return read_times(cells, column.time_format, column.time_zone, decimal)


def ints(cells: pa.Array, marks: Marks) -> pa.Array:
    """Return the cells that are whole numbers, as digits with a sign; null for others."""
    digits = _only(cells, f"^[+-]?{marks.whole}$")
    if marks.thousands:
        digits = compute.replace_substring(digits, marks.thousands, "")
    return compute.utf8_ltrim(digits, characters="+")


def _cast_ints(digits: pa.Array) -> pa.Array:
    try:
        return digits.cast(pa.int64())
    except pa.ArrowInvalid:  # some have too many digits
        fitting = [text if text is not None and -(2**63) <= int(text[:4000]) < 2**63 else None for text in digits.to_pylist()]
        return pa.array(fitting, pa.string()).cast(pa.int64())


def fits_int(digits: pa.Array) -> bool:
    try:
        digits.cast(pa.int64())
    except pa.ArrowInvalid:
        return False
    return True


def floats(cells: pa.Array, marks: Marks) -> pa.Array:
    """Return the cells that are finite numbers; null for others."""
    values = numbers(cells, marks)
    return compute.if_else(compute.is_finite(values), values, pa.scalar(None, pa.float64()))


def numbers(cells: pa.Array, marks: Marks) -> pa.Array:
    """Return the cells that are numbers, also infinite ones; null for others."""
    if marks.is_plain:
        with suppress(pa.ArrowInvalid):  # the usual case, and the fastest
            return cells.cast(pa.float64())
    return _as_plain(_only(cells, f"^{_float_form(marks)}$"), marks).cast(pa.float64())


def _float_form(marks: Marks) -> str:
    mark = re.escape(marks.decimal)
    number = rf"(?:{marks.whole}(?:{mark}[0-9]*)?|{mark}[0-9]+)(?:[eE][+-]?[0-9]+)?"
    return rf"[+-]?(?:{number}|(?i:inf(?:inity)?))"


def _as_plain(cells: pa.Array, marks: Marks) -> pa.Array:
    if marks.thousands:
        cells = compute.replace_substring(cells, marks.thousands, "")
    return cells if marks.decimal == "." else compute.replace_substring(cells, marks.decimal, ".")


def bools(cells: pa.Array, true_words: tuple[str, ...], false_words: tuple[str, ...]) -> pa.Array:
    """Return the cells that are one of these words in any case; null for others."""
    lower = compute.utf8_lower(cells)
    is_true = compute.is_in(lower, value_set=pa.array(true_words))
    is_known = compute.or_(is_true, compute.is_in(lower, value_set=pa.array(false_words)))
    return compute.if_else(is_known, is_true, pa.scalar(None, pa.bool_()))


def _only(cells: pa.Array, pattern: str) -> pa.Array:
    return compute.if_else(compute.match_substring_regex(cells, pattern), cells, pa.scalar(None, pa.string()))

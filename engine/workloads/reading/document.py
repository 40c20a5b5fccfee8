"""A reading: how a file of text becomes a data set (docs/data-sets.md).

*Choices* are what somebody says about a file, as a document in which everything may be left out. A *reading* is complete: detection fills
in what the choices leave out. The document of a reading is a valid document of choices, so it can be changed and sent again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from engine.spec.base.problems import Problem, pointer
from engine.spec.base.records import FieldType
from engine.spec.base.structure import check, quoted, shortened, shown
from engine.spec.experiment.experiment import canonical_json
from engine.spec.experiment.uploads import NAME_LENGTH_MAX

from .times import EPOCH_DIGITS, as_iso, format_problem, zone_problem

Delimiter = Literal[",", ";", "\t", "|"]
Decimal = Literal[".", ","]
Thousands = Literal["", ".", ",", " ", "'"]
Fill = StrictBool | StrictInt | StrictFloat | StrictStr

COLUMNS_MAX = 10_000
NULL_WORDS_MAX = 100
WORD_LENGTH_MAX = 100
INT_MAX = 2**63 - 1
NULL_WORDS = ("#N/A", "N/A", "NA", "NULL", "NaN", "n/a", "nan", "null")
"""Words for "no value" of a file about which nobody says anything. An empty cell never has a value."""


class ReadingRefused(ValueError):
    """A reading that cannot be used; carries all problems, with pointers into its document."""

    def __init__(self, problems: Sequence[Problem]):
        self.problems = [shortened(problem) for problem in problems]
        super().__init__("; ".join(problem.message for problem in self.problems[:3]))


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ColumnChoices(_Document):
    """What somebody chose for one column; None is detected."""

    written: str = Field(description="Name of the column in the file's header; column_1, column_2, ... in a file without one.")
    name: str | None = Field(default=None, min_length=1, max_length=NAME_LENGTH_MAX, description="Name in the data set.")
    type: FieldType | None = Field(default=None, description="Type of its values.")
    keep: bool | None = Field(default=None, description="Whether the data set has this column.")
    time_format: str | None = Field(
        default=None, max_length=WORD_LENGTH_MAX, description="iso, or s, ms, us or ns since 1970, or a pattern such as %d.%m.%Y %H:%M:%S."
    )
    time_zone: str | None = Field(
        default=None, max_length=WORD_LENGTH_MAX, description="Time zone of times that do not carry their own, such as Europe/Berlin."
    )
    fill: Fill | None = Field(default=None, description="Value in place of missing ones.")


class Choices(_Document):
    """What somebody chose for a file; None is detected."""

    delimiter: Delimiter | None = Field(default=None, description="Character between two cells of a row.")
    decimal: Decimal | None = Field(default=None, description="Decimal mark of numbers.")
    thousands: Thousands | None = Field(default=None, description="Mark between groups of three digits; empty for none.")
    nulls: tuple[str, ...] | None = Field(
        default=None, max_length=NULL_WORDS_MAX, description="Words for no value, besides the empty cell; not in columns of type string."
    )
    header: bool | None = Field(default=None, description="Whether the first row has the names of the columns.")
    bad_cells: Literal["refuse", "null"] | None = Field(
        default=None, description="What becomes of a cell that does not have its column's type: refuse the file, or take it for no value."
    )
    missing: Literal["refuse", "skip_row"] | None = Field(
        default=None, description="What becomes of a row without a value in a column that has no fill: refuse the file, or skip the row."
    )
    columns: tuple[ColumnChoices, ...] = Field(default=(), max_length=COLUMNS_MAX, description="Columns, by the name in the file's header.")


def choices_of(document: Any) -> Choices:
    """Read a document of choices. Raises ReadingRefused."""
    choices, problems = check(Choices, document if document is not None else {})
    if choices is None:
        raise ReadingRefused(problems)
    for position, word in enumerate(choices.nulls or ()):
        if len(word) > WORD_LENGTH_MAX:
            message = f"the word has {len(word):,} characters; a word for no value has at most {WORD_LENGTH_MAX}"
            raise ReadingRefused([Problem(pointer("nulls", position), "too_long", message, shown(word))])
    return choices


@dataclass(frozen=True)
class ReadColumn:
    """How one column is read. The fields are those of `ColumnChoices`."""

    written: str
    name: str
    type: FieldType
    keep: bool = True
    time_format: str = "iso"
    time_zone: str = "UTC"
    fill: bool | int | float | str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the column's document, without what has no effect."""
        document: dict[str, Any] = {"written": self.written, "name": self.name, "type": self.type, "keep": self.keep}
        if self.type == "timestamp":
            document |= {"time_format": self.time_format}
            document |= {} if self.time_format in EPOCH_DIGITS else {"time_zone": self.time_zone}
        return document | ({} if self.fill is None else {"fill": self.fill})

    @property
    def filling(self) -> bool | int | float | str | None:
        """The value in place of missing ones in the column's type, a time in ns since 1970; None to have none."""
        if self.type == "timestamp" and self.fill is not None:
            return as_iso(str(self.fill))
        return float(self.fill) if self.type == "float" and self.fill is not None else self.fill


@dataclass(frozen=True)
class Reading:
    """A complete reading: an entry for each column of the file, in its order. The fields are those of `Choices`."""

    delimiter: str
    decimal: str
    thousands: str
    nulls: tuple[str, ...]
    header: bool
    bad_cells: str
    missing: str
    columns: tuple[ReadColumn, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return the document of the reading. Equal readings have equal documents."""
        return {
            "delimiter": self.delimiter,
            "decimal": self.decimal,
            "thousands": self.thousands,
            "nulls": list(self.nulls),
            "header": self.header,
            "bad_cells": self.bad_cells,
            "missing": self.missing,
            "columns": [column.as_dict() for column in self.columns],
        }

    @property
    def kept(self) -> list[tuple[int, ReadColumn]]:
        """The columns of the data set, with their position in the file."""
        return [(position, column) for position, column in enumerate(self.columns) if column.keep]

    def with_types(self, types: dict[int, tuple[FieldType, str]]) -> Reading:
        """Return the reading with other types and time formats of columns, by position."""
        changed = (
            replace(column, type=types[position][0], time_format=types[position][1]) if position in types else column
            for position, column in enumerate(self.columns)
        )
        return replace(self, columns=tuple(changed))


def hash_of(file_digest: bytes, reading: Reading | None) -> str:
    """Return the hash of a data set: of the uploaded file's bytes and of the reading, None for a file with types of its own."""
    document = canonical_json(reading.as_dict() if reading else None)
    return hashlib.blake2b(file_digest + document, digest_size=32).hexdigest()


def reading_problems(reading: Reading) -> list[Problem]:
    """Return what makes a reading unusable, whatever the file holds. Pointers refer to its document."""
    problems = []
    if reading.thousands == reading.decimal:
        message = f"thousands is {quoted(reading.thousands)}, as the decimal mark; the two must differ"
        problems.append(Problem("/thousands", "contradiction", message, reading.thousands))
    kept = reading.kept
    if not kept:
        problems.append(Problem("/columns", "too_short", "no column is kept; keep at least one with times or numbers"))
    seen: dict[str, int] = {}
    for position, column in kept:
        at = ("columns", position)
        problems += _name_problems(column, position, seen)
        seen.setdefault(column.name, position)
        if column.type == "timestamp":
            if found := format_problem(column.time_format):
                problems.append(Problem(pointer(*at, "time_format"), "wrong_form", f"column '{column.name}': {found}", column.time_format))
            if column.time_format not in EPOCH_DIGITS and (found := zone_problem(column.time_zone)):
                problems.append(Problem(pointer(*at, "time_zone"), "unknown_value", f"column '{column.name}': {found}", column.time_zone))
        if column.fill is not None and (found := _fill_problem(column)):
            problems.append(Problem(pointer(*at, "fill"), "wrong_type", f"column '{column.name}': {found}", shown(column.fill)))
    if kept and not any(column.type in ("timestamp", "int", "float") for _, column in kept):
        names = ", ".join(f"'{column.name}'" for _, column in kept[:20])
        message = f"no column is a timestamp or contains numbers (columns: {names}); a data set needs one, as event time or as a trace"
        problems.append(Problem("/columns", "no_timestamp", message))
    return problems


def _name_problems(column: ReadColumn, position: int, seen: dict[str, int]) -> list[Problem]:
    place, name = pointer("columns", position, "name"), column.name
    if not name.strip():
        return [Problem(place, "too_short", f"column {position + 1} has no name; every column needs one", name)]
    if len(name) > NAME_LENGTH_MAX:
        message = f"the name of column {position + 1} has {len(name):,} characters; use at most {NAME_LENGTH_MAX}"
        return [Problem(place, "too_long", message, shown(name))]
    if name in seen:
        message = f"columns {seen[name] + 1} and {position + 1} are both named '{name}'; names must be unique"
        return [Problem(place, "duplicate", message, shown(name))]
    return []


def _fill_problem(column: ReadColumn) -> str:
    """Say why the value cannot stand for missing ones, or return ''."""
    value = column.fill
    match column.type:
        case "string":
            return "fill is for numbers, bools and times; an empty cell of a string column is the empty text"
        case "bool":
            return "" if isinstance(value, bool) else f"fill is {quoted(value)}; it must be true or false"
        case "int":
            is_int = isinstance(value, int) and not isinstance(value, bool) and -INT_MAX - 1 <= value <= INT_MAX
            return "" if is_int else f"fill is {quoted(value)}; it must be a whole number of at most 64 bits"
        case "float":
            is_number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1.8e308
            return "" if is_number else f"fill is {quoted(value)}; it must be a finite number"
    return "" if isinstance(value, str) and as_iso(value) is not None else f"fill is {quoted(value)}; it must be an ISO time in UTC"

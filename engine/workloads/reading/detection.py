"""Detection: the reading of a file that its content suggests, where nobody has chosen otherwise.

A type is proposed only if all cells seen have it. Detection never takes for text what an earlier choice made a number, and never guesses
between two readings that both fit: `1,234` alone stays text, because it may be a number below two or above a thousand.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as compute

from engine.spec.base.problems import Problem, pointer, suggestion
from engine.spec.base.records import FieldType

from ..dataseterror import DatasetError
from ..epochs import unit_of
from . import times
from .cells import Marks, bools, fits_int, floats, ints, numbers, without_nulls
from .document import COLUMNS_MAX, NULL_WORDS, Choices, ColumnChoices, ReadColumn, Reading, ReadingRefused
from .text import TextFile, delimiter_of

LOOKS_LIKE_DATA = re.compile(r"\s*([-+]?(\d[\d.,]*|\.\d+)([eE][-+]?\d+)?|\d{4}-\d\d-\d\d([T ].*)?)\s*")
COMMA_DECIMAL = r"^[+-]?(?:[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+)?,[0-9]+(?:[eE][+-]?[0-9]+)?$"
COMMA_GROUPS = r"^[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]*)?$"
POINT_GROUPS = r"^\s*[+-]?[0-9]{1,3}(?:\.[0-9]{3})+,"
POINT_DECIMAL = r"^[+-]?[0-9]*\.[0-9]+(?:[eE][+-]?[0-9]+)?$"
NUMBER = r"^[+-]?[0-9]+(?:\.[0-9]{3})*$"
HEAD_ROWS = 200
SHOWN_WORDS = 3


@dataclass(frozen=True)
class Reason:
    """Why detection proposes something. pointer: the field of the reading."""

    pointer: str
    text: str


@dataclass(frozen=True)
class Frame:
    """What is known of a file before its columns are looked at.

    header: whether its first row has the names. names, chosen: name of each column, and what is chosen for it. looks_like_data: position
    and text of the first cell of the first row that is no name; None if all may be names.
    """

    delimiter: str
    header: bool
    names: tuple[str, ...]
    chosen: tuple[ColumnChoices, ...]
    looks_like_data: tuple[int, str] | None


def frame_of(file: TextFile, choices: Choices) -> Frame:
    """Find the columns of a file. Raises DatasetError, ReadingRefused for choices about columns that it does not have."""
    delimiter = choices.delimiter or delimiter_of(file.first_line())
    first = file.first_row(delimiter)
    if len(first) > COLUMNS_MAX:
        raise DatasetError(f"line 1 has {len(first):,} cells; a file may have at most {COLUMNS_MAX:,} columns", line=1, value=len(first))
    data = next(((position, cell) for position, cell in enumerate(first) if LOOKS_LIKE_DATA.fullmatch(cell)), None)
    header = choices.header if choices.header is not None else data is None
    names = tuple(first) if header else tuple(f"column_{position + 1}" for position in range(len(first)))
    return Frame(delimiter, header, names, _by_column(choices.columns, names), data)


def _by_column(chosen: Sequence[ColumnChoices], names: tuple[str, ...]) -> tuple[ColumnChoices, ...]:
    """Return what is chosen for each column. Columns of the same name take the choices in order."""
    waiting: dict[str, list[ColumnChoices]] = {}
    counts = Counter(names)
    for position, choice in enumerate(chosen):
        known = counts[choice.written]
        given = waiting.setdefault(choice.written, [])
        if len(given) == known:
            place = pointer("columns", position, "written")
            if known:
                times_ = "once" if known == 1 else f"{known} times"
                message = f"the reading names column '{choice.written}' more often than the file, which has it {times_}"
                raise ReadingRefused([Problem(place, "duplicate", message, choice.written)])
            message = f"the file has no column '{choice.written}'"
            raise ReadingRefused([Problem(place, "unknown_field", message, choice.written, suggestion(choice.written, set(names)))])
        given.append(choice)
    return tuple(waiting[name].pop(0) if waiting.get(name) else ColumnChoices(written=name) for name in names)


@dataclass(frozen=True)
class Detected:
    """A complete reading, with the reasons for it. empty: names of the columns without a value whose type nobody chose."""

    reading: Reading
    reasons: list[Reason]
    empty: tuple[str, ...]


def detect(frame: Frame, choices: Choices, head: Sequence[pa.Array], batches: Iterable[pa.RecordBatch]) -> Detected:
    """Complete the choices for a file.

    head: the first cells of each column, which decide on decimal marks. batches: rows that decide on types; not read if all are given.
    """
    given = NULL_WORDS if choices.nulls is None else (word.strip() for word in choices.nulls)
    nulls = tuple(sorted({word for word in given if word}))
    decimal, thousands, reasons = _number_marks(frame, choices, head, nulls)
    marks = Marks(decimal, thousands, nulls)
    guesses = {position: Guess(marks) for position, chosen in enumerate(frame.chosen) if chosen.type is None and chosen.keep is not False}
    for batch in batches if guesses else ():
        for position, guess in guesses.items():
            guess.see(batch.column(position))
    columns = []
    for position, (name, chosen) in enumerate(zip(frame.names, frame.chosen, strict=True)):
        type_, format = (chosen.type, "") if chosen.type else guesses[position].result if position in guesses else ("string", "")
        format = chosen.time_format or format or (_format_of(head[position], marks) if type_ == "timestamp" else times.ISO)
        columns.append(
            ReadColumn(
                written=name,
                name=name if chosen.name is None else chosen.name,
                type=type_,
                keep=chosen.keep is not False,
                time_format=format,
                time_zone=chosen.time_zone or "UTC",
                fill=chosen.fill,
            )
        )
    reading = Reading(
        delimiter=frame.delimiter,
        decimal=decimal,
        thousands=thousands,
        nulls=nulls,
        header=frame.header,
        bad_cells=choices.bad_cells or "refuse",
        missing=choices.missing or "refuse",
        columns=tuple(columns),
    )
    if choices.header is None and frame.looks_like_data:
        position, cell = frame.looks_like_data
        reasons.append(Reason("/header", f"line 1 looks like data: cell {position + 1} is '{cell[:80]}'"))
    empty = tuple(frame.names[position] for position, guess in guesses.items() if guess.is_empty)
    return Detected(reading, reasons, empty)


class Guess:
    """What a column may be, from the cells seen so far."""

    def __init__(self, marks: Marks):
        self.marks = marks
        self.left: list[tuple[FieldType, str]] = [
            *(("int", ""), ("bool", ""), ("timestamp", "local"), ("timestamp", "zoned")),
            *(("timestamp", format) for format in times.COMMON),
            ("float", ""),
        ]
        self.is_empty = True

    def see(self, texts: pa.Array) -> None:
        """Rule out what these cells are not."""
        if not self.left:
            return
        cells = without_nulls(texts, self.marks)[0].drop_null()
        if not len(cells):
            return
        if self.is_empty:
            first = cells[0].as_py()
            self.left = [kind for kind in self.left if kind[0] != "timestamp" or times.may_be(first, kind[1])]
        self.is_empty = False
        for part in (cells.slice(0, HEAD_ROWS), cells.slice(HEAD_ROWS)):
            if len(part):
                self.left = list(self._fitting(part))

    def _fitting(self, cells: pa.Array) -> Iterator[tuple[FieldType, str]]:
        is_int = False
        for kind in self.left:
            if kind[0] == "int":
                is_int = fits = _all(digits := ints(cells, self.marks)) and fits_int(digits)
            elif kind[0] == "float":  # what is a whole number is a number
                fits = is_int or _all(numbers(cells, self.marks))  # an infinite one is refused later, by name
            elif kind[0] == "bool":
                fits = _all(bools(cells, ("true", "1"), ("false", "0")))
            elif kind[1] in ("local", "zoned"):
                fits = times.is_iso(cells, kind[1] == "zoned")
            else:
                fits = _all(times.read_times(cells, kind[1], "UTC"))
            if fits:
                yield kind

    @property
    def result(self) -> tuple[FieldType, str]:
        """The type, and the format of times."""
        if self.is_empty or not self.left:
            return "string", ""
        type_, format = self.left[0]
        return type_, times.ISO if format in ("local", "zoned") else format


def _all(values: pa.Array) -> bool:
    return bool(values.null_count == 0)


def _number_marks(frame: Frame, choices: Choices, head: Sequence[pa.Array], nulls: tuple[str, ...]) -> tuple[str, str, list[Reason]]:
    """Return the decimal and the thousands mark, and why."""
    if choices.decimal is not None and choices.thousands is not None:
        return choices.decimal, choices.thousands, []
    words = Marks(".", "", nulls)
    with_comma: tuple[int, str] | None = None  # a column of numbers with decimal commas, and an example
    with_groups: tuple[int, str] | None = None
    has_points = False
    for position, texts in enumerate(head):
        if frame.chosen[position].type not in (None, "float", "int") or frame.chosen[position].keep is False:
            continue
        cells = without_nulls(texts, words)[0].drop_null()
        is_comma, is_group = _is(cells, COMMA_DECIMAL), _is(cells, COMMA_GROUPS)
        commas = cells.filter(is_comma)
        if len(commas) and _every(cells, is_comma, _is(cells, NUMBER)):
            clear = commas.filter(compute.invert(_is(commas, COMMA_GROUPS)))
            if len(clear) and with_comma is None:
                with_comma = position, clear[0].as_py()
        elif len(cells) and compute.any(is_group).as_py() and _every(cells, is_group, _is(cells, POINT_DECIMAL), _is(cells, NUMBER)):
            clear = cells.filter(compute.and_(is_group, compute.match_substring_regex(cells, r"\.|,.*,")))
            if len(clear) and with_groups is None:
                with_groups = position, clear[0].as_py()
        elif len(cells):
            has_points = has_points or bool(compute.any(_is(cells, POINT_DECIMAL)).as_py() and _all(floats(cells, words)))
    decimal = choices.decimal
    reasons = []
    if decimal is None:
        decimal = "," if with_comma and not has_points and not with_groups and choices.thousands != "," else "."
        if decimal == "," and with_comma:
            reasons.append(Reason("/decimal", f"column '{frame.names[with_comma[0]]}' has '{with_comma[1]}'"))
    thousands = choices.thousands
    if thousands is None:
        thousands = ""
        if decimal == "." and with_groups:
            thousands = ","
            reasons.append(Reason("/thousands", f"column '{frame.names[with_groups[0]]}' has '{with_groups[1]}'"))
        elif decimal == ",":
            grouped = next(
                (texts.filter(found)[0].as_py() for texts in head if compute.any(found := _is(texts, POINT_GROUPS)).as_py()), None
            )
            if grouped is not None:
                thousands = "."
                reasons.append(Reason("/thousands", f"a cell is '{grouped.strip()}'"))
    return decimal, thousands, reasons


def _is(cells: pa.Array, pattern: str) -> pa.Array:
    return compute.match_substring_regex(cells, pattern)


def _every(cells: pa.Array, *masks: pa.Array) -> bool:
    """Return whether each cell is in one of the masks."""
    together = masks[0]
    for mask in masks[1:]:
        together = compute.or_(together, mask)
    return bool(compute.all(together).as_py())


def _format_of(texts: pa.Array, marks: Marks) -> str:
    """Return the time format that fits most of the first cells of a column that somebody says has times."""
    cells = without_nulls(texts.slice(0, HEAD_ROWS), marks)[0].drop_null()
    if not len(cells):
        return times.ISO
    unit = _epoch_unit(cells)
    best = Counter({times.ISO: len(cells) - times.read_times(cells, times.ISO, "UTC").null_count, **({unit: len(cells)} if unit else {})})
    for format in (*times.COMMON, *times.AMBIGUOUS):
        best[format] = len(cells) - times.read_times(cells, format, "UTC").null_count
    return best.most_common(1)[0][0]  # of equals the first


def _epoch_unit(cells: pa.Array) -> str:
    """Return the unit in which whole numbers lie between 1980 and 2100, or ''."""
    whole = compute.replace_substring_regex(cells, r"[.,][0-9]*$", "")
    if not compute.all(_is(whole, "^[0-9]{9,19}$")).as_py():
        return ""
    values = [int(text) for text in whole.to_pylist()]
    return unit_of(min(values), max(values)) or ""


def column_reasons(reading: Reading, columns: Sequence[pa.Array], rows: int) -> list[Reason]:
    """Say for columns of text whether most of their cells are numbers, and for others which words stand for no value."""
    marks = Marks.of(reading)
    reasons = []
    for position, (column, texts) in enumerate(zip(reading.columns, columns, strict=True)):
        cells, missing = without_nulls(texts, marks)
        place = pointer("columns", position, "type")
        if column.type != "string":
            words = _words(texts.filter(missing))
            if words:
                count = compute.sum(missing).as_py()
                reasons.append(Reason(place, f"{count:,} of {rows:,} rows hold {words}"))
            continue
        filled = cells.drop_null()
        if not len(filled):
            reasons.append(Reason(place, f"no value in the first {rows:,} rows"))
            continue
        comma = Marks(",", ".", marks.nulls)
        for read_as, how in ((marks, ""), *(((comma, " with a decimal comma"),) if marks.is_plain else ())):
            others = filled.filter(compute.is_null(floats(filled, read_as)))
            if 0 < 2 * len(others) < len(filled) or (how and not len(others)):
                words = f"all but {len(others):,} of {len(filled):,} cells" if len(others) else f"all {len(filled):,} cells"
                reasons.append(Reason(place, f"{words} are numbers{how}" + (f": {_words(others)}" if len(others) else "")))
                break
    return reasons


def _words(texts: pa.Array) -> str:
    """Return the most frequent texts, quoted."""
    counts = Counter(texts.to_pylist())
    shown = [f"'{text[:40]}'" if text.strip() else "nothing" for text, _ in counts.most_common(SHOWN_WORDS)]
    return ", ".join(shown) + (" and others" if len(counts) > SHOWN_WORDS else "")

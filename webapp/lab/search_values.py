"""Values in a search: texts in quotation marks, alternatives (`failed|cancelled`) and ranges (`1s..10s`)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from .quantities import NUMBER

QUOTED = r'"(?:[^"\\]|\\.)*"'
ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
SIMPLE_TEXT = re.compile(r"[A-Za-z_][\w+@-]*(?:\.[\w+@-]+)*")
"""Texts that need no quotation marks. Texts that read as numbers do: `"5"` is a text, `5` a number."""
SIMPLE_NAME = re.compile(r"/?[A-Za-z_][\w.+@~-]*(?:/[\w.+@~-]+)*")
RANGE = re.compile(r"(?P<low>[-+.\d][^|\"]*?)?\.\.(?P<high>[-+.\d][^|\"]*)?")

ALTERNATIVES_MAX = 500
"""Maximum number of alternatives of a condition: the ranges among them are nested parts of the database's statement (see WORDS_MAX). A
lasso of the page, which writes the numbers of its runs, has fewer."""


class BadCondition(ValueError):
    """An invalid search condition or name of a field; the message says why, and how to fix it. at: the part of the query it stands in."""

    at = "search"


@contextmanager
def stands_in(part: str) -> Iterator[None]:
    """Names that are refused in here stand in this part of the query."""
    try:
        yield
    except BadCondition as bad:
        bad.at = part
        raise


@dataclass(frozen=True)
class Value:
    """One value. quoted: it stood in quotation marks, and so is a text."""

    text: str
    quoted: bool = False


@dataclass(frozen=True)
class Range:
    """Values from low to high, both included. An empty end is open."""

    low: str
    high: str


def quoted(text: str) -> str:
    """The text in quotation marks."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    for letter, character in ESCAPES.items():
        escaped = escaped.replace(character, f"\\{letter}")
    return f'"{escaped}"'


def unquoted(text: str) -> str:
    """The text without quotation marks, wherever they stand."""
    return re.sub(QUOTED, lambda found: re.sub(r"\\(.)", _escaped, found[0][1:-1], flags=re.DOTALL), text, flags=re.DOTALL)


def _escaped(found: re.Match[str]) -> str:
    return ESCAPES.get(found[1], found[1])


def text_as_written(text: str) -> str:
    """The text as the value of a condition, in quotation marks if it needs them."""
    return text if SIMPLE_TEXT.fullmatch(text) else quoted(text)


def number_as_written(number: float) -> str:
    """The number with all its digits."""
    return str(int(number)) if number == int(number) and abs(number) < 1e15 else repr(number)


def name_as_written(name: str) -> str:
    """The name of exactly one field: in quotation marks if it would otherwise be read as a pattern or as several words."""
    return name if SIMPLE_NAME.fullmatch(name) else quoted(name)


def alternatives(name: str, text: str) -> list[Value | Range]:
    """The alternatives of a condition's value. name: of the field, for messages. Raises BadCondition."""
    parts, start = [], 0
    for found in re.finditer(rf"{QUOTED}|(\|)", text, re.DOTALL):
        if found[1]:
            parts.append(text[start : found.start()])
            start = found.end()
    parts.append(text[start:])
    if len(parts) > ALTERNATIVES_MAX:
        raise BadCondition(f"the condition on {name} has {len(parts):,} alternatives; write at most {ALTERNATIVES_MAX}, or a range")
    return [_value(name, part, text) for part in parts]


def _value(name: str, part: str, whole: str) -> Value | Range:
    if not part:
        raise BadCondition(f"'{name}={whole}' has an empty alternative; write a value on each side of '|', as in state=failed|cancelled")
    if re.fullmatch(QUOTED, part, re.DOTALL):
        return Value(unquoted(part), quoted=True)
    if '"' in part:
        raise BadCondition(f"'{part}' is quoted in part; put quotation marks around all of it, as in {name}={quoted(unquoted(part))}")
    if (between := RANGE.fullmatch(part)) and part != "..":
        low, high = between["low"] or "", between["high"] or ""
        _refuse_one_unit(name, low, high)
        return Range(low, high)
    return Value(part)


def _refuse_one_unit(name: str, low: str, high: str) -> None:
    """`1..10s` is refused: it would mean 1 of the field's own unit."""
    ends = [NUMBER.fullmatch(low), NUMBER.fullmatch(high)]
    units = [end["unit"] for end in ends if end is not None and float(end["number"]) != 0]
    if len(units) == 2 and (units[0] == "") != (units[1] == ""):
        unit = units[0] or units[1]
        both = f"{low.removesuffix(unit)}{unit}..{high.removesuffix(unit)}{unit}"
        raise BadCondition(f"the range '{low}..{high}' of {name} has a unit at one end only; write it at both, as in {name}:{both}")

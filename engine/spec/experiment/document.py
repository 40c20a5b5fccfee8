"""From text to plain data: safe parsing of YAML and JSON, size and depth limits, upgrades of old formats."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

import yaml

from ..base.problems import InvalidExperiment, Problem, pointer
from .experiment import FORMAT

BYTES_MAX = 1_000_000
"""Size limit of a document. The largest realistic ones (1,000 operators) take a tenth of it."""

DEPTH_MAX = 50
"""Limit of nesting levels. The format itself has about ten; the canvas may add its own below `ui`."""

Place = tuple[Any, ...]


# Reading


def read_document(source: str | bytes | Path) -> dict[str, Any]:
    """Read a YAML or JSON document from a file or from text (bytes, or a string with a line break or a leading '{').

    Raises InvalidExperiment if the text is not a single mapping, OSError if the file does not exist.
    """
    if isinstance(source, str) and ("\n" in source or source.lstrip().startswith("{")):
        return parse_document(source)
    if isinstance(source, bytes):
        return _parse_bytes(source)
    path = Path(source)
    if path.stat().st_size > BYTES_MAX:
        raise InvalidExperiment([_too_large(path.stat().st_size)])
    return _parse_bytes(path.read_bytes())


def _parse_bytes(content: bytes) -> dict[str, Any]:
    if len(content) > BYTES_MAX:
        raise InvalidExperiment([_too_large(len(content))])
    try:
        return parse_document(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        message = f"the document is not UTF-8 text: byte {error.object[error.start]:#04x} at position {error.start}; save it as UTF-8"
        raise InvalidExperiment([Problem("", "wrong_encoding", message)]) from None


def parse_document(text: str) -> dict[str, Any]:
    """Parse a YAML or JSON text into a mapping. Raises InvalidExperiment."""
    size = len(text.encode(errors="surrogatepass"))
    if size > BYTES_MAX:
        raise InvalidExperiment([_too_large(size)])
    document = _from_json(text) if text.lstrip().startswith("{") else _from_yaml(text)
    if not isinstance(document, dict):
        raise InvalidExperiment([_no_mapping(document)])
    return document


def _from_json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates)
    except RecursionError:
        raise InvalidExperiment([_too_deep("")]) from None
    except ValueError as refused:
        try:  # a mapping in YAML's flow style also begins with a brace
            return _from_yaml(text)
        except InvalidExperiment as invalid:
            if any(problem.code != "syntax" for problem in invalid.problems):
                raise
        raise InvalidExperiment(
            [Problem("", "syntax", f"the document is neither JSON nor YAML: {refused}; correct the syntax there")]
        ) from None


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [name for name, _ in pairs]
        name = next(name for name in names if names.count(name) > 1)
        raise InvalidExperiment([_duplicate_key((name,))])
    return mapping


def _from_yaml(text: str) -> Any:
    """Build plain data iteratively from parser events. Refuse aliases (they can explode in size), tags and duplicate keys."""
    root: list[Any] = []
    stack: list[_Open] = [_Open(root)]  # from the outside in
    try:
        for event in yaml.parse(text, Loader=LOADER):
            match event:
                case yaml.AliasEvent():
                    _refuse(event, "alias", f"the alias *{event.anchor} is not allowed; write the value itself")
                case yaml.ScalarEvent() | yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                    if event.tag not in (None, "!"):
                        _refuse(event, "tag", f"the tag {event.tag} is not allowed; write plain values")
                    if stack[-1].waits_for_key:
                        _take_key(event, stack)
                        continue
                    if root and len(stack) == 1:
                        _refuse(event, "several_documents", "the text holds more than one document; keep one")
                    value = _value(event)
                    stack[-1].take(value)
                    if isinstance(value, list | dict):
                        if len(stack) > DEPTH_MAX:
                            raise InvalidExperiment([_too_deep(_line(event))])
                        stack.append(_Open(value))
                case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                    stack.pop()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        message = f"the document is not YAML: {error.problem or error.context}{where}; correct the syntax there"
        raise InvalidExperiment([Problem("", "syntax", message)]) from None
    except yaml.YAMLError as error:
        raise InvalidExperiment([Problem("", "syntax", f"the document is not YAML: {error}; remove that character")]) from None
    return root[0] if root else None


class _Open:
    """A list or mapping under construction. `key` belongs to the next value, or to the last one taken."""

    def __init__(self, container: Any):
        self.container, self.key = container, ""
        self.waits_for_key = isinstance(container, dict)

    def take(self, value: Any) -> None:
        if isinstance(self.container, list):
            self.container.append(value)
        else:
            self.container[self.key] = value
            self.waits_for_key = True

    @property
    def place(self) -> str | int:
        return len(self.container) - 1 if isinstance(self.container, list) else self.key


LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

INTEGER = re.compile(r"[-+]?[0-9]+")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+|0o[0-7]+")
DECIMAL = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **{sign + word: float(sign + "inf") for sign in ("", "+", "-") for word in (".inf", ".Inf", ".INF")},
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}


def _value(event: Any) -> Any:
    """Return an empty container or a scalar.

    Plain scalars follow YAML 1.2's core schema: 1e6 is a number, `no` and 2026-01-31 are strings. Quoted scalars are strings.
    """
    if not isinstance(event, yaml.ScalarEvent):
        return [] if isinstance(event, yaml.SequenceStartEvent) else {}
    text: str = event.value
    if not event.implicit[0]:
        return text
    if text in WORDS:
        return WORDS[text]
    if INTEGER.fullmatch(text) or HEXADECIMAL.fullmatch(text):
        if len(text) > 100:
            _refuse(event, "out_of_range", f"the number {text[:20]}... has {len(text)} digits; at most 100 are allowed")
        return int(text, 0 if text[:2] in ("0x", "0o") else 10)
    return float(text) if DECIMAL.fullmatch(text) else text


def _take_key(event: Any, stack: list[_Open]) -> None:
    if not isinstance(event, yaml.ScalarEvent):
        _refuse(event, "syntax", "a mapping key must be a scalar, not a list or a mapping")
    mapping = stack[-1]
    if event.value in mapping.container:
        raise InvalidExperiment([_duplicate_key((*(outer.place for outer in stack[1:-1]), event.value), _line(event))])
    mapping.key, mapping.waits_for_key = event.value, False


def _refuse(event: Any, code: str, message: str) -> NoReturn:
    raise InvalidExperiment([Problem("", code, f"{message}{_line(event)}")])


def _line(event: Any) -> str:
    return f" (line {event.start_mark.line + 1}, column {event.start_mark.column + 1})"


# Limits


def outline_problems(document: Any) -> list[Problem]:
    """Problems that rule out further validation: not a mapping, too large, too deep, values that JSON cannot represent.

    Walks the document without recursion and stops at the size limit.
    """
    if not isinstance(document, dict):
        return [_no_mapping(document)]
    problems: list[Problem] = []
    size = 0
    # (value, path from the root as linked pairs, depth)
    waiting: list[tuple[Any, Any, int]] = [(document, None, 1)]
    while waiting:
        value, path, depth = waiting.pop()
        if depth > DEPTH_MAX:
            return [_too_deep("", _path_tuple(path))]
        if isinstance(value, dict):
            for key, item in value.items():
                if isinstance(key, str):
                    size += len(key) + 4
                    waiting.append((item, (path, key), depth + 1))
                else:
                    message = f"the key {key!r} is not a string; put it in quotes"
                    problems.append(Problem(pointer(*_path_tuple(path), str(key)), "wrong_type", message, str(key)))
        elif isinstance(value, list | tuple):
            size += len(value) + 2
            waiting += [(item, (path, index), depth + 1) for index, item in enumerate(value)]
        else:
            size += len(value.encode(errors="surrogatepass")) + 2 if isinstance(value, str) else 5
            problem = _scalar_problem(value, _path_tuple(path))
            if problem is not None:
                problems.append(problem)
        if size > BYTES_MAX:
            return [_too_large(None)]
    return problems


def _scalar_problem(value: Any, path: Place) -> Problem | None:
    name = path[-1] if path else "the document"
    if isinstance(value, float) and not math.isfinite(value):
        return Problem(pointer(*path), "not_finite", f"{name} is {value}; it must be a finite number", str(value))
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        size = f"{Decimal(value):.6e}"  # which may be beyond the largest float
        return Problem(pointer(*path), "out_of_range", f"{name} is {size}; whole numbers must fit 64 bits", size)
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        return Problem(pointer(*path), "wrong_encoding", f"{name} holds half of a surrogate pair; write whole characters", None)
    if value is None or isinstance(value, str | int | float):
        return None
    message = f"{name} is {value!r}; it must be a string, a number, true, false, a list or a mapping"
    return Problem(pointer(*path), "wrong_type", message, str(value)[:80])


def _path_tuple(path: Any) -> Place:
    parts = []
    while path is not None:
        path, part = path
        parts.append(part)
    return tuple(reversed(parts))


# Formats

UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""By format: a function that upgrades a document to the next format. Format 1 is the first."""


def upgrade(document: Mapping[str, Any]) -> dict[str, Any]:
    """Upgrade the document to the current format. Raises InvalidExperiment if its format is newer or invalid.

    A document without `format` is returned unchanged; validation reports the missing field.
    """
    upgraded = dict(document)
    version = upgraded.get("format")
    if version is None:
        return upgraded
    if type(version) is not int or version < 1:
        message = f"format is {version!r}; it must be a whole number from 1 to {FORMAT}"
        raise InvalidExperiment([Problem("/format", "unknown_format", message[:200], str(version)[:80])])
    if version > FORMAT:
        message = (
            f"format is {version}, but this version reads formats up to {FORMAT}; update it, or export the document as format {FORMAT}"
        )
        raise InvalidExperiment([Problem("/format", "newer_format", message, version)])
    while version < FORMAT:
        upgraded = UPGRADES[version](upgraded)
        version = upgraded["format"]
    return upgraded


# Messages


def _too_large(size: int | None) -> Problem:
    has = f"has {size:,} bytes" if size is not None else f"has more than {BYTES_MAX:,} bytes"
    return Problem("", "too_large", f"the document {has}; at most {BYTES_MAX:,} are allowed, so move data into data sets", size)


def _too_deep(where: str, path: Place = ()) -> Problem:
    return Problem(pointer(*path[:5]), "too_deep", f"the document is nested more than {DEPTH_MAX} levels deep{where}; flatten it")


def _no_mapping(value: Any) -> Problem:
    kinds = {list: "a list", str: "a string", type(None): "empty", bool: "true or false", int: "a number", float: "a number"}
    message = f"the document is {kinds.get(type(value), 'not a mapping')}; it must be a mapping with format, query, cluster and workload"
    return Problem("", "wrong_type", message, str(value)[:80])


def _duplicate_key(path: Place, where: str = "") -> Problem:
    return Problem(pointer(*path), "duplicate_key", f"the key '{path[-1]}' occurs twice in one mapping{where}; keep one", path[-1])

"""Structural checks of a document: pydantic's errors in our own words, with pointers into the document."""

from __future__ import annotations

import json
import math
import types
import typing
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeVar, Union

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from .problems import Problem, Refusal, pointer, suggestion

ModelType = TypeVar("ModelType", bound=BaseModel)
MESSAGE_MAX = 600
Path = tuple[str | int, ...]


def check(model: type[ModelType], value: Any, at: Path = ()) -> tuple[ModelType | None, list[Problem]]:
    """Read the value as a model. Returns None and the problems if invalid. at: path of the value in the document."""
    try:
        return model.model_validate(value), []
    except ValidationError as invalid:
        errors = [dict(error) for error in invalid.errors(include_url=False)]
        return None, [_problem(model, error, at) for error in errors if not _is_shortened(error)]


def _is_shortened(error: dict[str, Any]) -> bool:
    """Whether pydantic reports a list as too short only because it does not count invalid entries."""
    return error["type"] == "too_short" and isinstance(error["input"], list | tuple) and len(error["input"]) >= error["ctx"]["min_length"]


def shortened(problem: Problem) -> Problem:
    """The problem with a short, JSON-able value. A very long message loses its middle, since its end has the remedy."""
    message, hint = problem.message, problem.hint
    if len(message) > MESSAGE_MAX:
        message = f"{message[: MESSAGE_MAX - 203]}...{message[-200:]}"
    return replace(problem, message=message, value=shown(problem.value), hint=hint if len(hint) <= MESSAGE_MAX else "")


def refusal_problem(refusal: Refusal, at: Path) -> Problem:
    """The problem for a refusal by an object's own check. at: path of that object."""
    path = (*at, *refusal.at)
    return Problem(pointer(*path), refusal.code, _named(path, str(refusal)), shown(refusal.value), refusal.hint)


def shown(value: Any) -> Any:
    """The value for a problem: JSON-able and short."""
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= 80 else f"{text[:77]}..."


def quoted(value: Any) -> str:
    """The value as text inside a sentence."""
    if value is None:
        return "empty"
    short = shown(value)
    if isinstance(value, str):
        return f"'{short}'"
    return json.dumps(short) if isinstance(short, bool) else str(short)


def _named(path: Sequence[str | int], message: str) -> str:
    """The message prefixed with its field's name, unless it already contains the name."""
    name = next((part for part in reversed(path) if isinstance(part, str)), "")
    return message if not name or name in message else f"{name}: {message}"


TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_parsing_size": "a whole number of at most 64 bits",
    "float_type": "a number",
    "float_parsing": "a number",
    "finite_number": "a finite number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "a string",
    "tuple_type": "a list",
    "list_type": "a list",
    "dict_type": "a mapping of names to values",
    "model_type": "a mapping of fields to values",
    "model_attributes_type": "a mapping of fields to values",
}
LIMITS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}


def _problem(model: type[BaseModel], error: dict[str, Any], at: Path) -> Problem:
    """One pydantic error, reworded."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    path, field, parent = _locate(model, error["loc"])
    path = (*at, *path)
    name = str(path[-1]) if path else "the document"
    if path and isinstance(path[-1], int):
        name = f"{next((part for part in reversed(path) if isinstance(part, str)), 'entry')}[{path[-1]}]"
    place = pointer(*path)
    if kind == "missing":
        description = f": {field.description}" if field is not None and field.description else ""
        return Problem(place, "missing", f"{name} is missing; add it{description}")
    if kind == "extra_forbidden":
        known = [_alias(field_name, info) for field_name, info in parent.model_fields.items()] if parent is not None else []
        message = f"'{name}' is not a field here; remove it or correct its name"
        return Problem(place, "unexpected", message, shown(value), suggestion(name, known))
    if kind in ("union_tag_invalid", "union_tag_not_found"):
        return _kind_problem(path, value, context)
    if kind == "literal_error":
        code = "unknown_kind" if name == "kind" else "unknown_value"
        allowed = _literals(field)
        message = f"{name} is {quoted(value)}; it must be {context['expected']}"
        hint = suggestion(value, allowed) if isinstance(value, str) and len(allowed) > 1 else ""
        return Problem(place, code, message, shown(value), hint)
    if kind == "value_error":
        cause = context["error"]
        if isinstance(cause, Refusal):
            return refusal_problem(cause, path)
        return Problem(place, "invalid", _named(path, str(cause)), shown(value))
    if kind in LIMITS:
        word, key = LIMITS[kind]
        unit = _extra(field, "x-unit")
        message = f"{name} is {quoted(value)}; it must be {word} {_plain(context[key])}{unit and f' {unit}'}"
        if key in ("gt", "ge") and (why := _extra(field, "x-too-little")):
            message += f": {why}"
        return Problem(place, "out_of_range", message, shown(value))
    if kind == "string_pattern_mismatch":
        message = f"{name} is {quoted(value)}; it must match {context['pattern']}"
        return Problem(place, "wrong_form", message, shown(value), field.description or "" if field is not None else "")
    if kind in ("too_short", "too_long"):
        bound = f"at least {context['min_length']}" if kind == "too_short" else f"at most {context['max_length']}"
        message = f"{name} has {context['actual_length']} entries; it must have {bound}"
        return Problem(place, kind, message, context["actual_length"])
    if kind in ("string_too_short", "string_too_long"):
        bound = f"at least {context['min_length']}" if kind == "string_too_short" else f"at most {context['max_length']}"
        message = f"{name} is {quoted(value)}, with {len(value)} characters; it must have {bound}"
        return Problem(place, kind.removeprefix("string_"), message, shown(value))
    if kind in TYPES:
        code = "not_finite" if kind == "finite_number" else "wrong_type"
        return Problem(place, code, f"{name} is {quoted(value)}; it must be {TYPES[kind]}", shown(value))
    return Problem(place, "invalid", f"{name} is {quoted(value)}: {error['msg']}", shown(value))


def _kind_problem(path: Path, value: Any, context: dict[str, Any]) -> Problem:
    """A member of a tagged union with a missing or unknown kind."""
    place = pointer(*path, "kind")
    owner = next((str(part) for part in reversed(path) if isinstance(part, str)), "the document")
    if "tag" not in context:
        if isinstance(value, dict):
            return Problem(place, "missing", f"{owner} has no kind; add one")
        return Problem(pointer(*path), "wrong_type", f"{owner} is {quoted(value)}; it must be a mapping with a kind", shown(value))
    known = [tag.strip().strip("'") for tag in context["expected_tags"].split(",")]
    kind = shown(value["kind"]) if isinstance(value, dict) else context["tag"]
    message = f"the kind of {owner} is {quoted(kind)}, which does not exist; it must be one of {', '.join(known)}"
    return Problem(place, "unknown_kind", message, kind, suggestion(kind, known) if isinstance(kind, str) else "")


def _locate(model: type[BaseModel], location: Sequence[str | int]) -> tuple[Path, FieldInfo | None, type[BaseModel] | None]:
    """Path in the document, its field, and the model that contains the last part.

    Pydantic's locations also name the chosen member of a union, which is not part of the document. The types distinguish the two.
    """
    path: list[str | int] = []
    here: Any = model
    field: FieldInfo | None = None
    parent: type[BaseModel] | None = model
    for part in location:
        here = bare(here)
        if part == "[key]":
            continue
        members = members_of(here)
        if members:
            here = members.get(part, here)
            continue
        path.append(part)
        if isinstance(here, type) and issubclass(here, BaseModel):
            parent = here
            field = next((info for name, info in here.model_fields.items() if part in (name, info.alias)), None)
            here = field.annotation if field is not None else None
        else:
            arguments = typing.get_args(here)
            here = None if not arguments else arguments[1] if typing.get_origin(here) is dict else arguments[0]
    return tuple(path), field, parent


def bare(annotation: Any) -> Any:
    """The annotation without `Annotated` and `| None`."""
    while True:
        if typing.get_origin(annotation) is Annotated:
            annotation = typing.get_args(annotation)[0]
        elif typing.get_origin(annotation) in (Union, types.UnionType):
            rest = [argument for argument in typing.get_args(annotation) if argument is not types.NoneType]
            if len(rest) > 1:
                return annotation
            annotation = rest[0]
        else:
            return annotation


def members_of(annotation: Any) -> dict[Any, type[BaseModel]]:
    """The models of a tagged union by kind."""
    if typing.get_origin(annotation) not in (Union, types.UnionType):
        return {}
    models = [bare(argument) for argument in typing.get_args(annotation)]
    kinds = [m for m in models if isinstance(m, type) and issubclass(m, BaseModel) and "kind" in m.model_fields]
    return {member.model_fields["kind"].default: member for member in kinds}


def _alias(name: str, info: FieldInfo) -> str:
    return info.alias or name


def _literals(field: FieldInfo | None) -> list[str]:
    annotation = bare(field.annotation) if field is not None else None
    return [str(value) for value in typing.get_args(annotation)] if typing.get_origin(annotation) is Literal else []


def _extra(field: FieldInfo | None, name: str) -> str:
    """An extra keyword of the field's JSON Schema, or ''."""
    extra = field.json_schema_extra if field is not None else None
    return str(extra.get(name, "")) if isinstance(extra, dict) else ""


def _plain(number: float) -> str:
    return f"{number:,.9g}" if abs(number) < 1e15 else str(number)

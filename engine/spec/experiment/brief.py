"""A document without what its defaults already say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from .experiment import Experiment
from .query import OperatorSpec


def without_defaults(document: dict[str, Any], experiment: Experiment) -> dict[str, Any]:
    """Return a copy of the document without fields whose value is their default; its hash is the same.

    experiment: the document, validated. Fields have the order of their models. Kinds stay, because they say what the other fields mean.
    """
    return dict(_brief(document, experiment))


def _brief(written: Any, read: Any) -> Any:
    if isinstance(read, BaseModel) and isinstance(written, dict):
        briefed = {key: _brief(written[key], _read_as(read, key)) for key in sorted(written, key=_order_of(read))}
        return {key: value for key, value in briefed.items() if not _is_default(read, key, value)}
    if isinstance(read, tuple) and isinstance(written, list) and len(read) == len(written):
        return [_brief(value, one) for value, one in zip(written, read, strict=True)]
    if isinstance(read, dict) and isinstance(written, dict):
        return {key: _brief(value, read.get(key)) for key, value in written.items()}
    return written


def _read_as(model: BaseModel, key: str) -> Any:
    if isinstance(model, OperatorSpec) and key == "params":
        return model.parameters
    return getattr(model, _field_of(model, key), None)


def _is_default(model: BaseModel, key: str, briefed: Any) -> bool:
    field = type(model).model_fields.get(_field_of(model, key))
    if field is None or field.is_required() or key == "kind":
        return False
    default = field.get_default(call_default_factory=True)
    return bool(_read_as(model, key) == default or briefed == default)


def _order_of(model: BaseModel) -> Callable[[str], int]:
    """Return the position of a key among the fields of the model."""
    positions = {field.alias or name: n for n, (name, field) in enumerate(type(model).model_fields.items())}
    return lambda key: positions.get(key, len(positions))


def _field_of(model: BaseModel, key: str) -> str:
    """Return the name of the field that a document writes as `key`."""
    return next((name for name, field in type(model).model_fields.items() if field.alias == key), key)

"""Documents in words: the labels of fields as forms show them, and values with their units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo

UNITS = {
    "_mbit_per_s": "Mbit/s", "_mb_per_s": "MB/s", "_bytes_per_s": "B/s", "_per_s": "records/s", "_bytes": "B", "_mb": "MB", "_gb": "GB",
    "_ns": "ns", "_us": "µs", "_ms": "ms", "_s": "s",
}  # fmt: skip
"""Units by the end of a field's name, longest first."""

TEXT_LENGTH_MAX = 60
SETTINGS_MAX = 3
"""Number of settings shown of a value with many."""


def label_of(name: str, field: FieldInfo | None = None) -> str:
    """The label of a field: its title, or its name without the unit."""
    if field is not None and field.title:
        return field.title
    bare = next((name.removesuffix(end) for end in UNITS if name.endswith(end) and name != end), name)
    words = bare.replace("_", " ")
    return words[:1].upper() + words[1:]


def unit_of(name: str, field: FieldInfo | None = None) -> str:
    """The unit of a field, or ''."""
    extra = field.json_schema_extra if field is not None else None
    if isinstance(extra, dict) and "x-unit" in extra:
        return str(extra["x-unit"])
    return next((unit for end, unit in UNITS.items() if f"_{name}".endswith(end)), "")


def value_in_words(value: Any, unit: str = "") -> str:
    """A plain value of a document as text: `10 s`, `on`, `left, right`, `join 4, sink 2`, `default` for none."""
    if value is None:
        return "default"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | float):
        return number_in_words(value, unit)
    if isinstance(value, str):
        return shortened(value) or "empty"
    if isinstance(value, Mapping):
        if "kind" in value:
            return shortened(str(value["kind"]).replace("_", " "))
        return shortened(", ".join(f"{name} {value_in_words(below, unit)}" for name, below in value.items())) or "none"
    if isinstance(value, list | tuple):
        return shortened(", ".join(value_in_words(one, unit) for one in value)) or "none"
    return shortened(str(value))


def number_in_words(value: float, unit: str = "") -> str:
    """The number with thousands separators and its unit."""
    text = f"{value:,.9g}" if abs(value) < 1e15 else str(value)
    if "e" in text and abs(value) >= 1:  # a large number keeps its digits
        text = f"{value:,.0f}" if value == int(value) else f"{value:,}"
    return f"{text} {unit}" if unit else text


def shortened(text: str) -> str:
    """The text on one line, cut if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= TEXT_LENGTH_MAX else f"{line[: TEXT_LENGTH_MAX - 3]}..."


def model_in_words(value: BaseModel) -> str:
    """A model as a short phrase: its own (`in_words`), or its title with the settings that differ from their defaults."""
    if own := getattr(value, "in_words", ""):
        return str(own)
    title = getattr(value, "title", "") or str(getattr(value, "kind", "")).replace("_", " ").capitalize()
    settings = []
    for name, field in type(value).model_fields.items():
        given = getattr(value, name)
        if name != "kind" and (field.is_required() or given != field.get_default(call_default_factory=True)):
            settings.append(f"{label_of(name, field)} {_part_in_words(given, unit_of(name, field))}")
    more = ", ..." if len(settings) > SETTINGS_MAX else ""
    told = ", ".join(settings[:SETTINGS_MAX]) + more
    return f"{title} ({told})" if title and told else title or told


def _part_in_words(value: Any, unit: str) -> str:
    if isinstance(value, BaseModel):
        return model_in_words(value)
    if isinstance(value, tuple) and any(isinstance(one, BaseModel) for one in value):
        return "; ".join(model_in_words(one) for one in value[:SETTINGS_MAX]) + ("; ..." if len(value) > SETTINGS_MAX else "")
    if isinstance(value, Mapping) and any(isinstance(one, BaseModel) for one in value.values()):
        return value_in_words(list(value))
    return value_in_words(value, unit)

"""What the kinds of families promise, those of other packages too; and how a test meets a kind that stands in a file of its own."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from engine.spec import catalogue
from engine.spec.base.family import Family, kind_of
from engine.spec.base.variant import Variant
from engine.spec.experiment import registry

NEWCOMERS = Path(__file__).resolve().parents[1] / "newcomers"


def newcomer(name: str) -> ModuleType:
    """The module of tests/newcomers/<name>.py, imported as one from outside the tree."""
    outside = f"newcomer_{name}"
    if outside not in sys.modules:
        spec = importlib.util.spec_from_file_location(outside, NEWCOMERS / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[outside] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[outside])
    return sys.modules[outside]


def samples(kind: type[Variant]) -> list[Any]:
    """The kind with its defaults, and with each of its numbers at its least and at its most. A number without a default is at its least."""
    numbers = {name: field for name, field in kind.model_json_schema()["properties"].items() if {"minimum", "maximum"} & field.keys()}
    given = {name: field["minimum"] for name, field in numbers.items() if "default" not in field}
    ends = [{name: field[end]} for name, field in numbers.items() for end in ("minimum", "maximum") if end in field]
    return [kind.model_validate(given | end) for end in ({}, *ends)]


@contextmanager
def offered(family: Family, kind: type[Variant]) -> Iterator[None]:
    """For a while the family has this kind, too."""
    before = registry.members(family.name)
    family.register(kind)
    try:
        yield
    finally:
        family.offer(before)


def assert_is_shown(family: Family, kind: type[Variant]) -> None:
    """Palette, form and schema of the document have the kind, with a text for each parameter."""
    assert_are_shown(family, [kind])


def assert_are_shown(family: Family, kinds: Iterable[type[Variant]]) -> None:
    entries = {entry["kind"]: entry for entry in catalogue()[family.name]}
    definitions = registry.document_schema()["$defs"]
    for kind in kinds:
        _assert_is_described(kind, entries[kind_of(kind)])
        assert kind.__name__ in definitions


def _assert_is_described(kind: type[Variant], entry: dict[str, Any]) -> None:
    assert entry["title"] == kind.title
    assert entry["doc"] == inspect.getdoc(kind)
    assert entry["schema"]["additionalProperties"] is False
    for name, field in entry["schema"]["properties"].items():
        assert field.get("description"), (entry["kind"], name)

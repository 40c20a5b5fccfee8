"""What the kinds of families promise, those of other packages too; and how a test meets a kind that stands in a file of its own."""

from __future__ import annotations

import importlib.util
import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

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
    (entry,) = [entry for entry in catalogue()[family.name] if entry["kind"] == kind_of(kind)]
    assert entry["title"] == kind.title
    assert entry["doc"] == inspect.getdoc(kind)
    assert entry["schema"]["additionalProperties"] is False
    for name, field in entry["schema"]["properties"].items():
        assert field.get("description"), (entry["kind"], name)
    assert kind.__name__ in registry.document_schema()["$defs"]

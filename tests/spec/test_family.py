"""Families of kinds: order, kinds of other packages, and what is refused of them.

What this catches: a kind that documents cannot name although it is registered, one that stays behind after it is gone, and a broken package
that takes the rest with it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import Field, ValidationError

from engine.spec.base import family as families
from engine.spec.base.family import Family, implementation, load_entry_points, union_of
from engine.spec.base.operator import Model
from engine.spec.base.units import Number, quantity
from engine.spec.base.variant import Variant
from engine.spec.experiment import registry
from engine.spec.experiment.placement import PLACEMENTS
from tests.support.family_contracts import assert_are_shown


class Shape(Variant):
    """What all shapes have in common."""


class Dot(Shape):
    """A dot."""

    title: ClassVar[str] = "Dot"
    kind: Literal["dot"] = "dot"


class Line(Shape):
    """A line."""

    title: ClassVar[str] = "Line"
    kind: Literal["line"] = "line"


class Square(Shape):
    """A square."""

    title: ClassVar[str] = "Square"
    kind: Literal["square"] = "square"
    side_m: Number = quantity(1.0, unit="m", description="Length of a side.")

    def area(self) -> float:
        return self.side_m**2


AnyShape: Any = Annotated[union_of((Dot, Line)), Field(discriminator="kind")]


class Drawing(Model):
    best: AnyShape = Dot()
    shapes: tuple[AnyShape, ...] = ()
    named: dict[str, AnyShape] = {}
    perhaps: AnyShape | None = None


class Poster(Variant):
    """A shape on a wall."""

    title: ClassVar[str] = "Poster"
    kind: Literal["poster"] = "poster"
    shape: AnyShape = Dot()


class Book(Model):
    drawings: tuple[Drawing, ...] = ()


@pytest.fixture
def shapes() -> Iterator[Family]:
    family = Family("shapes", "engine.spec.experiment.placement", Shape, {"area": "it gives the area in square metres"})
    family.kinds = (Dot, Line)
    yield family
    family.offer((Dot, Line))


def test_our_kinds_are_found_in_the_order_in_which_they_are_offered() -> None:
    assert [families.kind_of(kind) for kind in PLACEMENTS.kinds][:4] == ["spread", "by_operator", "staged", "explicit"]


def test_every_kind_of_a_discovered_family_says_where_it_stands() -> None:
    for family in registry.FAMILIES.values():
        if isinstance(family, Family):
            ours = [kind for kind in family.kinds if kind.__module__.startswith("engine.")]
            assert len({kind.position for kind in ours}) == len(ours), family.name
            assert all(kind.position < Variant.position for kind in ours), family.name


@pytest.mark.slow
def test_every_kind_is_shown_with_a_text_for_each_parameter() -> None:
    for family in registry.FAMILIES.values():
        if isinstance(family, Family):
            assert_are_shown(family, family.kinds)


def test_a_registered_kind_is_taken_wherever_its_family_is_and_no_longer_when_it_is_gone(shapes: Family) -> None:
    square = {"kind": "square", "side_m": 2.0}
    book = {"drawings": [{"best": square, "shapes": [square, {"kind": "line"}], "named": {"a": square}, "perhaps": square}]}
    with pytest.raises(ValidationError):
        Book.model_validate(book)
    shapes.register(Square)
    drawing = Book.model_validate(book).drawings[0]
    assert drawing.best == drawing.shapes[0] == drawing.named["a"] == drawing.perhaps == Square(side_m=2.0)
    assert "square" in str(Book.model_json_schema())
    assert shapes.adapter.validate_python(square) == Square(side_m=2.0)
    shapes.register(Square)  # twice is once
    assert shapes.kinds == (Dot, Line, Square)
    shapes.offer((Dot, Line))
    with pytest.raises(ValidationError):
        Book.model_validate(book)


def test_a_registered_kind_is_taken_inside_kinds_of_other_families(shapes: Family) -> None:
    posters = Family("posters", "engine.spec.experiment.placement", Poster, {})
    posters.kinds = (Poster,)
    poster = {"kind": "poster", "shape": {"kind": "square"}}
    with pytest.raises(ValidationError):
        posters.adapter.validate_python(poster)
    shapes.register(Square)
    assert posters.adapter.validate_python(poster) == Poster(shape=Square())
    shapes.offer((Dot, Line))
    with pytest.raises(ValidationError):
        posters.adapter.validate_python(poster)


class NoUnit(Shape):
    """Has a parameter without a unit."""

    title: ClassVar[str] = "No unit"
    kind: Literal["no_unit"] = "no_unit"
    side: Number | None = Field(default=None, description="Length of a side.")


class NoDescription(Shape):
    """Has a parameter without a description."""

    title: ClassVar[str] = "No description"
    kind: Literal["no_description"] = "no_description"
    name: str = ""


class NoDocstring(Square):
    kind: Literal["no_docstring"] = "no_docstring"  # type: ignore[assignment]


class NoArea(Shape):
    """Does not do what its family does."""

    title: ClassVar[str] = "No area"
    kind: Literal["no_area"] = "no_area"


class Taken(Square):
    """Is another's."""

    kind: Literal["dot"] = "dot"  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (int, "is not a subclass of tests.spec.test_family.Shape"),
        (NoUnit, "the parameter side needs a unit"),
        (NoDescription, "the parameter name needs a description"),
        (NoDocstring, "needs a title and a docstring"),
        (NoArea, "has no method `area`; it gives the area"),
        (Taken, "which tests.spec.test_family already uses"),
    ],
)
def test_what_is_wrong_with_a_kind_is_said_when_it_is_registered(shapes: Family, kind: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        shapes.register(kind)


def test_a_package_that_cannot_be_loaded_is_named_and_the_rest_works(
    shapes: Family, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    group = "millrace.shapes"
    points = [
        EntryPoint("raises", "tests.spec.no_such_module:Shape", group),
        EntryPoint("no_unit", f"{__name__}:NoUnit", group),
        EntryPoint("square", f"{__name__}:Square", group),
        EntryPoint("taken", f"{__name__}:Taken", group),
    ]
    monkeypatch.setattr(families, "entry_points", lambda group: points)
    monkeypatch.setattr(families, "BROKEN", {})
    with caplog.at_level(logging.ERROR, "millrace.packages"):
        load_entry_points(group, shapes.register)
    assert shapes.kinds == (Dot, Line, Square)
    assert list(families.BROKEN) == [f"{group}: raises", f"{group}: no_unit", f"{group}: taken"]
    assert "package tests.spec.no_such_module: entry point 'raises' of millrace.shapes is skipped: ModuleNotFoundError" in caplog.text
    assert len(caplog.records) == 3


def test_what_a_kind_does_stands_in_its_class_or_in_the_file_of_its_name() -> None:
    assert implementation(Square, "engine.placement", "area") is Square.area
    assert implementation(PLACEMENTS.kinds[0], "engine.placement", "place").__module__ == "engine.placement.spread"
    with pytest.raises(ModuleNotFoundError):
        implementation(Dot, "engine.placement", "place")

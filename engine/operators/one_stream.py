"""Operators of pairs whose two sides are one stream: what their base classes know as left and right comes by one port."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

from engine.operators.pairs import SIDES
from engine.spec.base.records import RecordSchema

if TYPE_CHECKING:
    from engine.operators.pairs import Pairing as Base
else:
    Base = object


def both(inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
    """The records of either side."""
    return dict.fromkeys(SIDES, inputs["in"])


class OfOneStream(Base):
    """Put before the class of two streams."""

    inputs: ClassVar[tuple[str, ...]] = ("in",)
    outputs: ClassVar[tuple[str, ...]] = ("out", "late")
    late_ports: ClassVar[tuple[str, ...]] = ("late", "late")
    copies: ClassVar[tuple[str, ...]] = ("out", "out")
    one_stream: ClassVar[bool] = True

    @classmethod
    def of_side(cls, side: str, what: str) -> str:
        return what

    @classmethod
    def input_in_words(cls, side: str) -> str:
        return "the input"

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        return super().output_schemas(params, both(inputs))

    @classmethod
    def compares(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> Any:
        return super().compares(params, both(inputs))

    @classmethod
    def carries(cls, params: Any, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        return super().carries(params, both(inputs), SIDES[0], field)

    @classmethod
    def reads(cls, params: Any, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]) -> Mapping[str, Collection[str]]:
        of_sides = super().reads(params, both(inputs), wanted)
        return {"in": {name for side in SIDES for name in of_sides[side]}}

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        lowering.full = both(lowering.full)
        return super().lower(params, both(inputs), lowering)

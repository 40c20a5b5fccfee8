"""Merges several streams with the same schema."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar

from engine.core.layout import BOX_FIRST, BOX_LAST, BOX_REUSED
from engine.spec.base.operator import Operator
from engine.spec.base.records import RecordSchema


def union_on_record(slot, box):
    """Forward the message itself, without a copy."""
    box[BOX_FIRST] = slot
    box[BOX_LAST] = slot
    box[BOX_REUSED] = 1
    return 1


class Union(Operator):
    """Emits every record that arrives, on any edge. All edges carry the same fields. Stateless.

    Every input port accepts several edges, so a union is needed only to place or partition the merged stream as one.
    Cost: record_ps per record.
    """

    kind, title, group, icon = "union", "Union", "Stateless", "union"
    position = 5
    on_record: ClassVar[Callable[..., int]] = staticmethod(union_on_record)  # a receiver takes more arguments

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        return {"out": inputs["in"]}

    @classmethod
    def reads(cls, params: Any, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]) -> Mapping[str, Collection[str]]:
        return {"in": ()}

    @classmethod
    def unscaled(cls, params: Any) -> str:
        return ""

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        return []

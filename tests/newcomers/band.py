"""An operator kind from outside the package, with a parameter of a type that no other kind has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from engine.core.layout import BOX_FIRST, BOX_LAST, BOX_REUSED, M_PAYLOAD
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import RecordSchema


def band_on_record(slot, msg, par, at, box):  # type: ignore[no-untyped-def]
    """Pass the record on if its value lies in the band."""
    value = msg[slot, M_PAYLOAD + par[at]]
    if value < par[at + 1] or value > par[at + 2]:
        return 0
    box[BOX_FIRST] = slot
    box[BOX_LAST] = slot
    box[BOX_REUSED] = 1
    return 1


class Band(Operator):
    """Emits a record, unchanged, if a whole number in it lies between two bounds. Stateless.

    Cost: record_ps per record.
    """

    kind, title, group, icon = "band", "Band", "Stateless", "funnel"
    priced_as = "filter"
    on_record = staticmethod(band_on_record)

    class Params(Model):
        field: str = Field(description="field that is looked at", json_schema_extra={"x-editor": "field"})
        bounds: tuple[int, int] = Field(default=(0, 1000), description="least and greatest value that passes")

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        if params.field not in inputs["in"]:
            message = f"field '{params.field}' is not a field of the input; {suggestion(params.field, inputs['in'].names)}"
            raise Refusal(message, at=("field",), code="unknown_field", value=params.field)
        return {"out": inputs["in"]}

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        return [inputs["in"].index(params.field), *params.bounds]

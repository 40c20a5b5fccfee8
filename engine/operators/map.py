"""Computes a new record from each record."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import Field

from engine.core.kernels.expression_machine import evaluate
from engine.core.kernels.messages import new_output
from engine.core.layout import G_FREE, G_NEED, I_ERRORS, M_PAYLOAD, NEED_MESSAGES
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal
from engine.spec.base.records import RecordField, RecordSchema
from engine.spec.expressions.parser import parse


def map_on_record(slot, msg, par, at, code, constants, stack, stack_f, inst, i, g, free, box, stamps):
    """params: number of fields, then (first, last) of each field's program."""
    if g[G_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_MESSAGES
    made = new_output(msg, free, g, box, slot, stamps)
    for f in range(par[at]):
        errors = evaluate(code, par[at + 1 + 2 * f], par[at + 2 + 2 * f], constants, msg, slot, M_PAYLOAD, stack, stack_f)
        inst[i, I_ERRORS] += errors
        msg[made, M_PAYLOAD + f] = stack[0]
    return 1


class MapField(Model):
    name: str = Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$", description="name of the field in the output record")
    expression: str = Field(
        max_length=2000, description="computed from the fields of the input record", json_schema_extra={"x-editor": "expression"}
    )


class Map(Operator):
    """Emits one record per input record, with exactly these fields in this order. Stateless.

    Cost: record_ps per record.
    """

    kind, title, group, icon = "map", "Map", "Stateless", "function"
    position = 2
    on_record = staticmethod(map_on_record)

    class Params(Model):
        fields: tuple[MapField, ...] = Field(min_length=1, max_length=32, description="fields of the output record, in order")

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        fields: list[RecordField] = []
        for n, field in enumerate(params.fields):
            if field.name in {f.name for f in fields}:
                raise Refusal(
                    f"field name '{field.name}' occurs twice; every output field needs its own name",
                    at=("fields", n, "name"),
                    code="duplicate_name",
                    value=field.name,
                )
            try:
                expression = parse(field.expression, inputs["in"])
                fields.append(RecordField(field.name, expression.type, expression.zero_ns))
            except Refusal as refusal:
                refusal.at = ("fields", n, "expression")
                raise
        return {"out": RecordSchema(tuple(fields))}

    @classmethod
    def carries(cls, params: Params, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        return next((made.name for made in params.fields if made.expression.strip() == field), None)

    @classmethod
    def reads(
        cls, params: Params, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        return {"in": {name for field in params.fields for name in parse(field.expression, inputs["in"]).fields}}

    @classmethod
    def unscaled(cls, params: Any) -> str:
        return ""

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        programs = [lowering.program(field.expression, inputs["in"]) for field in params.fields]
        return [len(programs), *(word for program in programs for word in program)]

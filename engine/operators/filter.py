"""Keeps the records for which a predicate holds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import Field

from engine.core.kernels.expression_machine import evaluate
from engine.core.layout import BOX_FIRST, BOX_LAST, BOX_REUSED, I_ERRORS, M_PAYLOAD
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal
from engine.spec.base.records import FieldType, RecordSchema
from engine.spec.expressions.parser import parse


def filter_on_record(slot, msg, par, at, code, constants, stack, stack_f, inst, i, box):
    """Forward the message itself, without a copy."""
    errors = evaluate(code, par[at], par[at + 1], constants, msg, slot, M_PAYLOAD, stack, stack_f)
    inst[i, I_ERRORS] += errors
    if stack[0] == 0:
        return 0
    box[BOX_FIRST] = slot
    box[BOX_LAST] = slot
    box[BOX_REUSED] = 1
    return 1


class Filter(Operator):
    """Emits a record, unchanged, if the predicate holds. Stateless.

    Cost: record_ps per record.
    """

    kind, title, group, icon = "filter", "Filter", "Stateless", "funnel"
    position = 1
    on_record = staticmethod(filter_on_record)

    class Params(Model):
        predicate: str = Field(
            "True",
            max_length=2000,
            description="condition on the record's fields",
            json_schema_extra={"x-editor": "expression", "x-result": "bool"},
        )

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        try:
            predicate = parse(params.predicate, inputs["in"])
        except Refusal as refusal:
            refusal.at = ("predicate",)
            raise
        if predicate.type != "bool":
            raise Refusal(
                f"predicate '{params.predicate}' has the type {predicate.type}; a filter needs a condition (bool), such as a comparison",
                at=("predicate",),
                code="type_mismatch",
                value=params.predicate,
            )
        return {"out": inputs["in"]}

    @classmethod
    def reads(
        cls, params: Params, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        return {"in": parse(params.predicate, inputs["in"]).fields}

    @classmethod
    def compares(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> tuple[FieldType, ...]:
        return parse(params.predicate, inputs["in"]).comparisons

    @classmethod
    def unscaled(cls, params: Any) -> str:
        return ""

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        return [*lowering.program(params.predicate, inputs["in"])]

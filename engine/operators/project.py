"""Keeps some fields of each record, optionally renamed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from pydantic import Field

from engine.core.kernels.messages import new_output
from engine.core.layout import G_FREE, G_NEED, M_PAYLOAD, NEED_MESSAGES
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import RecordField, RecordSchema


def project_on_record(slot, msg, par, at, g, free, box, stamps):
    """params: number of fields, then the column of each."""
    if g[G_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_MESSAGES
    made = new_output(msg, free, g, box, slot, stamps)
    for f in range(par[at]):
        msg[made, M_PAYLOAD + f] = msg[slot, M_PAYLOAD + par[at + 1 + f]]
    return 1


class ProjectField(Model):
    field: str = Field(description="field of the input record", json_schema_extra={"x-editor": "field"})
    name: str | None = Field(
        None, pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,62}$", description="name of the field in the output record; default: unchanged"
    )

    @property
    def output_name(self) -> str:
        return self.field if self.name is None else self.name


class Project(Operator):
    """Emits one record per input record, with exactly these fields in this order. Stateless.

    Cost: record_ps per record.
    """

    kind, title, group, icon = "project", "Project", "Stateless", "table"
    position = 3
    writes_only_wanted = True
    on_record = staticmethod(project_on_record)

    class Params(Model):
        fields: tuple[ProjectField, ...] = Field(min_length=1, max_length=64, description="fields of the output record, in order")

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        schema = inputs["in"]
        fields: list[RecordField] = []
        for n, chosen in enumerate(params.fields):
            if chosen.field not in schema:
                raise Refusal(
                    f"field '{chosen.field}' is not in the input record; {suggestion(chosen.field, schema.names)}",
                    at=("fields", n, "field"),
                    code="unknown_field",
                    value=chosen.field,
                )
            if chosen.output_name in {f.name for f in fields}:
                raise Refusal(
                    f"field name '{chosen.output_name}' occurs twice; every output field needs its own name",
                    at=("fields", n, "field" if chosen.name is None else "name"),
                    code="duplicate_name",
                    value=chosen.output_name,
                )
            fields.append(schema.field(chosen.field).named(chosen.output_name))
        return {"out": RecordSchema(tuple(fields))}

    @classmethod
    def carries(cls, params: Params, inputs: Mapping[str, RecordSchema], port: str, field: str) -> str | None:
        return next((chosen.output_name for chosen in params.fields if chosen.field == field), None)

    @classmethod
    def reads(
        cls, params: Params, inputs: Mapping[str, RecordSchema], wanted: Mapping[str, Collection[str]]
    ) -> Mapping[str, Collection[str]]:
        return {"in": {chosen.field for chosen in params.fields if chosen.output_name in wanted["out"]}}

    @classmethod
    def unscaled(cls, params: Any) -> str:
        return ""

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        written = [inputs["in"].index(chosen.field) for chosen in params.fields if chosen.output_name in lowering.outputs["out"]]
        return [len(written), *written]

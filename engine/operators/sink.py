"""The end of a query: delivers records and measures their latency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import RecordSchema


class Sink(Operator):
    """Delivers each record at the end of its service. Latency is defined in `measurement.latency`.

    With `counted_by`, a record stands for as many as that field says: in the counts of what is delivered, and in latencies. With
    `by_instance`, frames and summary also have the latency at each instance: that of each worker, where instance n gets what worker n
    sends.
    Cost: record_ps for each record that it stands for.
    """

    kind, title, group, icon = "sink", "Sink", "Sinks", "tray"
    position = 14
    outputs = ()

    class Params(Model):
        counted_by: str | None = Field(
            None,
            description="int field with the number of records that a record stands for, such as `pairs` of a join that counts",
            json_schema_extra={"x-editor": "field"},
            exclude_if=lambda name: name is None,
        )
        by_instance: bool = Field(False, strict=True, description="measure latency at each instance, too", exclude_if=lambda said: not said)

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        if params.counted_by is not None:
            name, schema = params.counted_by, inputs["in"]
            if name not in schema or schema.type_of(name) != "int":
                message = f"counted_by is '{name}', which is no int field of the input; {suggestion(name, schema.names)}"
                raise Refusal(message, at=("counted_by",), code="unknown_field", value=name)
        return {}

    @classmethod
    def unscaled(cls, params: Any) -> str:
        return ""

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        counted = -1 if params.counted_by is None else inputs["in"].index(params.counted_by)
        return [counted, lowering.instance_latencies() if params.by_instance else -1]

"""An operator kind from outside the package, all of it in one file, as a method's author would write it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from pydantic import Field

from engine.core.keeping import Keeping
from engine.core.kernels.state_table import add_entry, find_entry
from engine.core.layout import BOX_FIRST, BOX_LAST, BOX_REUSED, G_ENTRIES_FREE, G_NEED, I_ENTRIES, I_STATE_BYTES, M_PAYLOAD, NEED_ENTRIES
from engine.core.tables import Arrays, Words
from engine.spec.base.operator import Model, Operator
from engine.spec.base.problems import Refusal, suggestion
from engine.spec.base.records import RecordSchema

KEY_BYTES = 16


def distinct_on_record(slot, msg, par, at, inst, i, table, entry, g, box):  # type: ignore[no-untyped-def]
    """Pass the record on if no other had its key before."""
    key = msg[slot, M_PAYLOAD + par[at]]
    if find_entry(table, entry, i, key, 0) >= 0:
        return 0
    if g[G_ENTRIES_FREE] < 1:
        g[G_NEED] = 1
        return -NEED_ENTRIES
    add_entry(table, entry, g, i, key, 0)
    inst[i, I_ENTRIES] += 1
    inst[i, I_STATE_BYTES] += KEY_BYTES
    box[BOX_FIRST] = slot
    box[BOX_LAST] = slot
    box[BOX_REUSED] = 1
    return 1


def distinct_sizes(w: Arrays, at: int, entries: Words, values: Words) -> Words:
    return np.full(len(entries), KEY_BYTES)


class Distinct(Operator):
    """Emits a record, unchanged, if it is the first with its key.

    State: 16 bytes per key.
    Cost: record_ps per record.
    """

    kind, title, group, icon = "distinct", "Distinct", "Stateful", "funnel"
    priced_as = "aggregate"
    on_record = staticmethod(distinct_on_record)
    keeping = Keeping(distinct_sizes)

    class Params(Model):
        key: str = Field(description="field by which records count as equal", json_schema_extra={"x-editor": "field"})

    @classmethod
    def output_schemas(cls, params: Params, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        if params.key not in inputs["in"]:
            message = f"key '{params.key}' is not a field of the input; {suggestion(params.key, inputs['in'].names)}"
            raise Refusal(message, at=("key",), code="unknown_field", value=params.key)
        return {"out": inputs["in"]}

    @classmethod
    def required_key(cls, params: Params, port: str) -> str | None:
        return params.key

    @classmethod
    def lower(cls, params: Params, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        return [inputs["in"].index(params.key)]

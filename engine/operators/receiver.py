"""Takes over records that a source on another host hands it, and begins their ingestion time anew."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from engine.core.layout import BOX_FIRST, BOX_LAST, BOX_REUSED, CLOCK_INGEST, G_CLOCK, G_STAMP_CLOCK, M_CLOCK, M_NEWEST, M_OLDEST
from engine.spec.base.operator import Operator
from engine.spec.base.records import RecordSchema


def receiver_on_record(slot, box, msg, g, stamps, t):
    """Forward the message itself. Wherever it carries its ingestion time, that is now."""
    if g[G_CLOCK] == CLOCK_INGEST:
        msg[slot, M_CLOCK] = t
        msg[slot, M_NEWEST] = t
        msg[slot, M_OLDEST] = t
    for k in range(stamps):
        if g[G_STAMP_CLOCK + k] == CLOCK_INGEST:
            msg[slot, msg.shape[1] - 1 - k] = t
    box[BOX_FIRST] = slot
    box[BOX_LAST] = slot
    box[BOX_REUSED] = 1
    return 1


class Receiver(Operator):
    """Takes over records from a source on another host, as an engine pulls them from a driver. Their ingestion time is the start of its
    service. Stateless.

    With bounded channels it reads no faster than it serves, and what it does not take waits in the source's log. Engine profiles put one
    behind every source (docs/engines.md). Cost: that of a source, record_ps per record.
    """

    kind, title, group, icon = "receiver", "Receiver", "Stateless", "broker"
    source = "Karimov 2020, 3.2"
    position = 5
    priced_as = "source"
    on_record = staticmethod(receiver_on_record)

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

"""The end of a query: delivers records and measures their latency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.spec.base.operator import Operator
from engine.spec.base.records import RecordSchema


class Sink(Operator):
    """Delivers each record at the end of its service. Latency is defined in `measurement.latency`."""

    kind, title, group, icon = "sink", "Sink", "Sinks", "tray"
    position = 14
    outputs = ()

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        return {}

    @classmethod
    def unscaled(cls, params: Any) -> str:
        return ""

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        return []

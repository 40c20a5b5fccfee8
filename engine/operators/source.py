"""Reads the partitions of a log that lies outside the system under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.spec.base.operator import Operator
from engine.spec.base.records import RecordSchema


class Source(Operator):
    """Serves the records of its stream, one log partition per instance, and draws watermarks.

    The stream, its rate, disorder and watermarks stand in the workload. The loop itself reads the log
    (`engine/core/kernels/event_loop/sources.py`).
    """

    kind, title, group, icon = "source", "Source", "Sources", "drop"
    position = 0
    inputs = ()
    writes_only_wanted = True

    @classmethod
    def output_schemas(cls, params: Any, inputs: Mapping[str, RecordSchema]) -> dict[str, RecordSchema]:
        return {}  # the stream's schema; validation takes it from the workload

    @classmethod
    def unscaled(cls, params: Any) -> str:
        return ""

    @classmethod
    def lower(cls, params: Any, inputs: Mapping[str, RecordSchema], lowering: Any) -> list[int]:
        """Of the fields carried, those that are times: how many, and which. A generator that waits for its source moves them."""
        times = [c for c, field in enumerate(lowering.outputs["out"].fields) if field.type == "timestamp"]
        return [len(times), *times]

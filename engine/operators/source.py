"""Reads the partitions of a log outside the system under test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.spec.base.operator import Operator
from engine.spec.base.records import RecordSchema


class Source(Operator):
    """Serves the records of its stream, one log partition per instance, and generates watermarks.

    The workload defines the stream, its rate, disorder and watermarks. The event loop itself reads the log
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
        """Return number and columns of the carried timestamp fields, which a generator that waits for its source shifts."""
        times = [c for c, field in enumerate(lowering.outputs["out"].fields) if field.type == "timestamp"]
        return [len(times), *times]

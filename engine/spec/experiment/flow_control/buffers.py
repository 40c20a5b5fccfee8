"""Flow control by network buffers."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.units import Integer, quantity
from .base import FlowControl


class Buffers(FlowControl):
    """A channel has a number of network buffers of a fixed size, and holds as many records as fit into them, at least one. A sender without
    a free buffer waits."""

    title: ClassVar[str] = "Network buffers"
    source: ClassVar[str] = "Karimov 2020, 2.2"
    position: ClassVar[int] = 2
    kind: Literal["buffers"] = "buffers"
    per_channel: Integer = quantity(2, unit="buffers", ge=1, le=1_000_000, title="Per channel", description="Buffers of a channel.")
    size_bytes: Integer = quantity(32_768, unit="bytes", ge=1, le=10**9, title="Size", description="Bytes of a buffer.")

    def records(self, record_bytes: int, inputs: int, weight: int, record_ns: int) -> int:
        return max(1, self.per_channel * self.size_bytes // (record_bytes * weight))

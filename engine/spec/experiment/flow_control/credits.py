"""Credit-based flow control."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from ...base.problems import Problem, pointer
from ...base.units import Integer, Number, milliseconds_ns, quantity
from .base import AT, FlowControl


class Credits(FlowControl):
    """A channel holds a bounded number of records. A sender without credit waits, so backpressure propagates to the sources."""

    title: ClassVar[str] = "Credits"
    position: ClassVar[int] = 1
    kind: Literal["credits"] = "credits"
    per_channel: Integer = quantity(
        32, unit="records", ge=1, le=1_000_000, title="Per channel", description="Records that a channel may hold."
    )
    per_channel_bytes: Integer | None = quantity(
        None,
        unit="bytes",
        ge=1,
        le=10**12,
        title="Bytes per channel",
        description="Bytes that a channel may hold, in accounting size.",
    )
    per_instance_bytes: Integer | None = quantity(
        None,
        unit="bytes",
        ge=1,
        le=10**12,
        title="Bytes per instance",
        description="Bytes that all input channels of an instance may hold together, in equal shares.",
    )
    per_instance_ms: Number | None = quantity(
        None,
        unit="ms",
        ge=0.001,
        le=1e9,
        title="Time per instance",
        description="Service time of the records that all input channels of an instance may hold together, in equal shares of at least one "
        "record.",
    )

    def records(self, record_bytes: int, inputs: int, weight: int, record_ns: int) -> int:
        bounds = [self.per_channel // weight]
        if self.per_channel_bytes is not None:
            bounds.append(self.per_channel_bytes // (record_bytes * weight))
        if self.per_instance_bytes is not None:
            bounds.append(self.per_instance_bytes // inputs // (record_bytes * weight))
        if self.per_instance_ms is not None:
            bounds.append(max(1, milliseconds_ns(self.per_instance_ms) // (inputs * record_ns)))
        return min(bounds)

    def byte_needs(self, record_bytes: int, inputs: int) -> dict[str, tuple[int, str]]:
        shared = f", and {inputs} channels share them"
        return {"per_channel_bytes": (record_bytes, ""), "per_instance_bytes": (record_bytes * inputs, shared)}

    def scale_problems(self, scale: int, heaviest: int) -> Iterator[Problem]:
        if self.per_channel < heaviest:
            what = "one record" if heaviest == scale else f"one pair of a join, which stands for {heaviest:,} real ones"
            message = (
                f"per_channel is {self.per_channel}, less than {what} at scale {scale}; set it to at least {heaviest}, or lower the scale"
            )
            yield Problem(pointer(*AT, "per_channel"), "too_small", message, self.per_channel)

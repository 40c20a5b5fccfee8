"""How long the log of a source keeps records that nobody has read. `engine.workloads.retention` acts on these models."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ..base.units import Number, quantity, seconds_ns
from ..base.variant import Variant


class KeepAll(Variant):
    """The log keeps every record until it is read."""

    title: ClassVar[str] = "Keep all"
    kind: Literal["all"] = "all"


class KeepFor(Variant):
    """Records that have stood in the log for longer are dropped, and counted, when the log looks for them."""

    title: ClassVar[str] = "Keep for a time"
    source: ClassVar[str] = "Siachamis 2024, 4.5 (Kafka's retention.ms, 300 s in the authors' deployment)"
    kind: Literal["time"] = "time"
    keep_s: Number = quantity(300.0, unit="s", ge=0.001, le=1e8, title="Keep", description="How long at least a record stays.")
    check_s: Number = quantity(1.0, unit="s", ge=0.001, le=1e8, title="Check", description="Time between two looks for old records.")

    @property
    def keep_ns(self) -> int:
        return seconds_ns(self.keep_s)

    @property
    def check_ns(self) -> int:
        return seconds_ns(self.check_s)


AnyRetention = Annotated[KeepAll | KeepFor, Field(discriminator="kind")]

"""Retention of unread records in a source's log. `engine.workloads.retention` implements these models."""

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
    """At each check, unread records older than this are dropped from the log and counted."""

    title: ClassVar[str] = "Keep for a time"
    source: ClassVar[str] = "Siachamis 2024, 4.5 (Kafka's retention.ms, 300 s in the authors' deployment)"
    kind: Literal["time"] = "time"
    keep_s: Number = quantity(300.0, unit="s", ge=0.001, le=1e8, title="Keep", description="Minimum time that a record stays in the log.")
    check_s: Number = quantity(1.0, unit="s", ge=0.001, le=1e8, title="Check", description="Time between two checks for expired records.")

    @property
    def keep_ns(self) -> int:
        return seconds_ns(self.keep_s)

    @property
    def check_ns(self) -> int:
        return seconds_ns(self.check_s)


AnyRetention = Annotated[KeepAll | KeepFor, Field(discriminator="kind")]

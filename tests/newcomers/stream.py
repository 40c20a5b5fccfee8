"""A stream from outside the package, all of it in one file: parameters and records."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from engine.spec.base.records import RecordField, RecordSchema
from engine.spec.base.units import Integer, quantity
from engine.spec.experiment.streams.base import Stream
from engine.workloads.draws import Integers
from engine.workloads.generated import Block


class Heartbeats(Block["Heartbeat"]):
    """Devices report in turn."""

    @property
    def device(self) -> Integers:
        return self.numbers % self.stream.devices

    @property
    def count(self) -> Integers:
        return self.numbers // self.stream.devices


class Heartbeat(Stream):
    """Heartbeats of devices, which report in turn; each has the number of those that its device sent before."""

    title: ClassVar[str] = "Heartbeats"
    source: ClassVar[str] = "Newcomer et al., section 10"
    kind: Literal["heartbeat"] = "heartbeat"
    schema_fixed: ClassVar[RecordSchema | None] = RecordSchema((RecordField("device", "int"), RecordField("count", "int")))
    block: ClassVar[type[Block[Any]]] = Heartbeats
    devices: Integer = quantity(10, unit="devices", ge=1, le=10**9, title="Devices", description="Number of devices.")

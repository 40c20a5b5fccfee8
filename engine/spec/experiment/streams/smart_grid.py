"""Load readings of smart plugs."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.records import RecordSchema
from ...base.units import Integer
from .base import Stream, count


class SmartPlugReading(Stream):
    """Loads of smart plugs, by household and house, as in the DEBS 2014 challenge. The plugs report in turn.

    Every house has 2 to 10 households and every household 5 to 20 plugs, drawn once per run. A plug has a peak load (25 to 1200 W, plus or
    minus 10 W) and a switching period (ten minutes to 30 hours). In each period it is on or off with probability 1/2; when off, its load is
    0.
    """

    title: ClassVar[str] = "Smart plug readings"
    group: ClassVar[str] = "Sensors"
    icon: ClassVar[str] = "bolt"
    source: ClassVar[str] = "Heinrich et al. 2024, V; ACM DEBS 2014 Grand Challenge (synthesised)"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        0, id="int", time="timestamp", load="float", plug="int", household="int", house="int"
    )
    position: ClassVar[int] = 10
    kind: Literal["smart_plug_reading"] = "smart_plug_reading"

    houses: Integer = count(10, most=10_000, title="Houses", description="Number of houses.")

"""Linear Road's position reports."""

from __future__ import annotations

from typing import ClassVar, Literal, Self

from pydantic import Field, model_validator

from ...base.problems import Refusal
from ...base.records import RecordSchema
from ...base.units import Integer, Number
from .base import Stream, count, ratio


class LinearRoadReport(Stream):
    """Position reports of vehicles on expressways of 100 one-mile segments in both directions.

    Vehicles on the road report in turn, so a report period is `vehicles` records: one second at as many records per second. Per period, a
    vehicle covers the distance of 30 seconds on the road (the benchmark's period). It enters anywhere on lane 0, drives on lanes 1 to 3 at
    its own speed, and leaves on lane 4; in a jam it slows down. Speeds are whole mph from 0 to 100, positions are feet from the road's
    start. In an accident, two vehicles report the same position at speed 0 four times in a row.
    """

    title: ClassVar[str] = "Linear Road reports"
    group: ClassVar[str] = "Traffic"
    icon: ClassVar[str] = "map"
    source: ClassVar[str] = "Farhat 2020, 3.5; Linear Road benchmark (synthesised, without its drivers' data)"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        0, time="timestamp", vehicle="int", speed="int", xway="int", lane="int", direction="int", segment="int", position="int"
    )
    position: ClassVar[int] = 8
    kind: Literal["linear_road_report"] = "linear_road_report"

    xways: Integer = count(1, most=1000, title="Expressways", description="Number of expressways.")
    vehicles: Integer = count(
        1000, most=1_000_000, title="Vehicles", description="Vehicles on the road at a time, on all expressways together."
    )
    trip_reports: Integer = Field(
        default=60, ge=2, le=119, title="Reports per trip", description="Number of reports after which a vehicle leaves."
    )
    jam_ratio: Number = ratio(0.2, title="Jams", description="Share of ten-segment stretches that are jammed, for 20 report periods each.")
    accident_every: Integer = Field(
        default=20, ge=4, le=1_000_000, title="Accidents", description="Number of report periods per accident on each expressway."
    )

    @model_validator(mode="after")
    def _enough_for_accidents(self) -> Self:
        if self.vehicles < 2 * self.xways:
            message = f"vehicles is {self.vehicles}; it must be at least {2 * self.xways}, two per expressway ({self.xways} xways)"
            raise Refusal(message, at=("vehicles",), code="out_of_range", value=self.vehicles)
        return self

"""Taxi trips modelled on New York's."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from ...base.records import RecordSchema
from ...base.units import Integer, Number, quantity
from .base import Stream, count, ratio


class TaxiTrip(Stream):
    """Taxi trips, reported when they end, with the columns of the DEBS 2015 challenge.

    Distances are log-normal; a trip takes its distance divided by a log-normal speed; the fare is 2.50 + 2.50 per mile. Pickups are in
    zones of a grid; zone n has a probability proportional to n^-0.8. Invalid trips have no distance and no coordinates, as in the original
    data. The event time is `dropoff`; `pickup` is earlier, so it is negative at the start of the run.
    """

    title: ClassVar[str] = "Taxi trips"
    group: ClassVar[str] = "Traffic"
    icon: ClassVar[str] = "map"
    source: ClassVar[str] = "Farhat 2020, 3.5 and 4.5; ACM DEBS 2015 Grand Challenge (synthesised)"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        0,
        medallion="int",
        license="int",
        pickup="timestamp",
        dropoff="timestamp",
        trip_time_s="int",
        distance_miles="float",
        pickup_longitude="float",
        pickup_latitude="float",
        dropoff_longitude="float",
        dropoff_latitude="float",
        passengers="int",
        payment="string",
        fare="float",
        surcharge="float",
        tax="float",
        tip="float",
        tolls="float",
        total="float",
    )
    position: ClassVar[int] = 9
    kind: Literal["taxi_trip"] = "taxi_trip"

    distance_mean_miles: Number = quantity(
        2.9, unit="miles", ge=0.01, le=1000, title="Mean distance", description="Mean distance of valid trips."
    )
    distance_cv: Number = Field(
        default=1.17,
        ge=0.01,
        le=10,
        title="Distance variation",
        description="Coefficient of variation (standard deviation divided by mean).",
    )
    speed_mean_mph: Number = quantity(12.0, unit="mph", ge=0.1, le=200, title="Mean speed", description="Mean speed over all trips.")
    speed_cv: Number = Field(
        default=0.4, ge=0.01, le=5, title="Speed variation", description="Coefficient of variation (standard deviation divided by mean)."
    )
    medallions: Integer = count(13_000, title="Medallions", description="Number of taxis; each has its own driver's license.")
    zones: Integer = count(260, most=10_000, title="Zones", description="Number of pickup zones, on a grid of 13 columns.")
    zone_exponent: Number = Field(default=0.8, ge=0, le=5, title="Skew of zones", description="Exponent of the zones' Zipf distribution.")
    invalid_ratio: Number = ratio(0.03, title="Invalid trips", description="Share of trips without distance and coordinates.")

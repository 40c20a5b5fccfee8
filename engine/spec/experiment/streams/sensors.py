"""Sensor readings of a laboratory, for spike detection."""

from __future__ import annotations

from typing import ClassVar, Literal

from ...base.records import RecordSchema
from ...base.units import Integer, Number, quantity
from .base import Stream, count, ratio


class SensorReading(Stream):
    """Temperature, humidity, light and voltage from the motes of a laboratory, which report in random order.

    The temperature in degrees Celsius follows a daily cosine from 15 to 35, warmest at noon, with normal noise. A few readings are spikes
    at least 10 degrees above. A missing reading has -1 in all its values. Humidity is high when it is cold, light is high by day.
    """

    title: ClassVar[str] = "Sensor readings"
    group: ClassVar[str] = "Sensors"
    icon: ClassVar[str] = "activity"
    source: ClassVar[str] = "Heinrich et al. 2024, V; Intel Berkeley Research Lab data (synthesised)"
    schema_fixed: ClassVar[RecordSchema] = RecordSchema.of(
        0, time="timestamp", mote="int", temperature="float", humidity="float", light="float", voltage="float"
    )
    position: ClassVar[int] = 11
    kind: Literal["sensor_reading"] = "sensor_reading"

    motes: Integer = count(54, most=10_000_000, title="Motes", description="Number of motes, numbered from 1.")
    day_s: Number = quantity(
        86_400.0, unit="s", ge=0.001, le=1e8, title="Day", description="Length of a day in event time, starting at midnight."
    )
    spike_ratio: Number = ratio(0.02, title="Spikes", description="Share of the readings that are temperature spikes.")
    missing_ratio: Number = ratio(0.05, title="Missing", description="Share of the readings without values.")

"""Readings of a laboratory's sensors, as defined by the document's model."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from engine.core.mathematics import cosine
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.streams.sensors import SensorReading

from .. import draws
from ..draws import Floats, Integers
from ..generated import Block

MEAN_C, SWING_C, NOISE_C = 25.0, 10.0, 0.5
SPIKE_C, SPIKE_MORE_C = 10.0, 5.0  # minimum, and mean excess
MISSING = -1.0


class SensorReadings(Block[SensorReading]):
    makes = "sensor_reading"

    @property
    def mote(self) -> Integers:
        return 1 + self.below("mote", self.stream.motes)

    @cached_property
    def _day(self) -> Floats:
        """1 at noon, -1 at midnight."""
        day_ns = seconds_ns(self.stream.day_s)
        return -cosine((self.event_ns % day_ns) / day_ns)

    def _or_missing(self, values: Floats) -> Floats:
        return np.where(self.happens("missing", self.stream.missing_ratio), MISSING, values)

    @property
    def temperature(self) -> Floats:
        usual = MEAN_C + SWING_C * self._day + NOISE_C * self.normal("temperature")
        spike = SPIKE_C + SPIKE_MORE_C * draws.exponential(self.source.random("spike size"), self.numbers)
        return self._or_missing(np.where(self.happens("spike", self.stream.spike_ratio), usual + spike, usual))

    @property
    def humidity(self) -> Floats:
        return self._or_missing(40.0 - 10.0 * self._day + 2.0 * self.normal("humidity"))

    @property
    def light(self) -> Floats:
        return self._or_missing(np.maximum(250.0 + 250.0 * self._day + 20.0 * self.normal("light"), 0.0))

    @property
    def voltage(self) -> Floats:
        return self._or_missing(2.6 + 0.05 * self.normal("voltage"))

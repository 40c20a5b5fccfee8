"""Loads of smart plugs, as defined by the document's model."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from engine.spec.experiment.streams.smart_grid import SmartPlugReading

from ..draws import Floats, Integers
from ..generated import Block, Generated

HOUSEHOLDS_MIN, HOUSEHOLDS = 2, 9  # 2 to 10 in a house
PLUGS_MIN, PLUGS = 5, 16  # 5 to 20 in a household
PEAKS_W = np.array([25, 35, 50, 70, 150, 300, 600, 800, 900, 1200], np.float64)
PEAK_SPREAD_W = 10.0
LENGTHS_S = np.array([600, 900, 1800, 3600, 5400, 7200, 108_000], np.int64)
SECOND_NS = 1_000_000_000


class Plugs(NamedTuple):
    """By plug, over all houses."""

    house: Integers
    household: Integers  # in its house
    plug: Integers  # in its household
    peak_w: Floats
    length_ns: Integers  # of its on and off phases


class SmartPlugReadings(Block[SmartPlugReading]):
    """Record n is the reading of plug n mod (number of plugs). Houses are the same in all sources of the document."""

    makes = "smart_plug_reading"

    @classmethod
    def tables(cls, source: Generated) -> Plugs:
        houses = np.arange(source.stream.houses)
        households = HOUSEHOLDS_MIN + source.random("/households").below(houses, HOUSEHOLDS)
        house = np.repeat(houses, households)
        household = np.arange(len(house)) - np.repeat(np.cumsum(households) - households, households)
        plugs = PLUGS_MIN + source.random("/plugs").below(np.arange(len(house)), PLUGS)
        number = np.arange(int(plugs.sum()))
        peak = PEAKS_W[source.random("/peak").below(number, len(PEAKS_W))]
        spread = (source.random("/spread").below(number, 2001).astype(np.float64) - 1000.0) / 1000.0
        return Plugs(
            house=np.repeat(house, plugs),
            household=np.repeat(household, plugs),
            plug=number - np.repeat(np.cumsum(plugs) - plugs, plugs),
            peak_w=peak + PEAK_SPREAD_W * spread,
            length_ns=LENGTHS_S[source.random("/length").below(number, len(LENGTHS_S))] * SECOND_NS,
        )

    @cached_property
    def _number(self) -> Integers:
        return self.numbers % len(self.source.tables.plug)

    @property
    def id(self) -> Integers:
        return self.numbers

    @property
    def load(self) -> Floats:
        plugs: Plugs = self.source.tables
        interval = self.event_ns // plugs.length_ns[self._number]
        on = self.happens("/on", 0.5, self._number * (1 << 32) + interval)
        return np.where(on, plugs.peak_w[self._number], 0.0)

    @property
    def plug(self) -> Integers:
        plug: Integers = self.source.tables.plug[self._number]
        return plug

    @property
    def household(self) -> Integers:
        household: Integers = self.source.tables.household[self._number]
        return household

    @property
    def house(self) -> Integers:
        house: Integers = self.source.tables.house[self._number]
        return house

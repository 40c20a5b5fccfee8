"""Linear Road's position reports, as defined by the document's model."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from engine.spec.experiment.streams.linear_road import LinearRoadReport

from ..draws import Integers
from ..generated import Block, Bools

SEGMENT_FEET, SEGMENTS = 5280, 100
ROAD_FEET = SEGMENT_FEET * SEGMENTS
FEET_PER_MPH = 44  # driven in 30 s
SPEED_MAX = 100
FREE_MIN, JAM_MIN, JAM_MAX = 45, 5, 35  # mph
STRETCH_FEET, JAM_PERIODS = 10 * SEGMENT_FEET, 20
ACCIDENT_REPORTS = 4


class LinearRoadReports(Block[LinearRoadReport]):
    """Record n is the report of place n mod vehicles in period n div vehicles. Vehicles occupy a place one after the other.

    Trips have equal lengths, and each place started its first trip at a different time. Trip and place determine the vehicle's number, from
    which its road, direction, entry and speed are drawn. So a report is fully determined by its number.

    The accident of an expressway affects two neighbouring places, among the places that belong to it by their number.
    """

    makes = "linear_road_report"

    @cached_property
    def _place(self) -> Integers:
        return self.numbers % self.stream.vehicles

    @cached_property
    def _period(self) -> Integers:
        return self.numbers // self.stream.vehicles

    @cached_property
    def _since_start(self) -> Integers:
        return self._period + self.below("phase", self.stream.trip_reports, self._place)

    @cached_property
    def _age(self) -> Integers:
        """Number of reports of this trip before this one."""
        return self._since_start % self.stream.trip_reports

    @cached_property
    def vehicle(self) -> Integers:
        return self._since_start // self.stream.trip_reports * self.stream.vehicles + self._place

    @cached_property
    def _trip_direction(self) -> Integers:
        return self.below("direction", 2, self.vehicle)

    @cached_property
    def _trip_xway(self) -> Integers:
        return self.below("xway", self.stream.xways, self.vehicle)

    @cached_property
    def _entry_feet(self) -> Integers:
        """Distance from the road's start in the direction of the trip, chosen so that the fastest vehicle stays on the road."""
        return self.below("entry", ROAD_FEET - FEET_PER_MPH * SPEED_MAX * (self.stream.trip_reports - 1), self.vehicle)

    @cached_property
    def _trip_speed(self) -> Integers:
        epoch = (self._period - self._age) // JAM_PERIODS + 1000  # the first trips started before the first period
        stretch = self._entry_feet // STRETCH_FEET
        where = ((epoch * self.stream.xways + self._trip_xway) * 2 + self._trip_direction) * SEGMENTS + stretch
        jam = self.happens("jam", self.stream.jam_ratio, where)
        least, most = np.where(jam, JAM_MIN, FREE_MIN), np.where(jam, JAM_MAX, SPEED_MAX)
        return least + self.below("speed", most - least + 1, self.vehicle)

    # Accidents

    @cached_property
    def _accident(self) -> Integers:
        """The number of the accident that could affect the place in this period."""
        xway = self._place % (2 * self.stream.xways) // 2
        return self._period // self.stream.accident_every * self.stream.xways + xway

    @cached_property
    def _struck(self) -> Bools:
        pairs = self.stream.vehicles // (2 * self.stream.xways)
        pair = self.below("accident pair", pairs, self._accident)
        start = self.below("accident start", self.stream.accident_every - ACCIDENT_REPORTS + 1, self._accident)
        since = self._period % self.stream.accident_every - start
        struck: Bools = (self._place // (2 * self.stream.xways) == pair) & (since >= 0) & (since < ACCIDENT_REPORTS)
        return struck

    # Fields

    @property
    def speed(self) -> Integers:
        return np.where(self._struck, 0, self._trip_speed)

    @property
    def xway(self) -> Integers:
        return np.where(self._struck, self._accident % self.stream.xways, self._trip_xway)

    @property
    def lane(self) -> Integers:
        driving = 1 + self.below("lane", 3)
        lane = np.where(self._age == 0, 0, np.where(self._age == self.stream.trip_reports - 1, 4, driving))
        return np.where(self._struck, 1 + self.below("accident lane", 3, self._accident), lane)

    @property
    def direction(self) -> Integers:
        return np.where(self._struck, self.below("accident direction", 2, self._accident), self._trip_direction)

    @cached_property
    def position(self) -> Integers:
        driven = self._entry_feet + FEET_PER_MPH * self._trip_speed * self._age
        position = np.where(self._trip_direction == 0, driven, ROAD_FEET - 1 - driven)
        return np.where(self._struck, self.below("accident position", ROAD_FEET, self._accident), position)

    @property
    def segment(self) -> Integers:
        return self.position // SEGMENT_FEET

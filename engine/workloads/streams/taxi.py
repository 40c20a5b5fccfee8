"""Taxi trips, as defined by the document's model."""

from __future__ import annotations

from functools import cached_property
from typing import ClassVar

import numpy as np

from engine.spec.experiment.streams.taxi import TaxiTrip

from .. import draws
from ..draws import Floats, Integers
from ..generated import Block, Bools

PAYMENTS = ("CRD", "CSH", "DIS", "NOC", "UNK")
PAYMENT_BELOW = np.array([54, 98, 99, 100, 100], np.int64)  # of 100: cards 54, cash 44, then disputes and no charge
GRID_COLUMNS, CELL_DEGREES = 13, 0.01
WEST, SOUTH = -74.03, 40.68
FLAG_FALL, PER_MILE, TAX, TOLL, TIP_RATIO = 2.5, 2.5, 0.5, 5.33, 0.2
TOLL_RATIO = 0.05
PASSENGER_BELOW = np.array([70, 84, 88, 90, 96, 100], np.int64)  # of 100: alone, two, ... six
SECOND_NS = 1_000_000_000


class TaxiTrips(Block[TaxiTrip]):
    makes = "taxi_trip"
    texts: ClassVar = {"payment": PAYMENTS}

    @cached_property
    def medallion(self) -> Integers:
        return self.below("medallion", self.stream.medallions)

    @property
    def license(self) -> Integers:
        return self.medallion + 1_000_000

    @property
    def dropoff(self) -> Integers:
        return self.event_ns

    @property
    def pickup(self) -> Integers:
        return self.event_ns - self.trip_time_s * SECOND_NS

    @cached_property
    def _invalid(self) -> Bools:
        return self.happens("invalid", self.stream.invalid_ratio)

    def _lognormal(self, purpose: str, mean: float, cv: float) -> Floats:
        sigma = draws.lognormal_sigma(cv)
        median = mean / float(np.sqrt(1.0 + cv * cv))
        return median * draws.lognormal(self.source.random(purpose), self.numbers, sigma)

    @cached_property
    def _driven_miles(self) -> Floats:
        return self._lognormal("distance", self.stream.distance_mean_miles, self.stream.distance_cv)

    @cached_property
    def trip_time_s(self) -> Integers:
        mph = self._lognormal("speed", self.stream.speed_mean_mph, self.stream.speed_cv)
        return np.minimum(self._driven_miles / mph * 3600.0, 1e6).astype(np.int64)

    @property
    def distance_miles(self) -> Floats:
        return np.where(self._invalid, 0.0, self._driven_miles)

    # Places

    @cached_property
    def _pickup_zone(self) -> Integers:
        return draws.zipf(self.stream.zone_exponent, self.stream.zones).ranks(self.source.random("pickup zone"), self.numbers) - 1

    @cached_property
    def _dropoff_zone(self) -> Integers:
        return self.below("dropoff zone", self.stream.zones)

    def _longitude(self, purpose: str, zone: Integers) -> Floats:
        inside = self.unit(f"{purpose} longitude")
        return np.where(self._invalid, 0.0, WEST + CELL_DEGREES * ((zone % GRID_COLUMNS).astype(np.float64) + inside))

    def _latitude(self, purpose: str, zone: Integers) -> Floats:
        inside = self.unit(f"{purpose} latitude")
        return np.where(self._invalid, 0.0, SOUTH + CELL_DEGREES * ((zone // GRID_COLUMNS).astype(np.float64) + inside))

    @property
    def pickup_longitude(self) -> Floats:
        return self._longitude("pickup", self._pickup_zone)

    @property
    def pickup_latitude(self) -> Floats:
        return self._latitude("pickup", self._pickup_zone)

    @property
    def dropoff_longitude(self) -> Floats:
        return self._longitude("dropoff", self._dropoff_zone)

    @property
    def dropoff_latitude(self) -> Floats:
        return self._latitude("dropoff", self._dropoff_zone)

    # Money

    @property
    def passengers(self) -> Integers:
        return 1 + np.searchsorted(PASSENGER_BELOW, self.below("passengers", 100), side="right")

    @cached_property
    def _payment(self) -> Integers:
        return np.searchsorted(PAYMENT_BELOW, self.below("payment", 100), side="right")

    @property
    def payment(self) -> Integers:
        return self.text("payment", self._payment)

    @cached_property
    def fare(self) -> Floats:
        return _cents(FLAG_FALL + PER_MILE * self._driven_miles)

    @cached_property
    def surcharge(self) -> Floats:
        return 0.5 * self.below("surcharge", 3).astype(np.float64)

    @property
    def tax(self) -> Floats:
        return np.full(len(self.numbers), TAX)

    @cached_property
    def tip(self) -> Floats:
        return np.where(self._payment == 0, _cents(TIP_RATIO * self.fare), 0.0)

    @cached_property
    def tolls(self) -> Floats:
        return np.where(self.happens("tolls", TOLL_RATIO), TOLL, 0.0)

    @property
    def total(self) -> Floats:
        return _cents(self.fare + self.surcharge + TAX + self.tip + self.tolls)


def _cents(dollars: Floats) -> Floats:
    return np.floor(dollars * 100.0 + 0.5) / 100.0

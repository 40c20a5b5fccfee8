"""The laws of the taxi trips (Farhat 2020, 3.5: distance 2.9 miles with deviation 3.4; 4.5: 0.56 of the mean)."""

from __future__ import annotations

import numpy as np
import pytest

from ..made import columns, shares

COUNT = 100_000
TRIPS = columns({"kind": "taxi_trip"}, COUNT, event_ns=10**12)
VALID = TRIPS["distance_miles"] > 0


def test_distances_are_lognormal_with_the_given_mean_and_deviation():
    miles = TRIPS["distance_miles"][VALID]
    assert miles.mean() == pytest.approx(2.9, rel=0.02)
    assert miles.std() == pytest.approx(3.4, rel=0.05)
    assert np.log(miles).std() == pytest.approx(np.sqrt(np.log(1 + 1.17**2)), rel=0.01)
    calm = columns({"kind": "taxi_trip", "distance_cv": 0.56, "invalid_ratio": 0.0}, COUNT)["distance_miles"]
    assert calm.std() / calm.mean() == pytest.approx(0.56, rel=0.02)


def test_times_follow_from_distances_and_speeds():
    hours = TRIPS["trip_time_s"] / 3600
    mph = TRIPS["distance_miles"][VALID] / np.maximum(hours[VALID], 1 / 3600)
    assert np.median(mph) == pytest.approx(12 / np.sqrt(1 + 0.4**2), rel=0.03)
    assert (TRIPS["pickup"] == TRIPS["dropoff"] - TRIPS["trip_time_s"] * 10**9).all()
    assert (TRIPS["dropoff"] == 10**12).all()


def test_three_percent_are_invalid():
    assert (~VALID).mean() == pytest.approx(0.03, abs=0.003)
    for name in ("pickup_longitude", "pickup_latitude", "dropoff_longitude", "dropoff_latitude"):
        assert (TRIPS[name][~VALID] == 0).all()
        assert (TRIPS[name][VALID] != 0).all()


@pytest.mark.slow
def test_money_adds_up():
    miles, fare = TRIPS["distance_miles"][VALID], TRIPS["fare"][VALID]
    assert fare == pytest.approx(2.5 + 2.5 * miles, abs=0.0051)
    parts = sum(TRIPS[name] for name in ("fare", "surcharge", "tax", "tip", "tolls"))
    assert TRIPS["total"] == pytest.approx(parts, abs=0.0051)
    paid_by_card = np.array(TRIPS["payment"]) == "CRD"
    assert paid_by_card.mean() == pytest.approx(0.54, abs=0.01)
    assert (TRIPS["tip"][~paid_by_card] == 0).all()


def test_zones_follow_zipf_on_a_grid():
    column = np.floor((TRIPS["pickup_longitude"][VALID] + 74.03) / 0.01).astype(int)
    row = np.floor((TRIPS["pickup_latitude"][VALID] - 40.68) / 0.01).astype(int)
    zones = np.bincount(row * 13 + column)
    assert len(zones) == 260
    expected = np.arange(1, 261) ** -0.8
    expected /= expected.sum()
    assert abs(zones / zones.sum() - expected).max() < 0.004


def test_medallions_and_passengers():
    assert TRIPS["medallion"].min() >= 0
    assert TRIPS["medallion"].max() == 12_999
    assert (TRIPS["license"] - TRIPS["medallion"] == 1_000_000).all()
    assert shares(TRIPS["passengers"])[1] == pytest.approx(0.7, abs=0.01)
    assert set(TRIPS["passengers"].tolist()) == set(range(1, 7))

"""Linear Road's reports: vehicles that drive as they say, jams, accidents (Farhat 2020, 3.5)."""

from __future__ import annotations

import numpy as np
import pytest

from ..made import columns, shares

VEHICLES = 400
STREAM = {"kind": "linear_road_report", "vehicles": VEHICLES, "xways": 2}


def reports(periods: int = 200, **changes) -> dict[str, np.ndarray]:
    return columns({**STREAM, **changes}, periods * changes.get("vehicles", VEHICLES))


def test_every_vehicle_reports_once_a_period_until_its_trip_ends():
    made = reports(trip_reports=40, accident_every=1_000_000)
    for period in (0, 7, 199):
        here = made["vehicle"][period * VEHICLES : (period + 1) * VEHICLES]
        assert len(set(here.tolist())) == VEHICLES
    reported = shares(made["vehicle"])
    times = np.array([round(share * len(made["vehicle"])) for share in reported.values()])
    assert times.max() == 40
    assert (times == 40).mean() > 0.6  # but for the first and the last trips
    entering = (made["lane"] == 0).mean()
    assert entering == pytest.approx(1 / 40, rel=0.1)
    assert (made["lane"] == 4).mean() == pytest.approx(1 / 40, rel=0.1)


def test_a_vehicle_drives_on_at_its_speed_in_its_direction():
    made = reports(accident_every=1_000_000, periods=100)
    order = np.lexsort((np.arange(len(made["vehicle"])), made["vehicle"]))
    same = np.diff(made["vehicle"][order]) == 0
    moved = np.diff(made["position"][order])[same]
    speed = made["speed"][order][1:][same]
    forwards = made["direction"][order][1:][same] == 0
    assert (moved == np.where(forwards, 44 * speed, -44 * speed)).mean() > 0.99  # but for the accident
    assert (made["position"] >= 0).all()
    assert (made["position"] < 528_000).all()
    assert (made["segment"] == made["position"] // 5280).all()
    assert set(made["segment"].tolist()) == set(range(100))


def test_fields_stay_in_their_ranges_and_are_spread():
    made = reports()
    assert set(made["lane"].tolist()) == {0, 1, 2, 3, 4}
    assert shares(made["direction"]) == pytest.approx({0: 0.5, 1: 0.5}, abs=0.05)
    assert shares(made["xway"]) == pytest.approx({0: 0.5, 1: 0.5}, abs=0.05)
    assert made["speed"].min() >= 0
    assert made["speed"].max() <= 100


def test_a_share_of_the_trips_is_jammed():
    for ratio in (0.0, 0.2, 1.0):
        speed = reports(jam_ratio=ratio, periods=600)["speed"]
        driving = speed[speed > 0]
        assert (driving <= 35).mean() == pytest.approx(ratio, abs=0.06)
        assert not ((driving > 35) & (driving < 45)).any()


def test_an_accident_on_every_expressway_every_twenty_periods():
    periods = 200
    made = reports(periods)
    standing = np.flatnonzero(made["speed"] == 0)
    assert len(standing) == periods // 20 * 2 * 2 * 4  # expressways, vehicles, reports
    for epoch in range(periods // 20):
        for xway in (0, 1):
            chosen = standing[(standing // (20 * VEHICLES) == epoch) & (made["xway"][standing] == xway)]
            assert len(set(made["vehicle"][chosen].tolist())) <= 4  # a place may change its vehicle meanwhile
            assert len(set((chosen % VEHICLES).tolist())) == 2
            where = {tuple(int(made[name][n]) for name in ("lane", "direction", "segment", "position")) for n in chosen}
            assert len(where) == 1
            assert np.diff(sorted(set((chosen // VEHICLES).tolist()))).tolist() == [1, 1, 1]

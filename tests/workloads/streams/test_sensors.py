"""The laboratory's sensors: a day's curve, spikes, missing readings (Heinrich et al. 2024, V)."""

from __future__ import annotations

import numpy as np
import pytest

from ..made import columns

COUNT = 50_000
HOUR_NS = 3600 * 10**9


@pytest.mark.parametrize(("hour", "expected"), [(0, 15), (6, 25), (12, 35), (18, 25), (24, 15)])
def test_the_temperature_follows_the_day(hour, expected):
    made = columns({"kind": "sensor_reading"}, COUNT, event_ns=hour * HOUR_NS)
    there = made["temperature"] != -1
    assert (~there).mean() == pytest.approx(0.05, abs=0.005)
    spikes = made["temperature"][there] > expected + 7
    assert spikes.mean() == pytest.approx(0.02, abs=0.003)
    usual = made["temperature"][there][~spikes]
    assert usual.mean() == pytest.approx(expected, abs=0.05)
    assert usual.std() == pytest.approx(0.5, abs=0.02)


def test_a_missing_reading_has_no_values_at_all():
    made = columns({"kind": "sensor_reading"}, COUNT)
    missing = made["temperature"] == -1
    for name in ("humidity", "light", "voltage"):
        assert ((made[name] == -1) == missing).all()


def test_the_motes_are_numbered_from_one():
    motes, counts = np.unique(columns({"kind": "sensor_reading"}, COUNT)["mote"], return_counts=True)
    assert motes.tolist() == list(range(1, 55))
    assert abs(counts / COUNT * 54 - 1).max() < 0.15


def test_a_day_can_be_short():
    noon = columns({"kind": "sensor_reading", "day_s": 10.0, "spike_ratio": 0.0, "missing_ratio": 0.0}, COUNT, event_ns=5 * 10**9)
    assert noon["temperature"].mean() == pytest.approx(35, abs=0.05)

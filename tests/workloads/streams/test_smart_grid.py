"""The houses, households, plugs and loads (Heinrich et al. 2024, V)."""

from __future__ import annotations

import numpy as np
import pytest

from ..made import columns, generated

STREAM = {"kind": "smart_plug_reading", "houses": 40}
HOUR_NS = 3600 * 10**9


def test_houses_have_households_and_households_have_plugs():
    plugs = len(generated(STREAM).tables.plug)
    made = columns(STREAM, plugs)
    triples = set(zip(made["house"].tolist(), made["household"].tolist(), made["plug"].tolist(), strict=True))
    assert len(triples) == plugs
    households = {house: {h for other, h, _ in triples if other == house} for house in range(40)}
    assert {len(each) for each in households.values()} == set(range(2, 11))
    assert all(each == set(range(len(each))) for each in households.values())
    sizes = {(house, household): 0 for house in households for household in households[house]}
    for house, household, _ in triples:
        sizes[house, household] += 1
    assert (min(sizes.values()), max(sizes.values())) == (5, 20)
    assert columns(STREAM, 1, first=plugs)["plug"][0] == made["plug"][0]


def test_plugs_are_on_half_of_the_time_at_their_own_load():
    plugs = len(generated(STREAM).tables.plug)
    loads = np.stack([columns(STREAM, plugs, event_ns=hour * 40 * HOUR_NS)["load"] for hour in range(60)])
    assert (loads > 0).mean() == pytest.approx(0.5, abs=0.02)
    peaks = loads.max(axis=0)
    assert all(len(set(column[column > 0].tolist())) == 1 for column in loads.T)
    nominal = np.array([25, 35, 50, 70, 150, 300, 600, 800, 900, 1200])
    nearest = nominal[abs(peaks[:, None] - nominal).argmin(axis=1)]
    assert abs(peaks - nearest).max() <= 10
    assert set(nearest.tolist()) == set(nominal.tolist())


def test_a_plug_stays_on_or_off_for_its_length():
    made = generated(STREAM)
    lengths = made.tables.length_ns
    assert set((lengths // 10**9).tolist()) == {600, 900, 1800, 3600, 5400, 7200, 108_000}
    short = int(np.flatnonzero(lengths == 600 * 10**9)[0])
    seconds = np.arange(0, 60_000, 60)
    load = made.words(np.full(1000, short), seconds * 10**9)[:, made.schema.index("load")]
    changes = np.flatnonzero(np.diff(load)) + 1
    assert len(changes) > 20
    assert (seconds[changes] % 600 == 0).all()


def test_all_sources_see_the_same_houses():
    one, other = (columns(STREAM, 100, operator_id=id) for id in ("a", "b"))
    assert all((one[name] == other[name]).all() for name in ("house", "household", "plug", "load"))

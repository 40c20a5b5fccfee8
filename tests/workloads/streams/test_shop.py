"""Purchases and advertisements (Karimov 2020, 3.5), and the revenue experiments' variant of them."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from ..made import columns, shares

COUNT = 60_000


def test_gem_packs_are_normal_around_the_middle():
    packs = shares(columns({"kind": "purchase"}, COUNT)["gem_pack"])
    law = NormalDist(32, 64 / 6)
    for pack in (10, 20, 32, 50):
        assert packs[pack] == pytest.approx(law.cdf(pack + 0.5) - law.cdf(pack - 0.5), abs=0.003)
    assert packs[0] == pytest.approx(law.cdf(0.5), abs=0.002)  # all that lies below is cut to it
    assert (min(packs), max(packs)) == (0, 63)


def test_prices_and_users_are_uniform():
    made = columns({"kind": "purchase", "users": 50}, COUNT)
    assert (made["price"].min(), made["price"].max(), made["price"].mean()) == (1, 100, pytest.approx(50.5, abs=0.5))
    assert abs(np.bincount(made["user"]) / COUNT * 50 - 1).max() < 0.15


def test_a_single_key():
    made = columns({"kind": "ad_shown", "skew": {"kind": "hot", "share": 1.0}}, COUNT)
    assert set(made["gem_pack"].tolist()) == {0}


def test_ten_packs_by_rounding_with_the_pack_as_price():
    """The ids 1 and 10 are half as frequent, and the mean price is 5.5."""
    made = columns({"kind": "purchase", "gem_packs": 10, "skew": {"kind": "rounded"}, "price": "gem_pack"}, COUNT)
    expected = {price: 1 / 18 if price in (1, 10) else 1 / 9 for price in range(1, 11)}
    assert shares(made["price"]) == pytest.approx(expected, abs=0.006)
    assert made["price"].mean() == pytest.approx(5.5, abs=0.05)
    assert (made["price"] == made["gem_pack"] + 1).all()


def test_other_laws_of_keys():
    zipf = shares(columns({"kind": "purchase", "skew": {"kind": "zipf", "exponent": 1.0}}, COUNT)["gem_pack"])
    assert zipf[0] / zipf[9] == pytest.approx(10, rel=0.15)
    uniform = shares(columns({"kind": "purchase", "skew": {"kind": "uniform"}}, COUNT)["gem_pack"])
    assert all(share == pytest.approx(1 / 64, rel=0.2) for share in uniform.values())
    one = columns({"kind": "purchase", "gem_packs": 1, "skew": {"kind": "rounded"}}, 100)["gem_pack"]
    assert set(one.tolist()) == {0}
    hot = shares(columns({"kind": "purchase", "skew": {"kind": "hot", "share": 0.5, "keys": 4}}, COUNT)["gem_pack"])
    assert sum(hot[key] for key in range(4)) == pytest.approx(0.5 + 0.5 * 4 / 64, abs=0.01)


def test_purchases_are_104_bytes():
    """So 1.2 million a second fill a link of 1 Gbit/s."""
    from ..made import generated

    assert generated({"kind": "purchase"}).schema.bytes == generated({"kind": "ad_shown"}).schema.bytes == 104

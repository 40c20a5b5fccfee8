"""The laws of the Yahoo benchmark's events (Farhat 2020, 3.5 and 4.5)."""

from __future__ import annotations

import pytest

from ..made import columns, shares

COUNT = 60_000


def test_views_are_a_third_and_types_are_uniform():
    events = columns({"kind": "yahoo_event"}, COUNT)
    assert shares(events["event_type"]) == pytest.approx(dict.fromkeys(("view", "click", "purchase"), 1 / 3), abs=0.01)
    types = ("banner", "modal", "sponsored-search", "mail", "mobile")
    assert shares(events["ad_type"]) == pytest.approx(dict.fromkeys(types, 0.2), abs=0.01)


def test_a_hundred_campaigns_of_ten_ads_each_equally_often():
    events = columns({"kind": "yahoo_event"}, COUNT)
    assert (events["ad"].min(), events["ad"].max()) == (0, 999)
    campaigns = shares(events["ad"] // 10)
    assert len(campaigns) == 100
    assert all(share == pytest.approx(0.01, abs=0.002) for share in campaigns.values())


def test_the_weights_have_the_deviation_that_makes_sampling_worthwhile():
    interest = columns({"kind": "yahoo_event"}, COUNT)["interest"]
    assert interest.mean() == pytest.approx(1, abs=0.01)
    assert interest.std() == pytest.approx(0.53, abs=0.01)
    assert interest.min() > 0
    calm = columns({"kind": "yahoo_event", "interest_cv": 0.1}, COUNT)["interest"]
    assert (calm.mean(), calm.std()) == (pytest.approx(1, abs=0.01), pytest.approx(0.1, abs=0.005))


def test_one_ad_can_be_hot():
    ads = shares(columns({"kind": "yahoo_event", "skew": {"kind": "hot", "share": 0.3}}, COUNT)["ad"])
    assert ads[0] == pytest.approx(0.3 + 0.7 / 1000, abs=0.01)
    assert max(share for ad, share in ads.items() if ad) < 0.002

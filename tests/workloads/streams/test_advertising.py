"""Impressions and clicks: their laws, and that a click repeats its impression (Heinrich et al. 2024, V)."""

from __future__ import annotations

import numpy as np
import pytest

from ..made import columns, shares

COUNT = 60_000
IMPRESSIONS = columns({"kind": "ad_impression"}, COUNT)
CLICKS = columns({"kind": "ad_click"}, COUNT // 28, operator_id="clicks")


@pytest.mark.slow
def test_ads_and_queries_have_zipf_laws():
    for name, ranks in (("ad", 600_000), ("query", 20_000_000)):
        weights = np.arange(1, ranks + 1, dtype=float) ** -1.1
        found = shares(IMPRESSIONS[name])
        assert found[0] == pytest.approx(1 / weights.sum(), rel=0.05)
        assert found[9] == pytest.approx(weights[9] / weights.sum(), rel=0.1)
        assert max(found) < ranks


def test_what_belongs_to_an_ad_or_a_query_is_the_same_for_all_of_its_impressions():
    for owner, names in (("ad", ("advertiser", "url", "title", "description")), ("query", ("keyword",))):
        first: dict[int, tuple] = {}
        for number in range(5000):
            values = tuple(IMPRESSIONS[name][number] for name in names)
            assert first.setdefault(int(IMPRESSIONS[owner][number]), values) == values
    assert (IMPRESSIONS["key"] == IMPRESSIONS["ad"] * 20_000_000 + IMPRESSIONS["query"]).all()


def test_places_on_the_page():
    assert shares(IMPRESSIONS["depth"]) == pytest.approx({1: 1 / 3, 2: 1 / 3, 3: 1 / 3}, abs=0.01)
    assert (IMPRESSIONS["position"] <= IMPRESSIONS["depth"]).all()
    assert IMPRESSIONS["position"].min() == 1
    assert all(url.endswith(".example") for url in IMPRESSIONS["url"])


def test_a_click_repeats_the_impression_that_it_belongs_to():
    newest = np.arange(COUNT // 28) * 28
    behind = newest - CLICKS["impression"]
    assert behind.min() >= 0
    assert CLICKS["impression"].min() == 0
    assert len(set(CLICKS["impression"][:30].tolist())) > 25
    assert behind.max() == pytest.approx(999, abs=5)
    for name in ("ad", "query", "advertiser", "depth", "position", "user"):
        assert (CLICKS[name] == IMPRESSIONS[name][CLICKS["impression"]]).all()
    assert CLICKS["url"] == [IMPRESSIONS["url"][number] for number in CLICKS["impression"]]

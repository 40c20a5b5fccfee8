"""The lab of the benchmark of a large lab: alike on both databases, and asked every question that it can answer.

Catches: runs that differ between the databases, so that the same search finds other shares of them, and questions left out in silence.
"""

from __future__ import annotations

from itertools import pairwise

import pytest
from django.test import Client

from benchmarks import lab_size, large_runs

RUNS = 400
SHARES = {"took>5": 0.5, "took>9": 0.1, "q7": 1 / 12, "state=failed": 0.25, "author:ada": 0.25, "tag:good": 1 / 3, "seed=3": 0.02}
"""Part of the runs that a search finds. The first runs are of fifty seeds each."""


@pytest.mark.django_db(transaction=True)
def test_searches_find_the_same_shares_of_the_runs_on_both_databases(client: Client) -> None:
    assert list(large_runs.filled(RUNS, 6, {})) == ["runs"]
    for search, share in SHARES.items():
        answer = client.get("/api/runs", {"search": search, "sort": "-p99"})
        assert (answer.status_code, answer.json()["count"]) == (200, pytest.approx(share * RUNS, abs=3)), search
    told = client.get("/api/runs/points", {"field": ["p99", "o4/params/size", "took"], "search": "has:p99"}).json()
    assert told["count"] == RUNS
    assert all(newer == older + 1 for newer, older in pairwise(told["numbers"]))
    places = lab_size.places()
    assert {"run", "hash", "experiment", "few", "many"} == set(places), "a lab of runs alone"
    asked = {name for name, path in lab_size.ASKED.items() if lab_size.address_of(path, places) is not None}
    assert {"a hash", "compare: four of five seeds each", "compare: four of fifty seeds each", "runs in the queue by p50"} <= asked
    assert "a study" not in asked
    assert large_runs.filled(RUNS, 6, {}) == {}, "it is there already"


def test_a_misspelt_place_is_no_question_left_out() -> None:
    assert lab_size.address_of("/api/studies/{study}", {"run": 1}) is None
    with pytest.raises(KeyError, match="runn"):
        lab_size.address_of("/api/runs/{runn}", {"run": 1})

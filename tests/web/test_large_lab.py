"""The lab of the benchmark of a large lab: alike on both databases, and asked every question that it can answer.

Catches: runs that differ between the databases, so that the same search finds other shares of them, and questions left out in silence.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from benchmarks import lab_size, large_runs
from webapp.lab.models import Run
from workers import caretaker

RUNS = 400
SHARES = {"took>5": 0.5, "took>9": 0.1, "q7": 1 / 12, "state=failed": 0.25, "author:ada": 0.25, "tag:good": 1 / 3, "seed=3": 0.02}
"""Part of the runs that a search finds. The first runs are of fifty seeds each."""

OF_COLUMNS = ["sort=state", "sort=-took", "state=failed", "search=q7", "search=took>5 seed=3", "search=assertions:holds"]
OF_ROWS = ["p99>990", "p99!=10", "o4/params/size=17", "o3/params/size=kind3", "o3/params/size!=kind3", "tag:good", "tag!=good"]


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


def plans_of_runs(client: Client, query: str) -> dict[str, list[str]]:
    """Return the queries of runs that a list makes, each with the steps of SQLite's plan."""
    with CaptureQueriesContext(connection) as captured:
        assert client.get(f"/api/runs?{query}").status_code == 200
    plans = {}
    with connection.cursor() as cursor:
        for sql in (one["sql"] for one in captured if 'FROM "lab_run"' in one["sql"]):
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}")
            plans[sql] = [row[3] for row in cursor.fetchall()]
    return plans


@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
def test_lists_on_sqlite_read_no_rows_but_those_of_their_page(client: Client) -> None:
    """Catches: lists that read the documents of all runs, which takes half a second with 100,000 runs."""
    large_runs.filled(RUNS, 6, {})
    for query in [*OF_COLUMNS, *(f"search={search}" for search in OF_ROWS)]:
        plans = plans_of_runs(client, query)
        assert plans
        for sql, steps in plans.items():
            of_runs = [step for step in steps if "lab_run " in step]
            assert all("COVERING INDEX" in step or "(id=?)" in step for step in of_runs), (query, steps, sql)
            assert not any("CORRELATED" in step for step in steps), (query, steps, sql)


@pytest.mark.one_database
@pytest.mark.django_db(transaction=True)
def test_sqlite_finds_the_runs_of_a_setup_without_reading_all_of_the_lab() -> None:
    """Catches: no statistics, without which SQLite takes all indexes for equally selective."""
    large_runs.filled(RUNS, 6, {})
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE sqlite_stat1")
    connection.close()
    caretaker.tidy()
    connection.close()  # statistics are read when a connection is made
    same = Run.objects.filter(lab__isnull=False, deleted_at__isnull=True)
    found: Any = same.filter(lab=same[0].lab_id, setup__in=[same[0].setup]).values_list("number")
    assert "setup" in found.explain()


@pytest.mark.django_db
def test_a_metric_that_no_run_has_yet_is_not_suggested_for_itself(client: Client) -> None:
    refused = client.get("/api/runs?search=p99>1")
    assert (refused.status_code, refused.json()["detail"]) == (422, "no run of the lab has measured p99 yet; runs have it when they end")

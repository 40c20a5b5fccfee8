"""What is asked all the time, while nothing happens, reads the runs in progress and no others. Catches: a server with many runs that is
busy with nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from benchmarks import large_runs
from webapp.lab import fair_turns, person_limits, quota, waiting_work
from webapp.lab.models import Executor, Lab, Run
from webapp.live.rows import rows_of_lab
from workers import caretaker

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.one_database]
RUNS = 200

ASKED: dict[str, Callable[[Lab], Any]] = {
    "the sweeper": lambda lab: caretaker.sweep(),
    "runs for Spark": lambda lab: list(Run.objects.for_spark()[:3]),
    "whose turn it is": lambda lab: list(fair_turns.order("00000000-0000-0000-0000-000000000000")),
    "what a person has waiting": lambda lab: person_limits.check_waiting(lab, "ada"),
    "who waits": lambda lab: waiting_work.somebody_waits(Executor.WORKERS),
    "what pages show": lambda lab: rows_of_lab.func(lab.pk, set()),
}


@pytest.fixture
def lab() -> Lab:
    """A lab of many runs that have ended, with the statistics that workers refresh."""
    large_runs.filled(RUNS, 6, {})
    return Lab.objects.get()


def asked_of_runs(action: Callable[[], Any]) -> list[tuple[str, Any]]:
    """Return the queries of runs that the action makes, each with its parameters."""
    asked: list[tuple[str, Any]] = []

    def noted(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        asked.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(noted):
        action()
    return [(sql, parameters) for sql, parameters in asked if 'FROM "lab_run" ' in sql]


@pytest.mark.parametrize("what", ASKED)
def test_only_runs_in_progress_are_read(lab: Lab, what: str) -> None:
    """With parameters, as the queries have them: with their values in the text, more plans would use the index."""
    lab.person_limits = {"waiting": 5}
    of_runs = asked_of_runs(lambda: ASKED[what](lab))
    assert of_runs
    with connection.cursor() as cursor:
        for sql, parameters in of_runs:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
            steps = [row[3] for row in cursor.fetchall() if "lab_run " in row[3]]
            assert steps, sql
            assert all("INDEX active_runs" in step or "sqlite_autoindex_lab_run_1 (id=?)" in step for step in steps), (steps, sql)


def test_sums_over_all_runs_read_an_index_alone(lab: Lab) -> None:
    """Catches: a page of sizes that takes seconds in a large lab, since each run is joined with each experiment."""
    [(sql, parameters)] = asked_of_runs(lambda: quota.largest_experiments(lab))
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
        plan = [row[3] for row in cursor.fetchall()]
    read = [step for step in plan if step.startswith(("SCAN", "SEARCH"))]
    assert ["INDEX bytes_of_runs" in step for step in read] == [True], plan

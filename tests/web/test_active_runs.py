"""What is asked all the time, while nothing happens, reads the runs in progress and no others. Catches: a server with many runs that is
busy with nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from webapp.lab import fair_turns, person_limits, waiting_work
from webapp.lab.models import Executor, Lab, Run
from webapp.live.rows import rows_of_lab
from workers import caretaker

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

ASKED: dict[str, Callable[[Lab], Any]] = {
    "the sweeper": lambda lab: caretaker.sweep(),
    "runs for Spark": lambda lab: list(Run.objects.for_spark()[:3]),
    "whose turn it is": lambda lab: list(fair_turns.order("00000000-0000-0000-0000-000000000000")),
    "what a person has waiting": lambda lab: person_limits.check_waiting(lab, "ada"),
    "who waits": lambda lab: waiting_work.somebody_waits(Executor.WORKERS),
    "what pages show": lambda lab: rows_of_lab.func(lab.pk, set()),
}


@pytest.mark.parametrize("what", ASKED)
def test_only_runs_in_progress_are_read(lab: Lab, what: str) -> None:
    """With parameters, as the queries have them: with their values in the text, more plans would use the index."""
    lab.person_limits = {"waiting": 5}
    asked: list[tuple[str, Any]] = []

    def noted(execute: Any, sql: str, parameters: Any, many: bool, context: Any) -> Any:
        asked.append((sql, parameters))
        return execute(sql, parameters, many, context)

    with connection.execute_wrapper(noted):
        ASKED[what](lab)
    of_runs = [(sql, parameters) for sql, parameters in asked if 'FROM "lab_run" ' in sql]
    assert of_runs
    with connection.cursor() as cursor:
        for sql, parameters in of_runs:
            cursor.execute(f"EXPLAIN QUERY PLAN {sql}", parameters)
            steps = [row[3] for row in cursor.fetchall() if "lab_run " in row[3]]
            assert steps, sql
            assert all("INDEX active_runs" in step or "sqlite_autoindex_lab_run_1 (id=?)" in step for step in steps), (steps, sql)

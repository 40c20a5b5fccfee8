"""A worker whose database is away waits. Catches: a traceback for each piece of work in the queue, work that fails or is forgotten."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest
from django.db import DatabaseError, IntegrityError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from webapp.lab.models import Lab, Run, RunState
from webapp.lib.outages import DATABASE
from workers import caretaker, figures, learning, outages, waterfalls
from workers.execution import SHUTTING_DOWN
from workers.identity import new_holder
from workers.outages import waiting_for_the_database
from workers.spark.outcomes import outcome_of

from .conftest import small_document
from .executing import queued

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("outages_take_no_time")]


@pytest.fixture(autouse=True)
def afterwards_all_is_there(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(outages, "AGAIN_S", 0.001)
    yield
    DATABASE.since_s = None
    SHUTTING_DOWN.clear()


class Work:
    """Work that meets these errors, one after the other, before it is done."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.done: list[str] = []

    def __call__(self, id: str) -> None:
        if self.errors:
            raise self.errors.pop(0)
        self.done.append(id)


def away() -> OperationalError:
    return OperationalError("connection refused")


def test_work_begins_again_until_the_database_is_back_and_the_log_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    work = Work(away(), away(), away())
    task = waiting_for_the_database(work)
    with caplog.at_level(logging.INFO):
        task("one")
        task("two")
    assert work.done == ["one", "two"]
    said = [record.getMessage() for record in caplog.records]
    assert said == ["the database cannot be reached (connection refused)", "the database is back after 0 s"]
    assert not any(record.exc_info for record in caplog.records)


def test_an_error_of_a_statement_is_no_outage() -> None:
    error = IntegrityError("twice")
    error.__cause__ = sqlite3.IntegrityError("twice")
    work = Work(error)
    with pytest.raises(DatabaseError, match="twice"):
        waiting_for_the_database(work)("one")
    assert DATABASE.since_s is None


def test_a_worker_that_shuts_down_does_not_wait() -> None:
    SHUTTING_DOWN.set()
    work = Work(*(away() for _ in range(3)))
    waiting_for_the_database(work)("one")
    assert (work.done, len(work.errors)) == ([], 2)


def test_what_an_outage_left_behind_is_released_and_nothing_else(lab: Lab) -> None:
    """A run of another process keeps its lease, and a cancelled one is left to the sweeper."""
    mine, cancelled, of_others = (queued(lab, small_document()) for _ in range(3))
    for run, holder in ((mine, new_holder()), (cancelled, new_holder()), (of_others, "host:place:1:1:abc")):
        assert Run.objects.claim(run.pk, holder)
    Run.objects.filter(pk=cancelled.pk).update(cancel_requested=True)
    waiting_for_the_database(Work(away()))("one")
    states = {run.pk: run.state for run in Run.objects.filter(pk__in=[mine.pk, cancelled.pk, of_others.pk])}
    assert states == {mine.pk: RunState.QUEUED, cancelled.pk: RunState.RUNNING, of_others.pk: RunState.RUNNING}


@pytest.mark.parametrize("outcome", [waterfalls._outcome, learning._outcome, figures._outcome])
def test_other_work_is_not_failed_by_an_outage(outcome: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*args: Any, **named: Any) -> None:
        raise away()

    monkeypatch.setattr(waterfalls, "_make", gone)
    monkeypatch.setattr(figures, "_make", gone)
    monkeypatch.setattr(learning, "Client", gone)
    with pytest.raises(OperationalError):
        outcome(MagicMock(), MagicMock())
    with pytest.raises(OperationalError):
        outcome_of(gone, "the question", Path("/nowhere"), "ask for less")


def test_a_caretaker_is_silent_while_the_tables_are_being_made(caplog: pytest.LogCaptureFixture) -> None:
    """The first worker starts beside the migrations of a new installation, or of an update."""
    latest = MigrationRecorder.Migration.objects.filter(app="lab").latest("applied")
    error = missing_column()
    latest.delete()
    caretaker.tell(error)
    assert not caplog.records
    MigrationRecorder(connection).record_applied("lab", latest.name)
    caretaker.tell(error)
    assert [record.getMessage() for record in caplog.records] == [f"cannot look for lost work: {error}"]


def missing_column() -> DatabaseError:
    with pytest.raises(DatabaseError) as raised, connection.cursor() as cursor:
        cursor.execute("SELECT no_such_column FROM lab_run")
    return raised.value

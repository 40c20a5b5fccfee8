"""A worker whose database is away waits. Catches: a traceback for each piece of work in the queue, work that fails or is forgotten."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator

import pytest
from django.db import DatabaseError, IntegrityError, OperationalError

from webapp.lib.outages import DATABASE
from workers import outages
from workers.execution import SHUTTING_DOWN
from workers.outages import waiting_for_the_database

pytestmark = pytest.mark.usefixtures("outages_take_no_time")


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

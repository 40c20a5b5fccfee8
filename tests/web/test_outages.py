"""The database or the disk is away. Catches: a 500, a traceback, a line in the log for each request, a statement's own error taken for an
outage."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg2
import pytest
from django.db import DatabaseError, OperationalError, connection
from django.test import Client

from webapp.lib.outages import DATABASE, DISK, Outage, away

from .conftest import small_document

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("outages_take_no_time")]
JSON = "application/json"


@pytest.fixture(autouse=True)
def everything_is_there() -> Iterator[None]:
    yield
    DATABASE.since_s = DISK.since_s = None


@contextmanager
def read_only() -> Iterator[None]:
    """The database refuses to be written, as on a disk that has become read-only."""
    on, off = ("PRAGMA query_only = ON", "PRAGMA query_only = OFF")
    if connection.vendor == "postgresql":
        on, off = ("SET default_transaction_read_only = on", "SET default_transaction_read_only = off")
    with connection.cursor() as cursor:
        cursor.execute(on)
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(off)


def create(client: Client) -> Any:
    return client.post("/api/experiments", json.dumps({"document": small_document()}), content_type=JSON)


def test_a_database_that_cannot_be_written_is_named(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    """Reading goes on. The log tells of the outage once, and of its end."""
    with read_only():
        for _ in range(3):
            answer = create(client)
            assert answer.status_code == 503
            assert answer.headers["Retry-After"] == "5"
            assert answer.json() == {"detail": "the database cannot be written; try again in 5 s", "problems": []}
            assert client.get("/api/runs").status_code == 200
            assert client.post("/api/validate", json.dumps({"document": small_document()}), content_type=JSON).status_code == 200
    assert create(client).status_code == 201
    said = [record.getMessage() for record in caplog.records if record.levelname in ("ERROR", "WARNING")]
    assert len(said) == 2, said
    assert said[0].startswith("the database cannot be written (")
    assert said[1].startswith("the database is back after 0 s")
    assert not any(record.exc_info for record in caplog.records)


@pytest.mark.one_database
def test_a_full_database_is_named(client: Client) -> None:
    """Only SQLite can be told how large it may be. Pages that are free, as after other tests, would still take the document."""
    with connection.cursor() as cursor:
        cursor.execute("VACUUM")
        cursor.execute("PRAGMA page_count")
        (pages,) = cursor.fetchone()
        cursor.execute(f"PRAGMA max_page_count = {pages}")
    try:
        document = {**small_document(), "description": "x" * 100_000}
        answer = client.post("/api/experiments", json.dumps({"document": document}), content_type=JSON)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1073741823")
    assert answer.status_code == 503
    assert answer.json()["detail"].startswith("the database has no room left on its disk")


def of_server(state: str) -> DatabaseError:
    class OfServer(Exception):
        pgcode = state

    error = OperationalError("wrapped, as Django does")
    error.__cause__ = OfServer("of the server")
    return error


@pytest.mark.parametrize(
    ("state", "what"),
    [
        ("08006", "cannot be reached"),
        ("57P01", "is stopping or starting"),
        ("57P03", "is stopping or starting"),
        ("53100", "has no resources left"),
        ("53300", "has no resources left"),
        ("25006", "cannot be written"),
        ("57014", None),  # a statement was cancelled
        ("40P01", None),  # a deadlock: another try helps at once
    ],
)
def test_states_of_postgresql(state: str, what: str | None) -> None:
    assert away(of_server(state)) == (None if what is None else (DATABASE, what))


def test_no_server() -> None:
    with pytest.raises(psycopg2.OperationalError) as refused:
        psycopg2.connect("host=127.0.0.1 port=1 connect_timeout=5")
    error = OperationalError(str(refused.value))
    error.__cause__ = refused.value
    assert away(error) == (DATABASE, "cannot be reached")


def test_an_error_of_a_statement_is_no_outage() -> None:
    with pytest.raises(DatabaseError) as wrong, connection.cursor() as cursor:
        cursor.execute("SELECT nothing FROM nowhere")
    assert away(wrong.value) is None
    assert away(ValueError("x")) is None
    assert away(None) is None


@pytest.mark.parametrize(
    ("number", "what"), [(errno.ENOSPC, "has no room left on its disk"), (errno.EROFS, "cannot be written"), (errno.ENOENT, None)]
)
def test_errors_of_the_disk(number: int, what: str | None) -> None:
    assert away(OSError(number, "x")) == (None if what is None else (DISK, what))


def test_an_outage_begins_and_ends_once(caplog: pytest.LogCaptureFixture) -> None:
    outage = Outage("the part")
    outage.over()
    for _ in range(3):
        outage.note("is busy", ValueError("two\nlines"))
    for _ in range(3):
        outage.over()
    assert [record.getMessage() for record in caplog.records] == ["the part is busy (two lines)", "the part is back after 0 s"]

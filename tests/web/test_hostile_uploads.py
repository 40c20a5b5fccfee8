"""Uploads are read in a process of their own. Catches: a limit that does not hold, a process that outlives its client, work of one person
that makes others wait, what is left behind."""

from __future__ import annotations

import asyncio
import multiprocessing
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests.support.patience import PATIENCE_S
from webapp.lab.models import Dataset, Membership
from webapp.lib.clients import GONE
from webapp.lib.limited import Abandoned, LimitExceeded, Limits, WorkFailed, call
from webapp.lib.turns import TooManyWaiting, Turns

from .conftest import wait_for
from .sockets import in_thread, session_cookie

LIMITS = Limits(memory_mb=256, cpu_s=1, wall_s=PATIENCE_S)
WIDE = b"t," + b",".join(b"c%d" % n for n in range(9000)) + b"\n2026-01-01" + b",abc" * 9000 + b"\n"
"""Takes seconds: each column may have any type."""


def greedy(name: str, *arguments: Any, limits: Limits = LIMITS, is_gone: Callable[[], bool] = lambda: False) -> Any:
    try:
        return call(f"tests.web.greedy:{name}", arguments, limits, is_gone)
    finally:
        assert multiprocessing.active_children() == []


def test_what_keeps_to_its_limits_answers() -> None:
    assert greedy("hold", 100) == 100 << 20


def test_limits_hold() -> None:
    with pytest.raises(LimitExceeded, match="needs more than 256 MB of memory"):
        greedy("hold", 300)
    with pytest.raises(LimitExceeded, match="needs more than 256 MB of memory"):
        greedy("abort")  # as libraries do where memory ends
    with pytest.raises(LimitExceeded, match="takes more than 1 s of processor time"):
        greedy("spin")
    with pytest.raises(LimitExceeded, match="takes longer than 0 s"):
        greedy("sleep", limits=Limits(256, 1, 0.3))
    with pytest.raises(WorkFailed, match="status 3"):
        greedy("leave")


def test_nobody_works_for_a_client_that_has_gone() -> None:
    with pytest.raises(Abandoned):
        greedy("sleep", is_gone=lambda: True)


@pytest.mark.django_db
def test_the_process_has_nothing_of_the_web_process(client: Client) -> None:
    client.get("/api/datasets")
    with (Path(settings.DATA_DIR) / "open").open("w") as open_file:
        assert open_file.name not in greedy("connections")
        assert not [name for name in greedy("connections") if name.startswith(str(settings.DATA_DIR))]


@pytest.fixture
def nothing_is_left(lab: Any) -> Any:
    yield
    assert list(Path(settings.UPLOADS_DIR).iterdir()) == []
    assert Dataset.objects.count() == 0


def upload(client: Client, content: bytes, path: str = "/api/datasets") -> Any:
    return client.post(path, {"file": SimpleUploadedFile("wide.csv", content)})


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/api/datasets", "/api/datasets/preview"])
def test_a_file_that_takes_too_long_is_refused(client: Client, nothing_is_left: None, settings: Any, path: str) -> None:
    settings.READING_CPU_S_MAX, settings.READING_MB_MAX = 1, 16_000  # where cores are fast, it needs much memory first
    answer = upload(client, WIDE, path)
    assert answer.status_code == 422
    assert answer.json()["detail"] == "reading the file takes more than 1 s of processor time; upload a sample of it"
    assert answer.json()["problems"][0]["pointer"] == "/file"


@pytest.mark.django_db
def test_a_file_that_needs_too_much_memory_is_refused(client: Client, nothing_is_left: None, settings: Any) -> None:
    settings.READING_MB_MAX = 8
    answer = upload(client, b"t,c\n" + b"2026-01-01,1\n" * 2_000_000)
    assert answer.status_code == 422
    assert answer.json()["detail"] == "reading the file needs more than 8 MB of memory; upload a sample of it"


@pytest.mark.django_db
def test_somebody_with_too_many_uploads_is_told(client: Client, nothing_is_left: None, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = Turns(at_once=1, per_person=1, waiting_max=0)
    monkeypatch.setattr("webapp.lab.reading.UPLOADS", turns)
    with turns.turn("somebody else"):
        answer = upload(client, b"t,c\n2026-01-01,1\n")
    assert answer.status_code == 429
    assert answer.json()["detail"].startswith("uploads and previews are read in turn, and 0 of yours are waiting already")


@pytest.mark.django_db(transaction=True)
def test_an_upload_ends_when_its_client_goes(owner: Membership, nothing_is_left: None) -> None:
    """The request as the server has it: its body, and then the end of its connection."""

    async def visit() -> None:
        boundary = b"x"
        body = b'--x\r\nContent-Disposition: form-data; name="file"; filename="wide.csv"\r\n\r\n' + WIDE + b"\r\n--x--\r\n"
        cookie = await session_cookie(owner)
        token = b"t" * 32
        headers = [
            (b"host", b"localhost"),
            (b"cookie", cookie + b"; csrftoken=" + token),
            (b"x-csrftoken", token),
            (b"content-type", b"multipart/form-data; boundary=" + boundary),
            (b"content-length", str(len(body)).encode()),
        ]
        from webapp.asgi import application

        scope = {"type": "http", "method": "POST", "path": "/api/datasets", "query_string": b"", "headers": headers}
        request = ApplicationCommunicator(application, scope)
        await request.send_input({"type": "http.request", "body": body, "more_body": False})
        await in_thread(wait_for, multiprocessing.active_children, "a reader")
        await request.send_input({"type": "http.disconnect"})
        await in_thread(wait_for, lambda: not multiprocessing.active_children(), "the end of the reader")
        await request.wait(timeout=PATIENCE_S)

    asyncio.run(visit())
    wait_for(lambda: not list(Path(settings.UPLOADS_DIR).iterdir()), "the end of the request")


def test_a_view_can_ask_whether_its_client_has_gone() -> None:
    from webapp.lib.clients import Departures

    seen: list[bool] = []

    async def view(scope: dict[str, Any], receive: Any, send: Any) -> None:
        seen.append(scope[GONE]())
        await receive()
        seen.append(scope[GONE]())
        await receive()
        seen.append(scope[GONE]())

    async def visit() -> None:
        messages = iter([{"type": "http.request"}, {"type": "http.disconnect"}])

        async def receive() -> dict[str, Any]:
            return next(messages)

        await Departures(view)({"type": "http"}, receive, None)

    asyncio.run(visit())
    assert seen == [False, False, True]


class Worker(threading.Thread):
    """Waits for a turn of `who`, and keeps it until it is told."""

    def __init__(self, turns: Turns, who: str, order: list[str]) -> None:
        super().__init__(daemon=True)
        self.turns, self.who, self.order, self.done = turns, who, order, threading.Event()
        self.start()

    def run(self) -> None:
        with self.turns.turn(self.who):
            self.order.append(self.who)
            self.done.wait(PATIENCE_S)

    def end(self) -> None:
        self.done.set()
        self.join(PATIENCE_S)


def test_turns_are_fair() -> None:
    """Two at once, one per person. Who has asked for much waits for himself."""
    turns, order = Turns(at_once=2, per_person=1, waiting_max=3), []  # type: ignore[var-annotated]
    greedy_ones = [Worker(turns, "ann", order) for _ in range(4)]
    wait_for(lambda: order == ["ann"] and turns.waiting("ann") == 3, "three of Ann's to wait")
    with pytest.raises(TooManyWaiting, match="3 of yours are waiting already"), turns.turn("ann"):
        pass
    other = Worker(turns, "bob", order)
    wait_for(lambda: order == ["ann", "bob"], "Bob's turn")
    third = Worker(turns, "cid", order)
    wait_for(lambda: turns.waiting("cid") == 1, "Cid to wait")
    other.end()
    wait_for(lambda: order == ["ann", "bob", "cid"], "Cid's turn, not Ann's second")
    for worker in (third, *greedy_ones):
        worker.done.set()
    wait_for(lambda: order == ["ann", "bob", "cid", "ann", "ann", "ann"], "Ann's others")
    for worker in greedy_ones:
        worker.end()
    assert turns.waiting("ann") == 0


def test_who_has_gone_gives_up_his_place() -> None:
    turns = Turns(at_once=1, per_person=1, waiting_max=3)
    with turns.turn("ann"), pytest.raises(Abandoned), turns.turn("bob", lambda: True):
        pass
    with turns.turn("cid"):
        assert turns.waiting("bob") == 0

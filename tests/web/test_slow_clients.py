"""Clients that are slow, idle or strange hold nothing up. Catches: a connection that is kept for headers that never come, a body that is
waited for without end, a large body of a stranger that is read."""

from __future__ import annotations

import asyncio
import resource
import socket
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest
import uvicorn
from asgiref.testing import ApplicationCommunicator
from django.db import OperationalError
from launcher.services import free_port

from tests.support.patience import PATIENCE_S
from webapp import protocol
from webapp.accounts.models import ApiToken
from webapp.asgi import application
from webapp.lab.models import Membership
from webapp.lib import body_limit
from webapp.lib.outages import DATABASE

from .conftest import ROOT, wait_for
from .sockets import session_cookie


async def hello(scope: dict[str, Any], receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture
def port(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    monkeypatch.setattr(protocol, "HEADERS_S", 1.5)
    number = free_port(tmp_path / "port")
    times: Any = {"timeout_keep_alive": 75, "timeout_graceful_shutdown": 1}
    config = uvicorn.Config(hello, port=number, http=protocol.LimitedH11, lifespan="off", log_level="critical", **times)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_for(lambda: server.started, "the server")
    yield number
    server.should_exit = True
    thread.join(PATIENCE_S)


def connected(port: int, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), PATIENCE_S)
    client.sendall(sent)
    return client


def answer_of(client: socket.socket) -> bytes:
    """Until its end, or that of the connection."""
    found = b""
    while not found.endswith(b"ok") and (part := client.recv(1000)):
        found += part
    return found


REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET", REQUEST[:-2], b"POST / HTTP/1.1\r\nX: " + b"x" * 10_000])
def test_headers_that_do_not_come_are_not_waited_for(port: int, sent: bytes) -> None:
    with connected(port, sent) as client:
        assert client.recv(100) == b"", "closed"


def test_the_next_request_of_a_connection_has_its_time_too(port: int) -> None:
    with connected(port, REQUEST) as client:
        assert answer_of(client).endswith(b"ok")
        client.sendall(REQUEST)
        assert answer_of(client).endswith(b"ok")
        client.sendall(REQUEST[:-2])
        assert client.recv(100) == b"", "closed"


def test_what_is_between_two_requests_is_no_slow_header(port: int) -> None:
    with connected(port, REQUEST) as client:
        assert answer_of(client).endswith(b"ok")
        threading.Event().wait(1.5 * protocol.HEADERS_S)
        client.sendall(REQUEST)
        assert answer_of(client).endswith(b"ok")


def test_a_header_of_a_megabyte_is_refused(port: int) -> None:
    with connected(port) as client:
        with suppress(OSError):  # the server may close while it is sent
            client.sendall(b"GET / HTTP/1.1\r\nX: " + b"x" * 1_000_000 + b"\r\n\r\n")
        with suppress(ConnectionResetError):
            assert b"400" in client.recv(1000)


def test_idle_connections_keep_nobody_out(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEADERS_S", 60.0)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    idle = [connected(port) for _ in range(1000 if hard == resource.RLIM_INFINITY else min(1000, (hard - 500) // 2))]  # both ends are here
    with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f"http://127.0.0.1:{port}/", timeout=PATIENCE_S) as answer:
        assert answer.read() == b"ok"
    for client in idle:
        client.close()


def request(path: str, *headers: tuple[bytes, bytes]) -> ApplicationCommunicator:
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": [(b"host", b"localhost"), *headers]}
    return ApplicationCommunicator(application, scope)


async def status(asked: ApplicationCommunicator) -> int:
    start = await asked.receive_output(PATIENCE_S)
    await asked.receive_output(PATIENCE_S)
    await asked.wait(PATIENCE_S)
    found: int = start["status"]
    return found


def test_a_body_that_stalls_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body_limit, "PART_S", 0.05)

    async def visit() -> int:
        asked = request("/api/experiments", (b"content-length", b"100"))
        await asked.send_input({"type": "http.request", "body": b"{", "more_body": True})
        return await status(asked)

    assert asyncio.run(visit()) == 408


@pytest.mark.django_db(transaction=True)
def test_large_bodies_of_strangers_are_not_read(owner: Membership) -> None:
    token = ApiToken.issue(owner, "laptop", "write")[1]

    async def visit() -> list[int]:
        cookie = await session_cookie(owner)
        strange = [(b"x", b"y"), (b"authorization", b"Bearer millrace_none"), (b"cookie", cookie.partition(b"=")[0] + b"=none")]
        found = [await status(request("/api/datasets", header)) for header in strange]  # the body never comes
        for header in [(b"authorization", f"Bearer {token}".encode()), (b"cookie", cookie)]:
            asked = request("/api/datasets", header)
            await asked.send_input({"type": "http.request", "body": b"", "more_body": False})
            found.append(await status(asked))
        return found

    assert asyncio.run(visit()) == [401, 401, 401, 422, 403]  # a form without a file; a session without its CSRF header


@pytest.mark.django_db(transaction=True)
def test_an_upload_while_the_database_is_away_is_told_so(owner: Membership, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before Django has the request, nothing turns an error of the database into a 503."""

    def away(*_: Any) -> None:
        raise OperationalError("away")

    for place in ("webapp.accounts.strangers.by_token", "webapp.api.authentication.by_token"):
        monkeypatch.setattr(place, away)

    async def visit() -> int:
        asked = request("/api/datasets", (b"authorization", b"Bearer millrace_x"))
        await asked.send_input({"type": "http.request", "body": b"", "more_body": False})
        return await status(asked)

    assert asyncio.run(visit()) == 503
    DATABASE.over(written=True)  # the next test has one


@pytest.mark.parametrize("file", ["Dockerfile", "scripts/launcher/services.py"])
def test_the_server_speaks_this_protocol(file: str) -> None:
    assert "webapp.protocol:LimitedH11" in (ROOT / file).read_text()

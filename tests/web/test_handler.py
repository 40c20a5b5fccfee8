"""Requests run in threads that stay. Catches: a thread for each request, a connection that is kept, a thread that is lost to an error."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import pytest
from django.core.signals import request_started
from django.db import close_old_connections, connection, reset_queries
from django.http import HttpRequest, HttpResponse

from webapp.handler import OneThreadHandler


@pytest.fixture
def handler() -> Iterator[OneThreadHandler]:
    yield OneThreadHandler()
    for receiver in (close_old_connections, reset_queries):
        request_started.connect(receiver)


@pytest.mark.django_db(transaction=True)
async def test_one_thread_serves_one_request_after_the_other(handler: OneThreadHandler, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[threading.Thread] = []
    opened: list[bool] = []

    def view(request: HttpRequest) -> HttpResponse:
        threads.append(threading.current_thread())
        opened.append(connection.connection is not None)
        if request.path == "/broken":
            raise SystemError("broken")
        connection.ensure_connection()
        return HttpResponse(request.path)

    monkeypatch.setattr(handler, "get_response", view)
    monkeypatch.setattr(connection.__class__, "is_in_memory_db", lambda self: False, raising=False)  # such a one is never closed
    client = httpx.AsyncClient(transport=httpx.ASGITransport(handler, raise_app_exceptions=False), base_url="http://127.0.0.1")
    async with client:
        assert (await client.get("/one")).text == "/one"
        assert (await client.get("/broken")).status_code == 500
        for _ in range(8):
            assert (await client.get("/two")).text == "/two"
    assert len(set(threads)) < len(threads), "a thread has answered before it counts as free: a request that comes then has another one"
    assert threading.current_thread() not in threads
    assert all(thread.is_alive() for thread in threads)
    assert not any(opened)

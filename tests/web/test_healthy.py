"""Whether parts are at work, as containers ask. Catches: a part that is called healthy after it died, or ill while it works."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from django.conf import settings
from django.test import Client

from webapp.lib.redis_connection import connection
from webapp.messaging import advice
from webapp.messaging.heartbeats import KEY, VALID_S, send_heartbeat, tell_spark_state
from workers.healthy import is_healthy, main, serves
from workers.identity import HOST, worker_name

from .conftest import RedisProcess


@pytest.mark.parametrize("part", ["worker", "analysis", "advice"])
def test_a_part_is_healthy_while_it_gives_signs(redis: RedisProcess, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", settings.REDIS_URL)
    assert main([part]) == 1
    send_heartbeat(worker_name())
    tell_spark_state("asleep", "local", "")
    advice.tell_state(advice.SHIPPED, False, "no models", [])
    assert main([part]) == 0


def test_only_a_worker_of_the_same_host_counts_and_only_for_a_moment(redis: RedisProcess) -> None:
    connection().zadd(KEY, {"elsewhere:1:2:3": time.time(), f"{HOST}:1:2:3": time.time() - VALID_S - 1})
    assert not is_healthy("worker", connection(), HOST)
    assert is_healthy("worker", connection(), "elsewhere")


def test_what_cannot_be_asked_is_ill(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for url in ("redis://127.0.0.1:1", "nonsense", ""):
        monkeypatch.setenv("REDIS_URL", url)
        assert main(["worker"]) == 1
        assert capsys.readouterr().err.startswith("worker cannot be asked: ")
    assert main(["other"]) == main([]) == 2


class Named(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if (self.headers["Host"], self.path) == ("lab.example", "/api/health/ready") else 400)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), Named) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_the_web_server_is_asked_under_a_name_that_it_allows(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALLOWED_HOSTS", ".lab.example, other.example")
    assert serves(port)
    monkeypatch.setenv("ALLOWED_HOSTS", "other.example")
    with pytest.raises(OSError, match="400"):
        serves(port)


@pytest.mark.django_db
def test_alive_and_ready_are_apart(redis: RedisProcess, caplog: pytest.LogCaptureFixture) -> None:
    """A lab without a worker serves pages; one without Redis lives, and is not ready. Who asks all the time makes no log grow."""
    stranger = Client(HTTP_HOST="127.0.0.1")

    def statuses() -> list[int]:
        return [stranger.get(f"/api/health{path}").status_code for path in ("/live", "/ready", "")]

    assert statuses() == [200, 200, 503]
    send_heartbeat(worker_name())
    assert statuses() == [200, 200, 200]
    redis.stop()
    assert statuses() == [200, 503, 503]
    assert json.loads(stranger.get("/api/health/ready").content)["redis"] is False
    assert [record.getMessage() for record in caplog.records if record.name == "django.request"] == []

"""Forwarded headers are believed from configured proxies only. Catches: addresses that a client makes up for itself."""

from __future__ import annotations

import asyncio
from ipaddress import ip_network
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from webapp import environment
from webapp.lib.proxies import FORWARDED, ForwardedHeaders

from .conftest import ROOT

PROXIES = [ip_network("10.0.0.0/8"), ip_network("::1")]


def seen(client: tuple[str, int] | None, scheme: str = "http", kind: str = "http", **headers: str) -> dict[str, Any]:
    """The scope that the application gets."""
    found: dict[str, Any] = {}

    async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
        found.update(scope)

    given = [(name.replace("_", "-").encode(), value.encode("latin-1")) for name, value in headers.items()]
    scope = {"type": kind, "scheme": scheme, "client": client, "headers": [(b"host", b"lab"), *given]}
    asyncio.run(ForwardedHeaders(application, PROXIES)(scope, None, None))
    assert not FORWARDED & {name for name, _ in found["headers"]}
    assert (b"host", b"lab") in found["headers"]
    return found


def test_a_client_cannot_choose_its_address(caplog: pytest.LogCaptureFixture) -> None:
    for client in (("192.0.2.7", 1), None):
        found = seen(client, x_forwarded_for="10.1.1.1", x_forwarded_proto="https", forwarded="for=10.1.1.1", x_real_ip="10.1.1.1")
        assert (found["client"], found["scheme"]) == (client, "http")
    assert [record.getMessage()[:43] for record in caplog.records] == [
        "forwarded headers from 192.0.2.7 are ignored"[:43],
        "forwarded headers from a socket are ignored"[:43],
    ]


@pytest.mark.parametrize(
    ("said", "client"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("198.51.100.1, 203.0.113.9", "203.0.113.9"),  # what stands before it the client has written itself
        ("198.51.100.1, 203.0.113.9, 10.0.0.2", "203.0.113.9"),  # two proxies of ours
        ("203.0.113.9, nonsense", "10.0.0.1"),
        ("", "10.0.0.1"),
        ("10.0.0.7", "10.0.0.1"),
        ("2001:db8::5", "2001:db8::5"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
    ],
)
def test_a_proxy_says_who_asks(said: str, client: str) -> None:
    assert seen(("10.0.0.1", 1), x_forwarded_for=said)["client"][0] == client


@pytest.mark.parametrize(
    ("said", "scheme"), [("https", "https"), ("HTTPS", "https"), ("http, https", "https"), ("https, http", "http"), ("gopher", "http")]
)
def test_a_proxy_says_whether_it_was_over_tls(said: str, scheme: str) -> None:
    assert seen(("10.0.0.1", 1), x_forwarded_proto=said)["scheme"] == scheme
    assert seen(("::1", 1), "ws", "websocket", x_forwarded_proto=said)["scheme"] == scheme.replace("http", "ws")


def test_the_setting_names_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MILLRACE_PROXIES", "127.0.0.1, 172.18.0.0/16")
    assert [str(network) for network in environment.networks("MILLRACE_PROXIES")] == ["127.0.0.1/32", "172.18.0.0/16"]
    monkeypatch.setenv("MILLRACE_PROXIES", "172.18.0.1/16")
    with pytest.raises(ImproperlyConfigured, match=r"MILLRACE_PROXIES has '172.18.0.1/16'; it must be an address or a network"):
        environment.networks("MILLRACE_PROXIES")


@pytest.mark.parametrize("file", ["Dockerfile", "scripts/launcher/services.py"])
def test_the_server_believes_nobody_by_itself(file: str) -> None:
    """Uvicorn believes everything that comes from this machine, unless it is told not to."""
    assert "--no-proxy-headers" in (ROOT / file).read_text()

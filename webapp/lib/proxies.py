"""Forwarded headers: whom to believe. A proxy in front says in them where a request comes from, and whether that was over TLS. Anybody else
could write the same, to sign in as often as they like under made-up addresses."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

log = logging.getLogger(__name__)

Networks = Sequence[IPv4Network | IPv6Network]
FOR, PROTO = b"x-forwarded-for", b"x-forwarded-proto"
FORWARDED = {FOR, PROTO, b"x-forwarded-host", b"x-forwarded-port", b"x-real-ip", b"forwarded"}
SECURE = {"http": "https", "ws": "wss"}


class ForwardedHeaders:
    """ASGI middleware. Of requests from `proxies` the scope gets the client's address and scheme; no forwarded header goes further."""

    def __init__(self, application: Any, proxies: Networks) -> None:
        self.application, self.proxies = application, proxies
        self.told = False

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] in ("http", "websocket"):
            given = {name: value for name, value in scope["headers"] if name in FORWARDED}
            if given:
                scope = {**scope, "headers": [pair for pair in scope["headers"] if pair[0] not in FORWARDED]}
                self._believe(scope, given)
        await self.application(scope, receive, send)

    def _believe(self, scope: dict[str, Any], given: dict[bytes, bytes]) -> None:
        peer = address_of((scope.get("client") or ("",))[0])
        if not self._is_proxy(peer):
            if not self.told:  # once: who is not believed must not fill the log
                self.told = True
                log.warning("forwarded headers from %s are ignored; if that is your proxy, add it to MILLRACE_PROXIES", peer or "a socket")
            return
        # each proxy adds its peer at the end, so the last one that is no proxy of ours is who has asked
        known = [address_of(part.strip()) for part in given.get(FOR, b"").decode("latin-1").split(",")]
        client = next((address for address in reversed(known) if address is None or not self._is_proxy(address)), None)
        if client is not None:
            scope["client"] = (str(client), 0)
        if given.get(PROTO, b"").decode("latin-1").split(",")[-1].strip().lower() == "https":
            scope["scheme"] = SECURE.get(scope.get("scheme", "http"), scope.get("scheme", "http"))

    def _is_proxy(self, address: IPv4Address | IPv6Address | None) -> bool:
        return address is not None and any(address in network for network in self.proxies)


def address_of(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text.removeprefix("[").removesuffix("]"))
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, IPv6Address) else found

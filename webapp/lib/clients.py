"""Whether the client of a request still waits for its answer."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.http import HttpRequest

GONE = "millrace.gone"


class Departures:
    """ASGI middleware: views, which run in threads, can ask whether the client has gone."""

    def __init__(self, application: Any) -> None:
        self.application = application

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        gone = threading.Event()

        async def watched() -> dict[str, Any]:
            message: dict[str, Any] = await receive()
            if message["type"] == "http.disconnect":
                gone.set()
            return message

        await self.application({**scope, GONE: gone.is_set}, watched, send)


def is_gone(request: HttpRequest) -> Callable[[], bool]:
    """Return what tells whether the client has gone. Without ASGI it never has."""
    found: Callable[[], bool] = getattr(request, "scope", {}).get(GONE, lambda: False)
    return found

"""Refuse too large request bodies before Django reads them; ASGI servers pass on bodies of any size."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


class BodyTooLarge(Exception):
    """The application read past the limit."""


class BodyLimit:
    """ASGI middleware: 413 when the body is larger than `limit_bytes(path)`, announced (Content-Length) or counted (chunked)."""

    def __init__(self, application: Any, limit_bytes: Callable[[str], int]) -> None:
        self.application, self.limit_bytes = application, limit_bytes

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self.application(scope, receive, send)
            return
        limit_bytes = self.limit_bytes(scope["path"])
        announced = dict(scope["headers"]).get(b"content-length", b"")
        if announced.isdigit() and int(announced) > limit_bytes:
            await refuse(send, limit_bytes)
            return
        seen_bytes = 0
        answered = False

        async def counted() -> dict[str, Any]:
            nonlocal seen_bytes
            message: dict[str, Any] = await receive()
            seen_bytes += len(message.get("body", b""))
            if seen_bytes > limit_bytes:
                raise BodyTooLarge
            return message

        async def watched(message: dict[str, Any]) -> None:
            nonlocal answered
            answered = True
            await send(message)

        try:
            await self.application(scope, counted, watched)
        except BodyTooLarge:
            if not answered:
                await refuse(send, limit_bytes)


async def refuse(send: Any, limit_bytes: int) -> None:
    detail = f"the request body exceeds the limit of {limit_bytes:,} bytes; send a smaller one"
    body = json.dumps({"detail": detail, "problems": []}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": body})

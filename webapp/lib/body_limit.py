"""Refuse request bodies that are too large, before Django reads them, or that do not come; ASGI servers pass on all of them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

PART_S = 30.0
"""How long the next part of a body may take."""


class BodyTooLarge(Exception):
    """The application read past the limit."""


class BodyTooSlow(Exception):
    """The next part of the body did not come."""


class BodyLimit:
    """ASGI middleware: 413 when the body is larger than `limit_bytes(path)`, announced (Content-Length) or counted (chunked); 408 when it
    stalls."""

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
        answered = complete = False

        async def counted() -> dict[str, Any]:
            nonlocal seen_bytes, complete
            try:
                message: dict[str, Any] = await asyncio.wait_for(receive(), None if complete else PART_S)
            except TimeoutError:
                raise BodyTooSlow from None
            complete = not message.get("more_body", False)
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
        except BodyTooSlow:
            if not answered:
                await send_error(send, 408, f"no part of the request body came for {PART_S:.0f} s; send it again")


async def refuse(send: Any, limit_bytes: int) -> None:
    await send_error(send, 413, f"the request body exceeds the limit of {limit_bytes:,} bytes; send a smaller one")


async def send_error(send: Any, status: int, detail: str) -> None:
    body = json.dumps({"detail": detail, "problems": []}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""The pages' WebSockets, as the application sees them."""

from __future__ import annotations

from typing import Any

from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY

from tests.support.patience import PATIENCE_S
from webapp.accounts.sessions import SessionStore
from webapp.asgi import application
from webapp.lab.models import Membership


class Socket(ApplicationCommunicator):
    """The application's side of a WebSocket, without a server in between."""

    def __init__(self, address: str, headers: list[tuple[bytes, bytes]]) -> None:
        path, _, query = address.partition("?")
        scope = {"type": "websocket", "path": path, "query_string": query.encode(), "headers": headers, "subprotocols": []}
        super().__init__(application, scope)

    async def connect(self) -> None:
        await self.send_input({"type": "websocket.connect"})
        assert (await self.receive_output(timeout=PATIENCE_S))["type"] == "websocket.accept"

    async def receive(self, timeout_s: float) -> str:
        message = await self.receive_output(timeout=timeout_s)
        assert message["type"] == "websocket.send", message
        text: str = message["text"]
        return text

    async def send(self, text: str) -> None:
        await self.send_input({"type": "websocket.receive", "text": text})

    async def disconnect(self) -> None:
        await self.send_input({"type": "websocket.disconnect", "code": 1000})
        await self.wait(timeout=PATIENCE_S)


def in_thread(function: Any, *arguments: Any, **named: Any) -> Any:
    return sync_to_async(function)(*arguments, **named)


async def close_code(address: str, headers: list[tuple[bytes, bytes]]) -> int | None:
    """The code with which the server closes at once, or None if it goes on."""
    socket = Socket(address, headers)
    await socket.connect()
    message = await socket.receive_output(timeout=PATIENCE_S)
    await socket.disconnect()
    return message.get("code") if message["type"] == "websocket.close" else None


@sync_to_async
def session_cookie(membership: Membership) -> bytes:
    session = SessionStore()
    session[SESSION_KEY] = str(membership.user.pk)
    session[BACKEND_SESSION_KEY] = "django.contrib.auth.backends.ModelBackend"
    session[HASH_SESSION_KEY] = membership.user.get_session_auth_hash()
    session.save()
    return f"{settings.SESSION_COOKIE_NAME}={session.session_key}".encode()

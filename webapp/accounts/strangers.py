"""Large bodies of strangers are refused before they are read."""

from __future__ import annotations

from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from typing import Any

from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.db import Error, close_old_connections

from webapp.lib.body_limit import send_error

from .access import NoMember, NotSignedIn, by_token
from .sessions import SessionStore


class StrangersRefused:
    """ASGI middleware: 401 where `is_large(path)` and neither session nor token is known. Rights are checked later, as for all requests."""

    def __init__(self, application: Any, is_large: Callable[[str], bool]) -> None:
        self.application, self.is_large = application, is_large

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        uploads = scope["type"] == "http" and scope["method"] == "POST" and self.is_large(scope["path"])
        if uploads and not await sync_to_async(is_known, thread_sensitive=False)(scope):
            await send_error(send, 401, "sign in before you upload: the body was not read")
            return
        await self.application(scope, receive, send)


def is_known(scope: dict[str, Any]) -> bool:
    """Whether the request has a token or a session that exists. While the database is away, the view says so."""
    close_old_connections()
    try:
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        scheme, _, token = headers.get(b"authorization", "").strip().partition(" ")
        if scheme.lower() == "bearer":
            try:
                by_token(token)
            except (NotSignedIn, NoMember):
                return False
            return True
        return has_session(headers.get(b"cookie", ""))
    except Error:
        return True
    finally:
        close_old_connections()


def has_session(cookies: str) -> bool:
    try:
        found = SimpleCookie(cookies).get(settings.SESSION_COOKIE_NAME)
    except CookieError:
        return False
    if found is None:
        return False
    session = SessionStore(found.value)
    return all(session.get(name) for name in (SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY))

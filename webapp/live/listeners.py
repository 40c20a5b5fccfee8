"""Who may listen: checked when a connection begins, and every LOOK_S from then on.

All connections of this process are checked together, and equal credentials once. Each check takes a thread and a database connection;
checks for each of 50 viewers took a quarter of the server's time.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Protocol
from urllib.parse import urlsplit

from channels.db import database_sync_to_async
from django.conf import settings
from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser
from django.db import DatabaseError
from django.http.request import split_domain_port, validate_host

from webapp.accounts.access import NoMember, NotSignedIn, by_session, by_token
from webapp.accounts.rights import Right
from webapp.accounts.sessions import SessionStore
from webapp.lab.models import Membership
from webapp.lib.outages import note

log = logging.getLogger(__name__)

UNAUTHENTICATED, NO_MEMBER, OUT_OF_SCOPE = 4401, 4403, 4405
"""Close codes: clients should not reconnect after these, unless someone signs in."""
LOOK_S = 2.0


class Refused(Exception):
    """The connection is closed with a close code and a reason."""

    def __init__(self, code: int, reason: str) -> None:
        self.code, self.reason = code, reason
        super().__init__(reason)


@dataclass(frozen=True)
class Credentials:
    """What a connection has shown: a token, or the key of a session if one of our own pages opened it."""

    token: str | None = None
    session_key: str | None = None

    @classmethod
    def of(cls, scope: dict[str, Any]) -> Credentials:
        headers = dict(scope["headers"])
        scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").strip().partition(" ")
        if scheme.lower() == "bearer":
            return cls(token=token)
        return cls(session_key=scope["session"].session_key if same_origin(headers) else None)

    def membership(self) -> Membership:
        """Authenticate anew. Raises Refused."""
        try:
            if self.token is not None:
                asker = by_token(self.token)
            else:
                session = SessionStore(self.session_key)  # a new one: the connection's does not notice its own end
                user = AnonymousUser() if self.session_key is None else get_user(SimpleNamespace(session=session))  # type: ignore[arg-type]
                asker = by_session(user, session)
        except NotSignedIn as refused:
            raise Refused(UNAUTHENTICATED, str(refused)) from None
        except NoMember as refused:
            raise Refused(NO_MEMBER, str(refused)) from None
        refusal = asker.refusal(Right.READ)
        if refusal:
            raise Refused(OUT_OF_SCOPE, refusal)
        return asker.membership


class Listener(Protocol):
    credentials: Credentials

    async def looked_up(self, found: Membership | Refused) -> None:
        """Called every LOOK_S. Raises nothing."""


class Listeners:
    """The connections of this process. Used from one event loop."""

    def __init__(self) -> None:
        self.present: set[Listener] = set()
        self.task: asyncio.Task[None] | None = None
        self.telling = False

    def enter(self, listener: Listener) -> None:
        self.present.add(listener)
        if self.task is None or self.task.done():
            self.task = asyncio.create_task(self._look())

    def leave(self, listener: Listener) -> None:
        self.present.discard(listener)
        if not self.present and self.task is not None and not self.telling:  # else it ends by itself
            self.task.cancel()
            self.task = None

    async def _look(self) -> None:
        while self.present:
            await asyncio.sleep(LOOK_S)
            try:
                found = await database_sync_to_async(look_up)({listener.credentials for listener in self.present})
            except DatabaseError as error:
                if not note(error):
                    log.warning("cannot check who may listen (%s), retrying", error)
                continue
            except Exception:
                log.exception("cannot check who may listen, retrying")
                continue
            told = [one.looked_up(found[one.credentials]) for one in self.present if one.credentials in found]  # others came since
            self.telling = True
            await asyncio.gather(*told)
            self.telling = False


LISTENERS = Listeners()


def look_up(all: Iterable[Credentials]) -> dict[Credentials, Membership | Refused]:
    found: dict[Credentials, Membership | Refused] = {}
    for credentials in all:
        try:
            found[credentials] = credentials.membership()
        except Refused as refused:
            found[credentials] = refused
    return found


def same_origin(headers: dict[bytes, bytes]) -> bool:
    """Browsers send cookies with sockets opened by any page, so the Origin must be this server (or a trusted one)."""
    host, origin = headers.get(b"host", b"").decode("latin-1"), headers.get(b"origin", b"").decode("latin-1")
    domain, _ = split_domain_port(host)
    if not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    try:
        return urlsplit(origin).netloc == host or origin in settings.CSRF_TRUSTED_ORIGINS
    except ValueError:  # it is no address
        return False

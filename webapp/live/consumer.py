"""The WebSocket of a run: `/ws/runs/<id>?after=N`. It reads and passes on; it computes nothing."""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from typing import Any
from urllib.parse import parse_qs, urlsplit

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.http.request import split_domain_port, validate_host

from webapp.accounts.models import ApiToken
from webapp.lab.models import Membership, Run
from webapp.lab.people import membership_of
from webapp.lab.shapes import RunShape

from .feed import FEEDS

log = logging.getLogger(__name__)

# Application codes: a client that gets one of these need not try again.
BAD_REQUEST, UNAUTHENTICATED, NOT_FOUND = 4400, 4401, 4404


class RunConsumer(AsyncWebsocketConsumer):
    """Follow one run: its row at connect and at each change, every frame after N once and in order, and the end.

    The connection is accepted before it is refused, because a browser learns the reason only from a close code.
    """

    sender: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        membership = await database_sync_to_async(self._membership)()
        if membership is None:
            await self.close(UNAUTHENTICATED, "sign in first")
            return
        try:
            after = int(parse_qs(self.scope["query_string"].decode()).get("after", ["-1"])[-1])
            if after < -1:
                raise ValueError
        except (ValueError, UnicodeDecodeError):
            await self.close(BAD_REQUEST, "after must be the number of the last frame seen, or -1")
            return
        run_id = self.scope["url_route"]["kwargs"]["run_id"]
        run = await database_sync_to_async(Run.objects.filter(pk=run_id, lab=membership.lab, deleted_at__isnull=True).first)()
        if run is None:
            await self.close(NOT_FOUND, "there is no such run")
            return
        self.sender = asyncio.create_task(self._send_all(run, after))

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            kind = json.loads(text_data or "").get("type")
        except (ValueError, AttributeError, RecursionError):
            return
        if kind == "ping":
            await self.send('{"type":"pong"}')

    async def disconnect(self, code: int) -> None:
        if self.sender:
            self.sender.cancel()

    async def _send_all(self, run: Run, after: int) -> None:
        try:
            async with FEEDS.feed(run.pk, run.directory, lambda: load_row(run.pk)) as feed:
                async for message in feed.messages(after):
                    await self.send(message)
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("run %s: the live stream broke", run.pk)
            await self.close(1011, "something went wrong on the server; connect again")

    def _membership(self) -> Membership | None:
        """Whoever has a bearer token, or a session cookie and comes from our own page."""
        headers = dict(self.scope["headers"])
        scheme, _, token = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
        if scheme.lower() == "bearer":
            user = ApiToken.user_of(token.strip())
            return membership_of(user) if user else None
        if not same_origin(headers):
            return None
        return membership_of(self.scope["user"])


def same_origin(headers: dict[bytes, bytes]) -> bool:
    """Browsers send cookies along with sockets opened by any page, so the Origin must be this server (or a trusted one)."""
    host, origin = headers.get(b"host", b"").decode("latin-1"), headers.get(b"origin", b"").decode("latin-1")
    domain, _ = split_domain_port(host)
    if not validate_host(domain, settings.ALLOWED_HOSTS):
        return False
    return urlsplit(origin).netloc == host or origin in settings.CSRF_TRUSTED_ORIGINS


@database_sync_to_async
def load_row(run_id: uuid.UUID) -> dict[str, Any] | None:
    run = Run.objects.defer("document").filter(pk=run_id, deleted_at__isnull=True).first()
    return RunShape.of(run).model_dump(mode="json") if run else None

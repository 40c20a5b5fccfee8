"""The WebSockets of the pages. They only forward messages.

`/ws/runs/<id>?after=N` follows one run; `/ws/news` follows changes of all the lab's runs and questions.
"""

from __future__ import annotations

import asyncio
import json
import logging
import uuid
from contextlib import aclosing
from functools import partial
from typing import Any
from urllib.parse import parse_qs

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError

from webapp.lab.models import Experiment, Membership, Run
from webapp.lab.models.versions import EDITOR_LENGTH_MAX
from webapp.lib.outages import note
from webapp.messaging.presence import Open

from .feed import FEEDS, RunFeed
from .listeners import LISTENERS, NO_MEMBER, Credentials, Refused
from .news import NEWS, LabFeed
from .rows import rows_of_lab, run_row

log = logging.getLogger(__name__)

BAD_REQUEST, NOT_FOUND = 4400, 4404
"""Further close codes, after which clients should not reconnect."""
LATER = 1013  # of the protocol: clients connect again by themselves


class LabConsumer(AsyncWebsocketConsumer):
    """A connection of a member of the lab. It closes soon after the session, the account or the membership ends.

    Connections are accepted before they are refused, because browsers see a reason only in a close code.
    """

    credentials: Credentials
    membership: Membership | None = None
    sending: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        await self.accept()
        self.credentials = Credentials.of(self.scope)
        try:
            membership = await database_sync_to_async(self.credentials.membership)()
            messages = await self.begin(membership)
        except Refused as refused:
            await self.close(refused.code, refused.reason)
            return
        except DatabaseError as error:
            if not note(error):
                raise
            await self.close(LATER, "the database is away; connect again later")
            return
        self.membership = membership
        self.sending = asyncio.create_task(self._send_all(messages))
        LISTENERS.enter(self)

    async def begin(self, membership: Membership) -> Any:
        """Return an awaitable that sends the messages. Raises Refused."""
        raise NotImplementedError

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        try:
            message = json.loads(text_data or "")
            kind = message.get("type")
        except (ValueError, AttributeError, RecursionError):
            return
        if kind == "ping":
            await self.send('{"type":"pong"}')
        else:
            await self.heard(message)

    async def heard(self, message: dict[str, Any]) -> None:
        """Take a message from the page."""

    async def looked(self) -> None:
        """Called while the connection is open, at each look at who may listen."""

    async def disconnect(self, code: int) -> None:
        LISTENERS.leave(self)
        if self.sending:
            self.sending.cancel()

    async def _send_all(self, messages: Any) -> None:
        try:
            await messages
        except asyncio.CancelledError:
            raise
        except Exception:
            log.exception("%s: the live stream broke", self.scope["path"])
            await self.close(1011, "internal server error; reconnect")

    async def looked_up(self, found: Membership | Refused) -> None:
        """Close the connection once the person has signed out, was deactivated or left the lab."""
        assert self.membership
        if not isinstance(found, Refused) and found.lab_id != self.membership.lab_id:
            found = Refused(NO_MEMBER, "you are no longer a member of this lab")
        try:
            if not isinstance(found, Refused):
                await self.looked()
                return
            LISTENERS.leave(self)
            if self.sending:
                self.sending.cancel()
            await self.close(found.code, found.reason)
        except Exception:
            log.exception("%s: the listener could not be told", self.scope["path"])


class Nowhere(AsyncWebsocketConsumer):
    """Any other address. Who asks needs no account, so nothing is looked up and nothing is logged."""

    async def connect(self) -> None:
        await self.accept()
        await self.close(NOT_FOUND, "there is no WebSocket at this address")


class RunConsumer(LabConsumer):
    """Follow one run: its row on connect and on each change, every frame after N exactly once and in order, and its end."""

    async def begin(self, membership: Membership) -> Any:
        try:
            after = int(parse_qs(self.scope["query_string"].decode()).get("after", ["-1"])[-1])
            if after < -1:
                raise ValueError
        except (ValueError, UnicodeDecodeError):
            raise Refused(BAD_REQUEST, "after must be the number of the last frame seen, or -1") from None
        run_id = self.scope["url_route"]["kwargs"]["run_id"]
        run = await database_sync_to_async(Run.objects.filter(pk=run_id, lab=membership.lab, deleted_at__isnull=True).first)()
        if run is None:
            raise Refused(NOT_FOUND, "run not found")
        return self._follow(run, after)

    async def _follow(self, run: Run, after: int) -> None:
        async with FEEDS.feed(run.pk, lambda: RunFeed(run.pk, run.directory, lambda: run_row(run.pk))) as feed:
            async for message in feed.messages(after):
                await self.send(message)


class NewsConsumer(LabConsumer):
    """Follow changes of the lab's runs, experiments and questions. Pages say which experiment they have open."""

    open: Open | None = None

    async def begin(self, membership: Membership) -> Any:
        return self._follow(membership.lab_id)

    async def heard(self, message: dict[str, Any]) -> None:
        if message.get("type") == "open" and self.membership:
            await self._close()
            self.open = await database_sync_to_async(self._opened)(message)

    def _opened(self, message: dict[str, Any]) -> Open | None:
        """Return what the page has open, and tell others. None: no experiment of this lab."""
        assert self.membership
        experiment, editor = message.get("experiment"), message.get("editor")
        try:
            id = uuid.UUID(experiment)
        except (ValueError, TypeError, AttributeError):
            return None
        if (
            not isinstance(editor, str)
            or not Experiment.objects.filter(pk=id, lab=self.membership.lab_id, deleted_at__isnull=True).exists()
        ):
            return None
        page = Open(id, uuid.uuid4().hex, self.membership.user.get_username(), editor[:EDITOR_LENGTH_MAX])
        page.renew(announced=True)
        return page

    async def looked(self) -> None:
        if self.open:
            await database_sync_to_async(self.open.renew)()

    async def _close(self) -> None:
        page, self.open = self.open, None
        if page:
            await database_sync_to_async(page.leave)()

    async def disconnect(self, code: int) -> None:
        await super().disconnect(code)
        await self._close()

    async def _follow(self, lab_id: int) -> None:
        async with NEWS.feed(lab_id, lambda: LabFeed(lab_id, partial(rows_of_lab, lab_id))) as feed, aclosing(feed.messages()) as messages:
            async for message in messages:
                await self.send(message)

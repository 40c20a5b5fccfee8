"""Changes of a lab's runs, experiments, questions, studies, figures and analyses, for its viewers in this process.

Redis brings hints, the database has the rows. Messages are not stored: a viewer that connects, or may have missed something, gets
`ready` and reloads its data; from then on it receives every change.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Set
from typing import Any

from webapp.lab.models.work import ACTIVE
from webapp.lib.outages import DATABASE, note
from webapp.lib.redis_connection import asynchronous_connection
from webapp.messaging.stream import NEWS_KEY

from .shared import BLOCK_MS, RETRY_S, ROW_REFRESH_S, UNREACHABLE, Feeds

log = logging.getLogger(__name__)

PAUSE_S = 0.2  # between two reads of the rows; changes in between are sent together
WAITING_MAX = 100  # messages; a viewer further behind must reload
READY, LISTS = '{"type":"ready"}', '{"type":"lists"}'

KINDS = {
    "run": "runs",
    "experiment": "experiments",
    "presence": "presences",
    "question": "questions",
    "study": "studies",
    "reproduction": "reproductions",
    "analysis": "analyses",
    "learning": "learning_jobs",
    "spark_run": "spark_runs",
    "calibration": "calibrations",
}
"""Message type by kind of row."""
Rows = dict[tuple[str, str], dict[str, Any] | None]
"""Rows as the API returns them, by kind and id; None for deleted rows."""
Load = Callable[[Set[tuple[str, str]]], Awaitable[Rows]]


class LabFeed:
    """Send changes of one lab while it has viewers.

    load: reads the lab's active rows and the named rows, active or not.
    """

    def __init__(self, lab_id: int, load: Load) -> None:
        self.lab_id, self.load = lab_id, load
        self.active: Rows = {}  # as last sent
        self.named: set[tuple[str, str]] = set()  # by hints since the last read
        self.lists = False  # lists may have changed since the last read
        self.following = self.broken = False
        self.viewers = 0
        self.waiting: set[asyncio.Queue[str | None]] = set()
        self.redis = asynchronous_connection(answer_timeout_s=BLOCK_MS / 1000 + 5)
        self.reader: asyncio.Task[None] | None = None

    async def open(self) -> None:
        self.reader = asyncio.create_task(self._read(), name="news")

    async def close(self) -> None:
        if self.reader:
            self.reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.reader
        await self.redis.aclose()

    # --- the reader -------------------------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            await self._follow()
        except Exception:
            log.exception("the news cannot be followed")
            self.broken = True
            self._tell(None)

    async def _follow(self) -> None:
        position: Any = None
        looked_s = -ROW_REFRESH_S
        clock = asyncio.get_running_loop().time
        while True:
            try:
                if position is None:
                    newest = await self.redis.xrevrange(NEWS_KEY, count=1)
                    position = newest[0][0] if newest else "0-0"
                    self.following = True
                    self._tell(READY)
                else:
                    for _, entries in await self.redis.xread({NEWS_KEY: position}, count=1000, block=BLOCK_MS):
                        position = entries[-1][0]
                        for _, fields in entries:
                            self._note(fields)
            except UNREACHABLE as error:
                if self.following:
                    log.warning("Redis is unreachable (%s); reading active rows every %g s until it is back", error, ROW_REFRESH_S)
                position, self.following = None, False  # it may come back empty, and hints are lost in the meantime
                await asyncio.sleep(RETRY_S)
            if self.named or self.lists or clock() - looked_s >= ROW_REFRESH_S:
                looked_s = clock()
                await self._look()
                await asyncio.sleep(PAUSE_S)

    def _note(self, hint: dict[bytes, bytes]) -> None:
        self.lists = self.lists or hint.get(b"lists") == b"%d" % self.lab_id
        self.named |= {(kind, hint[kind.encode()].decode()) for kind in KINDS if kind.encode() in hint}

    async def _look(self) -> None:
        try:
            rows = await self.load(self.named | self.active.keys())
        except Exception as error:  # the next read retries
            if not note(error):
                log.exception("the lab's rows cannot be read")
            return
        DATABASE.over()
        for kind, plural in KINDS.items():
            changed = [row for key, row in rows.items() if row and key[0] == kind and self.active.get(key) != row]
            if changed:
                self._tell(json.dumps({"type": plural, plural: changed}))
        if self.lists or None in rows.values():
            self._tell(LISTS)
        self.named, self.lists = set(), False
        # pages of a process that died say nothing when they go, so open experiments are looked at until nobody has them open
        self.active = {key: row for key, row in rows.items() if row and (row.get("state") in ACTIVE or row.get("pages"))}

    def _tell(self, message: str | None) -> None:
        for queue in self.waiting:
            behind = queue.full()
            while behind and not queue.empty():
                queue.get_nowait()
            queue.put_nowait(READY if behind and message else message)

    # --- the viewers ------------------------------------------------------------------------------------------------------------------

    async def messages(self) -> AsyncGenerator[str, None]:
        """Yield the messages for a viewer from now on."""
        queue: asyncio.Queue[str | None] = asyncio.Queue(WAITING_MAX)
        self.waiting.add(queue)
        try:
            if self.following:
                yield READY
            while not self.broken and (message := await queue.get()) is not None:
                yield message
            raise RuntimeError("the reader of the news has failed")
        finally:
            self.waiting.discard(queue)


NEWS: Feeds[int, LabFeed] = Feeds()

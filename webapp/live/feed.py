"""One reader of a run's Redis streams, shared by all its viewers in this process.

The newest entries are kept in memory. Viewers further behind are served from the Redis stream and, where that was trimmed or lost, from
the files. A viewer only ever moves forward from the frame it has, so it sees no gaps and no duplicates.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import uuid
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

from django.db import DatabaseError

from webapp.lab.models.work import ACTIVE, RunState
from webapp.lib.outages import DATABASE, note
from webapp.lib.redis_connection import asynchronous_connection
from webapp.messaging import frame_files as files
from webapp.messaging import stream
from webapp.messaging.stream import Entry

from .shared import BLOCK_MS, RETRY_S, ROW_REFRESH_S, UNREACHABLE, Feeds

log = logging.getLogger(__name__)

TAIL_ENTRIES_MAX = 256
CATCH_UP_ENTRIES, CATCH_UP_FRAMES = 50, 1000

Row = dict[str, Any]


class RunFeed:
    """Follow one run while it has viewers.

    load_row: reads the run's row from the database, as the API returns it; None if the run was deleted.
    """

    def __init__(self, run_id: uuid.UUID, directory: Path, load_row: Callable[[], Awaitable[Row | None]]) -> None:
        self.run_id, self.directory, self.load_row = run_id, directory, load_row
        self.tail: deque[Entry] = deque(maxlen=TAIL_ENTRIES_MAX)  # consecutive
        self.row: Row | None = None
        self.told: tuple[Row | None, str] = (None, "")  # the row that was sent last, and its message
        self.row_read = False  # until then `row` is meaningless
        self.away = False  # Redis is unreachable: only the row and the files show what is new
        self.changed = asyncio.Event()  # replaced on every change, so that each viewer waits for the next one
        self.broken = False  # the reader failed; viewers are disconnected and reconnect
        self.viewers = 0
        self.redis = asynchronous_connection(answer_timeout_s=BLOCK_MS / 1000 + 5)
        self.reader: asyncio.Task[None] | None = None

    # --- the reader -------------------------------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start reading the row and following the streams. Does not wait for the row, so that the first viewer may leave in the
        meantime."""
        self.reader = asyncio.create_task(self._read(), name=f"feed {self.run_id}")

    async def close(self) -> None:
        if self.reader:
            self.reader.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.reader
        await self.redis.aclose()

    async def _read(self) -> None:
        try:
            self.row = await self._first_row()
            self.row_read = True
            self._wake()
            await self._follow_streams()
        except Exception:
            log.exception("run %s: its row or its streams cannot be read", self.run_id)
            self.broken = True
            self._wake()

    async def _first_row(self) -> Any:
        """The row, once the database is there."""
        while True:
            try:
                return await self.load_row()
            except DatabaseError as error:
                if not note(error):
                    raise
            await asyncio.sleep(RETRY_S)

    async def _follow_streams(self) -> None:
        live, state = stream.live_key(self.run_id), stream.state_key(self.run_id)
        positions: dict[Any, Any] | None = None
        refreshed_s = 0.0
        clock = asyncio.get_running_loop().time
        while True:
            news = hint = False
            try:
                if positions is None:
                    positions = await self._begin(live, state)
                    news = hint = True
                else:
                    for key, entries in await self.redis.xread(positions, count=100, block=BLOCK_MS):
                        positions[key.decode()] = entries[-1][0]
                        news = True
                        if key.decode() == live:
                            for _, fields in entries:
                                self._append(Entry.read(fields))
                        else:
                            hint = True
                self.away = False
            except UNREACHABLE as error:
                if not self.away:
                    log.warning("run %s: Redis is unreachable (%s); serving viewers from the files until it is back", self.run_id, error)
                self.away = True
                await asyncio.sleep(RETRY_S)
            if hint or clock() - refreshed_s > ROW_REFRESH_S:
                refreshed_s = clock()
                news = await self._refresh_row() or news
            if news or self.away:
                self._wake()

    async def _begin(self, live: str, state: str) -> dict[Any, Any]:
        """Start the tail with the newest entries, so that viewers who come together need not each read them. Returns the ids after which
        to continue reading."""
        newest, hint = await self.redis.xrevrange(live, count=CATCH_UP_ENTRIES), await self.redis.xrevrange(state, count=1)
        for _, fields in reversed(newest):
            self._append(Entry.read(fields))
        return {live: newest[0][0] if newest else "0-0", state: hint[0][0] if hint else "0-0"}

    async def _refresh_row(self) -> bool:
        try:
            row = await self.load_row()
        except Exception as error:  # the next refresh retries
            if not note(error):
                log.exception("run %s: the row cannot be read", self.run_id)
            return False
        DATABASE.over()
        changed, self.row = row != self.row, row
        return changed

    def _append(self, entry: Entry) -> None:
        if self.tail and entry.first > self.tail[-1].last + 1:
            self.tail.clear()  # Redis lost entries in between; viewers get them from the files
        if not self.tail or entry.last > self.tail[-1].last:
            self.tail.append(entry.after(self.tail[-1].last) if self.tail else entry)

    def _wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    # --- the viewers ------------------------------------------------------------------------------------------------------------------

    async def messages(self, after: int) -> AsyncIterator[str]:
        """Yield the messages for a viewer that has seen frame `after`, until the run has ended."""
        position, shown = after, None
        while True:
            changed, row = self.changed, self.row
            if self.broken:
                raise RuntimeError("the reader of the run's row and streams has failed")
            if not self.row_read:
                await changed.wait()
                continue
            if row is None:
                break
            at_work = row["state"] == RunState.RUNNING
            ended = not at_work and row["state"] not in ACTIVE
            if shown is None or (row != shown and not ended):
                shown = row
                yield self._state(row)
            while entries := await self._entries_after(position, thorough=not at_work or self.away):
                for entry in entries:
                    yield message(entry)
                position = entries[-1].last
            if ended:
                if row != shown:
                    yield self._state(row)
                break
            behind = self.tail and self.tail[-1].last > position
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(RETRY_S if behind else None):
                    await changed.wait()
        yield '{"type":"end"}'

    def _state(self, row: Row) -> str:
        """Return the message with the row, made once for all viewers."""
        if self.told[0] is not row:
            self.told = row, json.dumps({"type": "state", "run": row})
        return self.told[1]

    async def _entries_after(self, position: int, thorough: bool) -> list[Entry]:
        """Return the next entries after a frame. thorough: look beyond the tail, which may lack the last entries if no worker is
        sending."""
        if self.tail and self.tail[0].first <= position + 1 <= self.tail[-1].last:
            return [entry.after(position) for entry in self.tail if entry.last > position]
        if thorough or not self.tail or position + 1 < self.tail[0].first:
            return await self._entries_in_stream(position) or await asyncio.to_thread(
                files.entries_after, self.directory, position, CATCH_UP_FRAMES
            )
        return []

    async def _entries_in_stream(self, position: int) -> list[Entry]:
        key = stream.live_key(self.run_id)
        try:
            found = await self.redis.xrange(key, min=f"({stream.id_of(position)}", count=CATCH_UP_ENTRIES)
        except UNREACHABLE:
            return []
        consecutive: list[Entry] = []
        for _, fields in found:
            entry = Entry.read(fields)
            if entry.first > position + 1:
                break
            if entry.last > position:
                consecutive.append(entry.after(position))
                position = entry.last
        return consecutive


def message(entry: Entry) -> str:
    """Return frames as sent to the browser. `at_s`, the Unix time at which the worker sent them, lets it show the lag of live frames."""
    sent = f'"at_s":{entry.at_s:.6f},' if entry.at_s else ""
    return f'{{"type":"frames",{sent}"frames":{entry.frames_json}}}'


FEEDS: Feeds[uuid.UUID, RunFeed] = Feeds()

"""One reader of a Redis stream, shared by all viewers of the same thing in this process."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Hashable
from typing import Generic, Protocol, TypeVar

import redis

UNREACHABLE = (redis.RedisError, OSError, asyncio.TimeoutError)
BLOCK_MS = 1000
ROW_REFRESH_S = 2.0  # if the hint of a change is lost, the change is seen after this time
RETRY_S = 0.25


class Feed(Protocol):
    viewers: int

    async def open(self) -> None: ...

    async def close(self) -> None: ...


Key = TypeVar("Key", bound=Hashable)
Followed = TypeVar("Followed", bound=Feed)


class Feeds(Generic[Key, Followed]):
    """The feeds of this process, by what they follow. Used from one event loop."""

    def __init__(self) -> None:
        self.open: dict[Key, Followed] = {}

    @contextlib.asynccontextmanager
    async def feed(self, key: Key, make: Callable[[], Followed]) -> AsyncIterator[Followed]:
        """Return the feed; open it for the first viewer and close it after the last."""
        feed = self.open.get(key)
        if feed is None:
            feed = self.open[key] = make()
            feed.viewers += 1
            try:
                await feed.open()
            except BaseException:
                await self._leave(key, feed)
                raise
        else:
            feed.viewers += 1
        try:
            yield feed
        finally:
            await self._leave(key, feed)

    async def _leave(self, key: Key, feed: Followed) -> None:
        feed.viewers -= 1
        if feed.viewers == 0:
            if self.open.get(key) is feed:
                del self.open[key]
            await feed.close()

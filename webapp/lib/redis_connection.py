"""Connections to the lab's Redis. Timeouts are short, because all callers can continue without Redis."""

from __future__ import annotations

import asyncio
from functools import lru_cache
from typing import Any

import redis
import redis.asyncio
from django.conf import settings
from redis.asyncio.retry import Retry as AsynchronousRetry
from redis.backoff import NoBackoff
from redis.retry import Retry

CONNECT_TIMEOUT_S = 0.5
ANSWER_TIMEOUT_S = 2.0


# Reconnect once, immediately; redis-py's default would wait for seconds.
RETRY = Retry(NoBackoff(), 1)


@lru_cache(maxsize=1)
def connection() -> redis.Redis:
    """The process's pooled client; safe to share between threads."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=CONNECT_TIMEOUT_S, socket_timeout=ANSWER_TIMEOUT_S, retry=RETRY)


class Cancellable(redis.asyncio.Redis):
    """A client whose commands end when their task is cancelled. redis-py waits with `asyncio.wait_for`, which before Python 3.12 forgets a
    cancellation that comes at the moment of the result: a viewer who had left would follow on, and closing its feed would never end."""

    async def execute_command(self, *args: Any, **options: Any) -> Any:
        try:
            return await super().execute_command(*args, **options)
        finally:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError


def asynchronous_connection(answer_timeout_s: float = ANSWER_TIMEOUT_S) -> redis.asyncio.Redis:
    """Return a client for the running event loop, which the caller must close. A blocking read needs a timeout longer than its wait."""
    return Cancellable.from_url(
        settings.REDIS_URL,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        socket_timeout=answer_timeout_s,
        retry=AsynchronousRetry(NoBackoff(), 1),
    )


def is_up() -> bool:
    try:
        return bool(connection().ping())
    except (redis.RedisError, OSError):
        return False

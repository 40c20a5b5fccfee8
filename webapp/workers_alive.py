"""A sign of life of the workers, kept in Redis: asking them over the queue would mean to wait for an answer."""

from __future__ import annotations

import contextlib

import redis

from webapp.lib.redis_connection import connection

KEY = "workers:alive"
VALID_S = 10
"""A worker that is at work repeats the sign several times in this span."""


def sign_of_life() -> None:
    """Called by each worker every few seconds."""
    with contextlib.suppress(redis.RedisError, OSError):
        connection().set(KEY, 1, ex=VALID_S)


def workers_alive() -> bool:
    try:
        return bool(connection().exists(KEY))
    except (redis.RedisError, OSError):
        return False

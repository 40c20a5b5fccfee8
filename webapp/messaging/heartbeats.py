"""Signs of life of the workers, kept in Redis: asking them over the queue would mean to wait for an answer."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import redis

from webapp.lib.redis_connection import connection

KEY, SPARK_KEY = "workers:signs", "workers:spark"
VALID_S = 10
"""A worker that is at work repeats its sign several times in this span."""


def send_heartbeat(worker: str) -> None:
    """Called by each worker every few seconds. worker: its name."""
    now_s = time.time()
    with contextlib.suppress(redis.RedisError, OSError), connection().pipeline(transaction=False) as pipeline:
        pipeline.zadd(KEY, {worker: now_s})
        pipeline.zremrangebyscore(KEY, "-inf", now_s - VALID_S)
        pipeline.expire(KEY, VALID_S)
        pipeline.execute()


def workers_alive() -> int:
    """How many there are; none while Redis is away."""
    try:
        return int(connection().zcount(KEY, time.time() - VALID_S, "+inf"))
    except (redis.RedisError, OSError):
        return 0


def tell_spark_state(state: str, master: str, message: str, cores: int = 0) -> None:
    """Called by the analysis worker every few seconds. state: asleep, ready or unavailable; message: what is missing, and what to do;
    cores: of all executors, 0 if they are not known."""
    told = json.dumps({"state": state, "master": master, "message": message, "cores": cores})
    with contextlib.suppress(redis.RedisError, OSError):
        connection().set(SPARK_KEY, told, ex=VALID_S)


def spark_state() -> dict[str, Any]:
    """As it was told last; "absent" if there is no analysis worker, or Redis is away."""
    told = None
    with contextlib.suppress(redis.RedisError, OSError):
        told = connection().get(SPARK_KEY)
    found: dict[str, Any] = json.loads(told) if told else {"state": "absent", "master": "", "message": "", "cores": 0}
    return found

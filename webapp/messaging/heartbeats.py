"""Heartbeats of the workers, stored in Redis: querying workers over the queue would mean waiting for their answers."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import redis

from webapp.lib.redis_connection import connection

KEY, SPARK_KEY = "workers:signs", "workers:spark"
VALID_S = 10
"""Validity of a heartbeat. A live worker sends several within this time."""


def send_heartbeat(worker: str) -> None:
    """Record a heartbeat. Each worker calls this every few seconds. worker: its name."""
    now_s = time.time()
    with contextlib.suppress(redis.RedisError, OSError), connection().pipeline(transaction=False) as pipeline:
        pipeline.zadd(KEY, {worker: now_s})
        pipeline.zremrangebyscore(KEY, "-inf", now_s - VALID_S)
        pipeline.expire(KEY, VALID_S)
        pipeline.execute()


def workers_alive() -> int:
    """Return the number of live workers; 0 while Redis is unreachable."""
    try:
        return int(connection().zcount(KEY, time.time() - VALID_S, "+inf"))
    except (redis.RedisError, OSError):
        return 0


def tell_spark_state(state: str, master: str, message: str, cores: int = 0) -> None:
    """Record the state of Spark. The analysis worker calls this every few seconds. state: asleep, ready or unavailable. message: what is
    missing and what to do. cores: total over all executors, 0 if unknown."""
    told = json.dumps({"state": state, "master": master, "message": message, "cores": cores})
    with contextlib.suppress(redis.RedisError, OSError):
        connection().set(SPARK_KEY, told, ex=VALID_S)


def spark_state() -> dict[str, Any]:
    """Return the last reported state of Spark; "absent" without an analysis worker or while Redis is unreachable."""
    told = None
    with contextlib.suppress(redis.RedisError, OSError):
        told = connection().get(SPARK_KEY)
    found: dict[str, Any] = json.loads(told) if told else {"state": "absent", "master": "", "message": "", "cores": 0}
    return found

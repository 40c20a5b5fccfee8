"""Questions about placements, and their answers: lists in Redis between the web process and the process that has the models.

Nothing is stored: a question that nobody has answered after a moment is forgotten, and the page asks again.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Callable
from typing import Any

import redis

from webapp.lib.redis_connection import connection

from .heartbeats import VALID_S

STATE, QUESTIONS = "advice:state", "advice:questions"
SHIPPED = "shipped"
PATIENCE_S = 20.0
WAIT_S = 1  # of one blocking read, which has to end before the connection's time is out
WAITING_MAX = 50
"""Questions that wait; more would not be answered in time."""


class NoAnswer(Exception):
    """The message says why, and what to do."""


def tell_state(folder: str, available: bool, reason: str, models: list[dict[str, Any]]) -> None:
    """Record what the lab with this folder can ask. The process with the models calls this every few seconds. reason: why nothing can be.
    folder: SHIPPED for what all labs can ask that have no models of their own."""
    told = json.dumps({"available": available, "reason": reason, "models": models})
    with contextlib.suppress(redis.RedisError, OSError):
        connection().set(f"{STATE}:{folder}", told, ex=VALID_S)


def state(folder: str) -> dict[str, Any]:
    """Return what was last told to the lab with this folder."""
    own = shipped = None
    with contextlib.suppress(redis.RedisError, OSError):
        own, shipped = connection().mget(f"{STATE}:{folder}", f"{STATE}:{SHIPPED}")
    if told := own or shipped:
        found: dict[str, Any] = json.loads(told)
        return found
    reason = "the process that gives advice is not running; it starts with scripts/up, and its log is data/logs/advice.log"
    return {"available": False, "reason": reason, "models": []}


def ask(question: dict[str, Any], patience_s: float = PATIENCE_S) -> dict[str, Any]:
    """Raises NoAnswer."""
    id = uuid.uuid4().hex
    until_s = time.time() + patience_s
    try:
        if connection().llen(QUESTIONS) >= WAITING_MAX:
            raise NoAnswer("too many ask for advice right now; ask again in a moment")
        connection().rpush(QUESTIONS, json.dumps({"id": id, "until_s": until_s, **question}))
        while time.time() < until_s:
            if answered := connection().blpop([_answer(id)], WAIT_S):
                answer: dict[str, Any] = json.loads(answered[1])
                return answer
    except (redis.RedisError, OSError):
        raise NoAnswer("Redis is unreachable, so nobody can be asked; ask again when it is back") from None
    raise NoAnswer(f"there was no answer within {patience_s:g} s; ask again")


def answer_next(answer: Callable[[dict[str, Any]], dict[str, Any]]) -> bool:
    """Answer the next question, if one comes soon. Returns whether there was one. Raises redis.RedisError."""
    asked = connection().blpop([QUESTIONS], WAIT_S)
    if not asked:
        return False
    question = json.loads(asked[1])
    if question["until_s"] > time.time():  # else nobody waits any more
        with connection().pipeline(transaction=False) as pipeline:
            pipeline.rpush(_answer(question["id"]), json.dumps(answer(question)))
            pipeline.expire(_answer(question["id"]), VALID_S)
            pipeline.execute()
    return True


def _answer(id: str) -> str:
    return f"advice:answer:{id}"

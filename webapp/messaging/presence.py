"""Who has which experiment open, in Redis: a hash for each experiment, with an entry for each open page.

Nothing depends on it: without Redis nobody is shown, and entries of a process that died count as gone after a moment.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from dataclasses import dataclass

import redis

from webapp.lib.redis_connection import connection

from .stream import announce_row

GONE_AFTER_S = 10.0  # an entry that was not renewed; pages renew theirs every two seconds
KEPT_S = 60  # the hash of an experiment that nobody has open


@dataclass(frozen=True)
class Open:
    """An open page. page: its connection. editor: the name that the page has given itself."""

    experiment: uuid.UUID
    page: str
    name: str
    editor: str

    def renew(self, *, announced: bool = False) -> None:
        """Say that the page is open. announced: tell those who look at the experiment."""
        with contextlib.suppress(redis.RedisError, OSError), connection().pipeline(transaction=False) as pipeline:
            pipeline.hset(key_of(self.experiment), self.page, json.dumps([self.name, self.editor, time.time()]))
            pipeline.expire(key_of(self.experiment), KEPT_S)
            pipeline.execute()
        if announced:
            announce_row(connection(), "presence", self.experiment)

    def leave(self) -> None:
        with contextlib.suppress(redis.RedisError, OSError):
            connection().hdel(key_of(self.experiment), self.page)
        announce_row(connection(), "presence", self.experiment)


def people_at(experiment: uuid.UUID | str) -> list[tuple[str, str]]:
    """Return name and editor of each page that has the experiment open, by name."""
    entries: dict[bytes, bytes] = {}
    with contextlib.suppress(redis.RedisError, OSError):
        entries = connection().hgetall(key_of(experiment))
    pages = [json.loads(entry) for entry in entries.values()]
    return sorted((name, editor) for name, editor, at_s in pages if time.time() - at_s < GONE_AFTER_S)


def key_of(experiment: uuid.UUID | str) -> str:
    return f"open:{experiment}"

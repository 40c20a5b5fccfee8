"""Redis away, in the log of a worker: one line when it goes and one when it is back, in place of Celery's for each attempt to connect and
each message that could not be acknowledged."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from redis.exceptions import ConnectionError as Unreachable
from redis.exceptions import TimeoutError as NoAnswer

from .outages import Outage

REDIS = Outage("Redis")
LOGGERS = ("celery.worker.", "celery.bootsteps", "kombu.")
"""Those of the connection. Errors of tasks are in celery.app.trace, and are never left out."""
ITS_WARNING = "worker_cancel_long_running_tasks_on_connection_loss"
"""In each outage Celery warns that its next version will have another default."""
AWAY = (Unreachable, NoAnswer, ConnectionError)


class NotOfAnOutageOfRedis(logging.Filter):
    """Notes that Redis is away, and leaves out the lines that Celery has for it."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "py.warnings" and ITS_WARNING in record.getMessage():
            return False
        if not record.name.startswith(LOGGERS):
            return True
        cause = next((one for one in _errors_of(record) if isinstance(one, AWAY)), None)
        if cause is None:
            return True
        REDIS.note("cannot be reached", cause)
        return False


def _errors_of(record: logging.LogRecord) -> Iterator[object]:
    """Those that it names, and those during whose handling they were raised."""
    if isinstance(record.args, tuple):
        yield from record.args
    error = record.exc_info[1] if record.exc_info else None
    while error is not None:
        yield error
        error = error.__context__

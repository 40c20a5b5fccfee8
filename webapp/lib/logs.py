"""Logs with context: each line has the request, run or study during which it was written.

Wrap work in `bound(run=...)`; everything logged inside carries the names. Threads do not inherit them: start a thread in
`contextvars.copy_context()`.
"""

from __future__ import annotations

import json
import logging
import re
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_only_middleware

NAMES: ContextVar[dict[str, str]] = ContextVar("NAMES", default={})  # noqa: B039 never mutated, only replaced
HEADER = "X-Request-ID"
GIVEN = re.compile(r"[\w.:-]{1,64}")


@contextmanager
def bound(**names: object) -> Iterator[None]:
    """Add names to everything logged inside. None: leave the name out."""
    token = NAMES.set({**NAMES.get(), **{name: str(value) for name, value in names.items() if value is not None}})
    try:
        yield
    finally:
        NAMES.reset(token)


class NotOfAnOutage(logging.Filter):
    """Leaves out Django's line for each answer that a part is away: the outage has a line of its own (`webapp.lib.outages`)."""

    def filter(self, record: logging.LogRecord) -> bool:
        return getattr(record, "status_code", None) != 503


class Lines(logging.Formatter):
    """Lines for people: time, level, logger, message and context."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        names = "".join(f" {name}={value}" for name, value in NAMES.get().items())
        return super().formatMessage(record) + (f" [{names.strip()}]" if names else "")


class JsonLines(logging.Formatter):
    """JSON lines for programs: one object per line."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage(), **NAMES.get()}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


@sync_only_middleware
def request_ids(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Give each request an id, new or from a proxy, and add it to the response and the log."""

    def answer(request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        id = given if GIVEN.fullmatch(given) else uuid.uuid4().hex
        with bound(request=id):
            response = get_response(request)
        response.headers[HEADER] = id
        return response

    return answer

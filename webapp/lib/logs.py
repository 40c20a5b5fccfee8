"""Logs that say what they are about: each line has the request, run or study during which it was written.

`bound(run=...)` around a piece of work is all that is needed; what is logged below it, by whomever, has the names. Threads inherit nothing:
whoever starts one runs it in `contextvars.copy_context()`.
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

NAMES: ContextVar[dict[str, str]] = ContextVar("NAMES", default={})  # noqa: B039 it is never changed, only replaced
HEADER = "X-Request-ID"
GIVEN = re.compile(r"[\w.:-]{1,64}")


@contextmanager
def bound(**names: object) -> Iterator[None]:
    """What is logged inside has these names, besides those around it. None: it does not have the name."""
    token = NAMES.set({**NAMES.get(), **{name: str(value) for name, value in names.items() if value is not None}})
    try:
        yield
    finally:
        NAMES.reset(token)


class Lines(logging.Formatter):
    """For people: time, level, who, what, and what it is about at the end."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def formatMessage(self, record: logging.LogRecord) -> str:
        names = "".join(f" {name}={value}" for name, value in NAMES.get().items())
        return super().formatMessage(record) + (f" [{names.strip()}]" if names else "")


class JsonLines(logging.Formatter):
    """For programs: an object a line."""

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"at": at, "level": record.levelname.lower(), "logger": record.name, "message": record.getMessage(), **NAMES.get()}
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, ensure_ascii=False)


@sync_only_middleware
def request_ids(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Each request has an id, its own or that which a proxy gave it; the answer and the log have it."""

    def answer(request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        id = given if GIVEN.fullmatch(given) else uuid.uuid4().hex
        with bound(request=id):
            response = get_response(request)
        response.headers[HEADER] = id
        return response

    return answer

"""Parts that are away: the database, or the disk with the data.

Whoever asks meanwhile gets 503 with a sentence that names the part and when to ask again. The log has one line when a part goes, and one
when it is back, however many ask.
"""

from __future__ import annotations

import errno
import logging
import sqlite3
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from django.db import DatabaseError, InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.decorators import sync_only_middleware

log = logging.getLogger(__name__)

AGAIN_S = 5
"""When to ask again."""


@dataclass
class Outage:
    """Whether a part is away. part: as people call it. reads: whether it can still be read, so that only a write shows that it is back."""

    part: str
    since_s: float | None = None
    reads: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, what: str, cause: BaseException) -> None:
        with self.lock:
            if self.since_s is None:
                self.since_s, self.reads = monotonic(), what in ONLY_WRITES
                log.error("%s %s (%s)", self.part, what, " ".join(str(cause).split()))

    def over(self, written: bool = False) -> None:
        """It has been read, or written."""
        if self.since_s is None or (self.reads and not written):
            return
        with self.lock:
            if self.since_s is not None:
                log.warning("%s is back after %.0f s", self.part, monotonic() - self.since_s)
                self.since_s = None


ONLY_WRITES = ("cannot be written", "has no room left on its disk")

DATABASE, DISK = Outage("the database"), Outage("the data directory")

OF_SQLITE = {
    sqlite3.SQLITE_BUSY: "is busy",
    sqlite3.SQLITE_LOCKED: "is busy",
    sqlite3.SQLITE_READONLY: "cannot be written",
    sqlite3.SQLITE_IOERR: "cannot be read or written",
    sqlite3.SQLITE_FULL: "has no room left on its disk",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened",
}
OF_POSTGRESQL = {
    "08": "cannot be reached",
    "53": "has no resources left",
    "57": "is stopping or starting",
    "58": "has an error of its system",
}
"""By class of the state (PostgreSQL, appendix A)."""
READ_ONLY, CANCELLED = "25006", "57014"
OF_DISK = {
    errno.ENOSPC: "has no room left on its disk",
    errno.EDQUOT: "has no room left on its disk",
    errno.EROFS: "cannot be written",
    errno.EIO: "cannot be read or written",
}


def away(error: BaseException | None) -> tuple[Outage, str] | None:
    """Which part is away, if that is the error, and what is the matter with it. Errors of statements are none."""
    if isinstance(error, DatabaseError | InterfaceError):
        what = of_database(error)
        return None if what is None else (DATABASE, what)
    if isinstance(error, OSError) and error.errno in OF_DISK:
        return DISK, OF_DISK[error.errno]
    return None


def of_database(error: DatabaseError | InterfaceError) -> str | None:
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        return OF_SQLITE.get(getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF)  # the low byte of extended codes
    state = getattr(cause, "pgcode", None)
    if state is None:
        return "cannot be reached" if isinstance(error, OperationalError | InterfaceError) else None  # no server has answered
    if state == READ_ONLY:
        return "cannot be written"
    return None if state == CANCELLED else OF_POSTGRESQL.get(state[:2])


def note(error: BaseException) -> bool:
    """Note the outage, if the error is one."""
    found = away(error)
    if found is not None:
        found[0].note(found[1], error)
    return found is not None


def pass_on(error: Exception) -> None:
    """Raise the error again if it is that the database is away, which says nothing about the work that met it."""
    found = away(error)
    if found is not None and found[0] is DATABASE:
        raise error


def unavailable(error: BaseException | None) -> HttpResponse | None:
    """503 if a part is away, else None."""
    found = away(error)
    if found is None or error is None:
        return None
    outage, what = found
    note(error)
    detail = f"{outage.part} {what}; try again in {AGAIN_S} s"
    return JsonResponse({"detail": detail, "problems": []}, status=503, headers={"Retry-After": str(AGAIN_S)})


@sync_only_middleware
def watched(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Notice that a part is back: a request that needs it has succeeded."""

    def handle(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        if response.status_code < 400 and request.path.startswith("/api/") and request.path != "/api/health":
            if request.method in ("PUT", "PATCH", "DELETE") or response.status_code in (201, 202, 204):  # other answers may store nothing
                DATABASE.over(written=True)
                DISK.over(written=True)
            elif getattr(request, "auth", None) is not None:
                DATABASE.over()
        return response

    return handle

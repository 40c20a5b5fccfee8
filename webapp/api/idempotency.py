"""Requests with an `Idempotency-Key` are carried out once, however often they come: a client that got no answer asks again.

The key's row is written in the transaction of what the request makes, so either both are there or neither is. A request that comes again
gets the answer of the first. Uploads take long to read, and nothing can be written meanwhile on SQLite; their row is written before, and
a name that is taken keeps them from being made twice.

Source: IETF draft-ietf-httpapi-idempotency-key-header-07.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

from django.db import DatabaseError, IntegrityError, connection, transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.decorators import sync_only_middleware

from webapp.lab.models import KeptAnswer
from webapp.lib.afterwards import collected
from webapp.lib.errors import error

from .authentication import who_asks
from .errors import ApiError

HEADER, REPLAYED = "Idempotency-Key", "Idempotency-Replayed"
KEY = re.compile(r"[!-~]{1,255}")
MAKES = (201, 202, 204)
"""Statuses of answers that are kept."""
SECRET = re.compile(r"/api/(tokens|invitations|people/\d+/link)/?")
"""Answers that are shown once."""
FOREIGN = ("/api/session", "/api/join")
"""Requests of people who are not signed in."""
RENEWED_S, ABANDONED = 5.0, timedelta(seconds=20)
"""How often an upload says that it is in progress. One that has not for so long has died with its server."""
CHUNK_BYTES = 1 << 20

Respond = Callable[[HttpRequest], HttpResponse]


class Refused(Exception):
    """The request was answered with an error, so nothing is stored."""

    def __init__(self, response: HttpResponse) -> None:
        self.response = response


@sync_only_middleware
def keyed(get_response: Respond) -> Respond:
    """Middleware: carry out requests with a key once."""

    def handle(request: HttpRequest) -> HttpResponse:
        key = request.headers.get(HEADER)
        if key is None or request.method != "POST" or not request.path.startswith("/api/") or request.path.startswith(FOREIGN):
            return get_response(request)
        if not KEY.fullmatch(key):
            return error(400, f"the header {HEADER} has {len(key)} characters; it must have 1 to 255, of ASCII and without spaces")
        try:
            user = who_asks(request).user
        except ApiError:
            return get_response(request)  # which says so
        is_upload = request.content_type == "multipart/form-data"
        row = KeptAnswer(user=user, key=key, request=digest_of(request, is_upload), is_secret=bool(SECRET.fullmatch(request.path)))
        before = KeptAnswer.objects.filter(user=user, key=key).first()
        if before is not None and not is_abandoned(before):
            return again(before, row.request)
        return long(row, request, get_response) if is_upload else at_once(row, request, get_response)

    return handle


def at_once(row: KeptAnswer, request: HttpRequest, get_response: Respond) -> HttpResponse:
    """Carry the request out and keep its answer, both or neither."""
    try:
        with collected() as work, transaction.atomic():
            with transaction.atomic():
                row.save(force_insert=True)
            response = get_response(request)
            if response.status_code >= 400:
                raise Refused(response)
            keep(row, response)
    except Refused as refused:
        return refused.response
    except IntegrityError:  # the same request has come at the same time, and has been carried out by now
        return again(KeptAnswer.objects.get(user=row.user, key=row.key), row.request)
    for one in work:
        one()
    return response


def long(row: KeptAnswer, request: HttpRequest, get_response: Respond) -> HttpResponse:
    """Carry the request out while its row says that it is in progress."""
    try:
        KeptAnswer.objects.filter(user=row.user, key=row.key, status=None).delete()  # of one that was abandoned
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return again(KeptAnswer.objects.get(user=row.user, key=row.key), row.request)
    kept = False
    try:
        with renewed(row):
            response = get_response(request)
        if kept := response.status_code < 400:
            keep(row, response)
        return response
    finally:
        if not kept:
            row.delete()


@contextmanager
def renewed(row: KeptAnswer) -> Iterator[None]:
    """Say that the request is in progress, as long as it is."""
    ended = threading.Event()

    def renew() -> None:
        try:
            while not ended.wait(RENEWED_S):
                with suppress(DatabaseError):  # away for the moment
                    KeptAnswer.objects.filter(pk=row.pk).update(created_at=timezone.now())
        finally:
            connection.close()

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def keep(row: KeptAnswer, response: HttpResponse) -> None:
    """Keep the answer if it tells of something new. Other requests may be carried out again."""
    if response.status_code not in MAKES:
        row.delete()
        return
    row.status, row.body = response.status_code, "" if row.is_secret else response.content.decode()
    row.save()


def again(before: KeptAnswer, asked: str) -> HttpResponse:
    """The answer to a request whose key has been used."""
    if before.request != asked:
        return error(422, f"this {HEADER} was used for another request; give each request a key of its own")
    if before.status is None:
        response: HttpResponse = error(409, "a request with this key is in progress; ask again for its answer")
        response["Retry-After"] = "1"
        return response
    if before.is_secret:
        return error(
            409, "this request was carried out before. Its answer held a secret that is not kept: revoke what it made, and ask anew"
        )
    response = HttpResponse(before.body, status=before.status, content_type="application/json; charset=utf-8")
    response[REPLAYED] = "true"
    return response


def is_abandoned(row: KeptAnswer) -> bool:
    return row.status is None and row.created_at < timezone.now() - ABANDONED


def digest_of(request: HttpRequest, is_upload: bool) -> str:
    """Of address and body. A form's fields and files count, since its boundary is another each time."""
    hasher = hashlib.sha256(f"{request.get_full_path()}\0".encode())
    if not is_upload:
        hasher.update(request.body)
        return hasher.hexdigest()
    for name, value in sorted(request.POST.items()):
        hasher.update(f"{name}\0{value}\0".encode())
    for name, file in sorted(request.FILES.items()):
        hasher.update(f"{name}\0{file.name}\0{file.size}\0".encode())
        for chunk in file.chunks(CHUNK_BYTES):
            hasher.update(chunk)
        file.seek(0)
    return hasher.hexdigest()

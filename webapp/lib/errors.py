"""Error responses outside the API's own handlers: JSON with one readable sentence, never a stack trace."""

from __future__ import annotations

import logging
import secrets
import sys
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse

from .outages import unavailable

log = logging.getLogger(__name__)


def error(status: int, detail: str, problems: list[dict[str, Any]] | None = None) -> JsonResponse:
    """Return an error response in the shape documented in docs/web-api.md."""
    return JsonResponse({"detail": detail, "problems": problems or []}, status=status)


def csrf_failure(request: HttpRequest, reason: str = "") -> JsonResponse:
    return error(403, "the CSRF token is missing or wrong; send the value of the cookie 'csrftoken' in the header X-CSRFToken")


def bad_request(request: HttpRequest, exception: Exception) -> JsonResponse:
    return error(400, "malformed request; check its URL, host and headers")


def forbidden(request: HttpRequest, exception: Exception) -> JsonResponse:
    return error(403, "this is not allowed")


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    return error(404, f"there is nothing at {request.path}")


def server_error(request: HttpRequest) -> HttpResponse:
    """Say which part is away, if one is. Otherwise log the exception under an id, and tell the id: who asks for help can name it, and who
    helps finds it in the log."""
    if (away := unavailable(sys.exception())) is not None:
        return away
    id = secrets.token_hex(4)
    log.exception("error %s: %s %s failed", id, request.method, request.path)
    return error(500, f"server error {id}; the server's log has the cause under this id")

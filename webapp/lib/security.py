"""The content security policy: the browser may connect only to this server."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_only_middleware

POLICY = "; ".join(
    (
        "default-src 'self'",
        "img-src 'self' data:",  # icons inside style sheets
        "style-src 'self' 'unsafe-inline'",  # chart and canvas libraries write style attributes; scripts stay strict
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)


@sync_only_middleware
def content_security_policy(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    def answer(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        response.headers.setdefault("Content-Security-Policy", POLICY)
        return response

    return answer

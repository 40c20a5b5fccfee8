"""Requests, from the server's event loop to Django.

All views and all middleware are synchronous. Django's own handler would still go from a request's thread to the event loop for the view,
and back: two waits for the interpreter, each as long as the other requests keep it.
"""

from __future__ import annotations

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.http import HttpRequest
from django.http.response import HttpResponseBase


class OneThreadHandler(ASGIHandler):
    """Middleware and view of a request run in one thread, in one go."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await sync_to_async(self.get_response, thread_sensitive=True)(request)

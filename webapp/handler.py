"""Requests, from the server's event loop to Django.

All views and all middleware are synchronous. Django's own handler would go from the event loop to a thread of the request's own three
times before it answers: for connections that are too old, for the middleware, and from there for the view. Each time it waits for the
interpreter as long as the other requests keep it.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import BaseHandler
from django.core.signals import request_started
from django.db import close_old_connections, reset_queries
from django.http import HttpRequest
from django.http.response import HttpResponseBase

THREADS_MAX = 200
"""Requests at a time; further ones wait. An upload keeps its thread until it has been read."""


class OneThreadHandler(ASGIHandler):
    """Middleware and view of a request run in one thread, in one go. Threads stay, and serve one request after the other."""

    def __init__(self) -> None:
        BaseHandler.__init__(self)
        self.load_middleware(is_async=False)
        self._threads = ThreadPoolExecutor(THREADS_MAX, "request")
        for receiver in (close_old_connections, reset_queries):  # the first is done below, the second is for debugging
            request_started.disconnect(receiver)

    async def get_response_async(self, request: HttpRequest) -> HttpResponseBase:
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._in_its_thread, request)

    def _in_its_thread(self, request: HttpRequest) -> HttpResponseBase:
        try:
            return self.get_response(request)
        finally:
            close_old_connections()

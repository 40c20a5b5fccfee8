"""The built frontend: hashed assets by WhiteNoise, and index.html for every path of the browser's router."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import ensure_csrf_cookie
from django.views.decorators.http import require_safe
from whitenoise.middleware import WhiteNoiseMiddleware

HASHED_NAME = re.compile(r"^/assets/.+-[A-Za-z0-9_-]{8,}\.\w+$")


class StaticFiles(WhiteNoiseMiddleware):
    """WhiteNoise over frontend/dist. Responses are not streamed, because the ASGI handler would read the whole file anyway."""

    def __init__(self, get_response: Any) -> None:
        super().__init__(get_response)
        if settings.FRONTEND_DIST.is_dir():
            self.add_files(str(settings.FRONTEND_DIST))
        self.files.pop("/index.html", None)  # the view below serves it, with the CSRF cookie

    def immutable_file_test(self, path: str, url: str) -> bool:
        return HASHED_NAME.match(url) is not None

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        body = b""
        if found.file is not None:
            with found.file:
                body = found.file.read()
        return HttpResponse(body, status=int(found.status), headers=dict(found.headers))


@require_safe
@ensure_csrf_cookie
def page(request: HttpRequest) -> HttpResponse:
    """index.html; the browser's router reads the path. Never cached, so that a new build takes effect at once."""
    path = settings.FRONTEND_DIST / "index.html"
    if not path.is_file():
        return HttpResponse(
            "The frontend is not built yet: run scripts/up, or npm ci && npm run build in frontend/.\n",
            status=503,
            content_type="text/plain",
        )
    return HttpResponse(_read(path, path.stat().st_mtime_ns), headers={"Cache-Control": "no-cache"})


@lru_cache(maxsize=1)
def _read(path: Path, modified_ns: int) -> bytes:
    return path.read_bytes()

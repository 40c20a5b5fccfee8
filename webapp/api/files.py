"""Responses that a browser saves as a file."""

from __future__ import annotations

from django.http import HttpResponse


def as_file(content: bytes, name: str, type: str = "text/html; charset=utf-8") -> HttpResponse:
    return HttpResponse(content, content_type=type, headers={"Content-Disposition": f'attachment; filename="{name}"'})

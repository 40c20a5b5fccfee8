"""Every error has the shape `{"detail": sentence, "problems": [...]}`; none shows a stack trace."""

from __future__ import annotations

import json
from typing import Any

from django.core.exceptions import RequestDataTooBig, TooManyFilesSent
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from engine.spec import Problem
from engine.spec.base.problems import pointer
from webapp.lab.quota import LimitReached
from webapp.lab.submission import Refused
from webapp.lib.errors import error, server_error


class ApiError(Exception):
    """An error response. extra: additional fields of the body."""

    status = 400

    def __init__(self, detail: str, problems: list[dict[str, Any]] | None = None, **extra: Any) -> None:
        self.detail, self.problems, self.extra = detail, problems or [], extra
        super().__init__(detail)


class Problem400(ApiError):
    status = 400


class Problem401(ApiError):
    status = 401


class Problem403(ApiError):
    status = 403


class Problem404(ApiError):
    status = 404


class Problem409(ApiError):
    status = 409


class Problem422(ApiError):
    status = 422


class Problem429(ApiError):
    status = 429


class ClientGone(ApiError):
    """Nobody reads the answer; the status is for the log."""

    status = 499


def add_handlers(api: NinjaAPI) -> None:
    """Register a handler for each kind of exception."""

    @api.exception_handler(ApiError)
    def api_error(request: HttpRequest, exception: ApiError) -> HttpResponse:
        body = {"detail": exception.detail, "problems": exception.problems, **exception.extra}
        response = api.create_response(request, body, status=exception.status)
        if "retry_after_s" in exception.extra:
            response["Retry-After"] = str(exception.extra["retry_after_s"])
        return response

    @api.exception_handler(Refused)
    def refused(request: HttpRequest, exception: Refused) -> HttpResponse:
        return error(422, "the experiment has errors and cannot run; see problems", exception.checked.problems)

    @api.exception_handler(LimitReached)
    def full(request: HttpRequest, exception: LimitReached) -> HttpResponse:
        return error(409, str(exception))

    @api.exception_handler(ValidationError)
    def invalid(request: HttpRequest, exception: ValidationError) -> HttpResponse:
        problems = [problem_of(item, given(request)) for item in exception.errors]
        first = problems[0]
        return error(422, f"{first['pointer'] or 'the request'}: {first['message']}", problems)

    @api.exception_handler(Http404)
    def not_found(request: HttpRequest, exception: Http404) -> HttpResponse:
        return error(404, f"there is nothing at {request.path}")

    @api.exception_handler(RequestDataTooBig)
    def too_large(request: HttpRequest, exception: RequestDataTooBig) -> HttpResponse:
        return error(413, "the request body is too large; send a smaller one")

    @api.exception_handler(MultiPartParserError)
    @api.exception_handler(TooManyFilesSent)
    def bad_form(request: HttpRequest, exception: Exception) -> HttpResponse:
        return error(400, f"the form cannot be read: {exception}; send multipart/form-data with one part named 'file'")

    @api.exception_handler(HttpError)
    def http_error(request: HttpRequest, exception: HttpError) -> HttpResponse:
        if isinstance(exception.__cause__, ApiError):  # Ninja wraps exceptions of its parser
            return api_error(request, exception.__cause__)
        return error(exception.status_code, str(exception))

    @api.exception_handler(Exception)
    def unexpected(request: HttpRequest, exception: Exception) -> HttpResponse:
        return server_error(request)


def given(request: HttpRequest) -> Any:
    """The body as JSON; None if it is none."""
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError, RawPostDataException):
        return None


def problem_of(item: dict[str, Any], body: Any) -> dict[str, Any]:
    """Convert an error of Ninja's own validation (body, query, path) to the shape of the engine's problems."""
    source, *place = item["loc"]
    if place and (source == "body" or (source == "form" and len(place) > 1)):
        place = place[1:]  # the name of the Python parameter
    if len(place) > 1 and isinstance(body, dict) and place[0] not in body and place[0] in [*body.values()]:
        place = place[1:]  # the kind of a body that can be of several
    return Problem(pointer(*place), item["type"], item["msg"].removeprefix("Value error, ")).as_dict()

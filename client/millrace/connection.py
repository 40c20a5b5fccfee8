"""HTTP calls. Every call names its method and path as in the OpenAPI document."""

from __future__ import annotations

import json
import time
import uuid
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx

from .errors import LabError

EXAMPLE = "http://127.0.0.1:8000"
ANSWER_TIMEOUT_S = 60.0
PAUSES_S = (0.2, 1.0, 3.0)
"""Before a request is sent again that got no answer."""
PAUSE_S_MAX = 10.0
REPEATED = ("GET", "POST")
"""Methods whose requests are sent again. Those that make something carry a key, by which the server knows that it has carried them out."""
READS = ("/api/validate", "/api/spark/selection", "/api/datasets/preview")
"""POSTs that make nothing."""


class Unreachable(LabError):
    """The server does not respond; retrying may help."""


class Connection:
    """Connection to one server with one token."""

    def __init__(self, url: str, token: str, transport: httpx.BaseTransport | None = None) -> None:
        self.url = url.strip().rstrip("/")
        try:
            self.http = httpx.Client(
                base_url=self.url,
                headers={"Authorization": f"Bearer {''.join(token.split())}"},
                timeout=ANSWER_TIMEOUT_S,
                transport=transport,
            )
        except (httpx.InvalidURL, UnicodeEncodeError):
            raise LabError(f"invalid address '{url}' or token; give an address like {EXAMPLE}, and the token as issued") from None

    def call(self, method: str, path: str, *, query: dict[str, Any] | None = None, body: dict[str, Any] | None = None, **named: Any) -> Any:
        """Return the JSON of the response, or None if it is empty. named: values for the braces in the path. Raises LabError."""
        sent: dict[str, Any] = {"params": {name: value for name, value in (query or {}).items() if value is not None}}
        if body is not None:
            sent |= {"content": encoded(body), "headers": {"Content-Type": "application/json"}}
        answer = self._ask(method, path, named, **sent)
        return answer.json() if answer.content else None

    def text(self, method: str, path: str, *, query: dict[str, Any] | None = None, **named: Any) -> str:
        """Return the text of a response that is not JSON."""
        return self._ask(method, path, named, params=query).text

    def upload(self, method: str, path: str, file: Path, fields: dict[str, str], bytes_max: int | None = None) -> Any:
        """Upload a file, or its first bytes, as a form. Raises LabError, also if the file cannot be read."""
        try:
            with file.open("rb") as opened:
                content = opened if bytes_max is None else opened.read(bytes_max)
                return self._ask(method, path, {}, files={"file": (file.name, content)}, data=fields).json()
        except OSError as error:
            raise LabError(f"{file} cannot be read: {error.strerror or error}") from None

    def _ask(self, method: str, path: str, named: dict[str, Any], **sent: Any) -> httpx.Response:
        address = path.format(**{name: quote(str(value), safe="") for name, value in named.items()})
        if method == "POST" and path not in READS:
            sent["headers"] = {**sent.get("headers", {}), "Idempotency-Key": str(uuid.uuid4())}
        pauses_s = iter(PAUSES_S if method in REPEATED else ())
        while True:
            try:
                answer = self.http.request(method, address, **sent)
            except httpx.TransportError as error:
                pause_s = next(pauses_s, None)
                if pause_s is None:
                    raise Unreachable(f"{self.url} does not respond ({error}); is Millrace running there?") from None
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                raise LabError(f"invalid address {self.url}: {error}; give an address like {EXAMPLE}") from None
            else:
                if answer.is_success:
                    return answer
                pause_s = next(pauses_s, None) if is_soon(answer) else None
                if pause_s is None:
                    raise refused(answer, self.url)
                pause_s = max(pause_s, min(PAUSE_S_MAX, float(answer.headers["Retry-After"])))
            time.sleep(pause_s)
            for _, content in sent.get("files", {}).values():
                if not isinstance(content, bytes):
                    content.seek(0)


def is_soon(answer: httpx.Response) -> bool:
    """Whether a part of the server is away for the moment, or the same request is still in progress."""
    return answer.status_code in (409, 429, 503) and answer.headers.get("Retry-After", "").isdecimal()


def encoded(body: dict[str, Any]) -> bytes:
    """Encode as JSON, converting NumPy numbers and arrays. Raises LabError."""
    try:
        return json.dumps(body, default=plain, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise LabError(f"cannot convert to JSON: {error}; use texts, finite numbers, lists and mappings") from None


def plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"{value!r} is a {type(value).__name__}")


def refused(answer: httpx.Response, url: str) -> LabError:
    try:
        told = answer.json()
        return LabError(told["detail"], answer.status_code, told.get("problems", []))
    except (ValueError, KeyError, TypeError, AttributeError):
        return LabError(
            f"{url} responds with status {answer.status_code}, but not like Millrace; is the address right?", answer.status_code
        )

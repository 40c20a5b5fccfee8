"""Authentication by bearer token or session cookie (with the CSRF header on writes), and authorization."""

from __future__ import annotations

from django.http import HttpRequest
from ninja.security.base import AuthBase
from ninja.utils import check_csrf

from webapp.accounts.access import Asker, NoMember, NotSignedIn, by_session, by_token
from webapp.accounts.rights import Right
from webapp.lab.person_limits import PersonLimits, count_request

from .errors import Problem401, Problem403, Problem429

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
NO_CSRF = "the CSRF token is missing or wrong; send the value of the cookie 'csrftoken' in the header X-CSRFToken"
HOW_TO_SIGN_IN = "open a link made by 'manage.py signin_url', or send 'Authorization: Bearer <token>'"


class Needs(AuthBase):
    """The right that a route requires. Default: read for safe methods, write for all others.

    Calling it returns the Asker, which becomes `request.auth`. Raises Problem401, Problem403.
    """

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, right: Right | None = None, of_token: Right | None = None) -> None:
        """of_token: the right a token needs, if tokens need more than people."""
        super().__init__()
        self.right, self.of_token = right, of_token

    def __call__(self, request: HttpRequest) -> Asker:
        asker = who_asks(request)
        right = self.right if self.right is not None else Right.READ if request.method in SAFE_METHODS else Right.WRITE
        refusal = asker.refusal(right, self.of_token)
        if refusal:
            raise Problem403(refusal, needs=str(right if self.of_token is None else self.of_token))
        if wait_s := count_request(asker.lab, asker.user.pk):
            limit = PersonLimits.of(asker.lab).requests
            raise Problem429(f"you may send {limit} requests in a minute; try again in {wait_s} s", retry_after_s=wait_s)
        return asker


def who_asks(request: HttpRequest) -> Asker:
    """Look up who sends the request, once for each request. Raises Problem401, Problem403."""
    known: Asker | None = getattr(request, "asker", None)
    if known is None:
        known = request.asker = _looked_up(request)  # type: ignore[attr-defined]
    return known


def _looked_up(request: HttpRequest) -> Asker:
    scheme, _, token = request.headers.get("Authorization", "").strip().partition(" ")
    try:
        if scheme.lower() == "bearer":
            return by_token(token)
        asker = by_session(request.user, request.session)
    except NotSignedIn as refused:
        raise Problem401(f"{refused}: {HOW_TO_SIGN_IN}") from None
    except NoMember as refused:
        raise Problem401(f"{refused}: {HOW_TO_SIGN_IN}", member=False) from None
    if check_csrf(request):
        raise Problem403(NO_CSRF)
    return asker

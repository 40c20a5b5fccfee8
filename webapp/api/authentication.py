"""Who asks: a bearer token, or a session cookie with the CSRF header on writes."""

from __future__ import annotations

from django.http import HttpRequest
from ninja.utils import check_csrf

from webapp.accounts.models import ApiToken
from webapp.lab.models import Membership
from webapp.lab.people import membership_of

from .errors import Problem403

SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
READS_BY_POST = ("/validate", "/preview")  # a document is too large for an address


def authenticate(request: HttpRequest) -> Membership | None:
    """The asker's membership, which becomes `request.auth`; None answers 401. A viewer who writes gets 403."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        user = ApiToken.user_of(token.strip())
        membership = membership_of(user) if user else None
    else:
        membership = membership_of(request.user)
        if membership and check_csrf(request):
            raise Problem403("the CSRF token is missing or wrong; send the value of the cookie 'csrftoken' in the header X-CSRFToken")
    reads = request.method in SAFE_METHODS or request.path.endswith(READS_BY_POST)
    if membership and not reads and not membership.may_write:
        raise Problem403(f"your role in the lab is '{membership.role}', which may read only; ask an owner for the role 'member'")
    return membership

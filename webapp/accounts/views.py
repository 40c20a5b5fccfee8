"""Sign-in by one-time link."""

from __future__ import annotations

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.lab.people import membership_of

from .access import CHOSEN_LAB, CONFINED_TO_LAB
from .audit import note
from .models import SignInToken

BY_LINK = "by_link"  # session key: the person signed in by link, not by password
USED_UP = "This sign-in link has been used or has expired. Create a new one with: .venv/bin/python manage.py signin_url\n"


@require_GET
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in the owner of the token and redirect to the start page."""
    token = SignInToken.redeem(request.GET.get("token", ""))
    if token is None or not token.user.is_active:
        if request.user.is_authenticated:  # the person reloaded the link
            return HttpResponseRedirect("/")
        return HttpResponse(USED_UP, status=403, content_type="text/plain")
    login(request, token.user)
    request.session[BY_LINK] = True
    request.session.pop(CHOSEN_LAB, None)
    request.session[CONFINED_TO_LAB] = token.lab_id
    membership = membership_of(token.user, token.lab_id, confined=token.lab_id is not None)
    if membership:
        note(membership, "session.sign_in", detail="by link")
    return HttpResponseRedirect("/")

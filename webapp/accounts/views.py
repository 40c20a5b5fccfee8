"""Signing in by a one-time link."""

from __future__ import annotations

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.lab.people import membership_of

from .audit import note
from .models import SignInToken

BY_LINK = "by_link"  # of a session: its person came with a link, not with a password
USED_UP = "This sign-in link has been used or has run out. Make a new one with: .venv/bin/python manage.py signin_url\n"


@require_GET
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign the owner of the token in and go to the first page."""
    user = SignInToken.redeem(request.GET.get("token", ""))
    if user is None or not user.is_active:
        if request.user.is_authenticated:  # somebody who reloads the link is in already
            return HttpResponseRedirect("/")
        return HttpResponse(USED_UP, status=403, content_type="text/plain")
    login(request, user)
    request.session[BY_LINK] = True
    membership = membership_of(user)
    if membership:
        note(membership, "session.sign_in", detail="by link")
    return HttpResponseRedirect("/")

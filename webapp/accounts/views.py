"""Sign-in by one-time link."""

from __future__ import annotations

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from webapp.lab.people import membership_of

from .audit import note
from .models import SignInToken

BY_LINK = "by_link"  # session key: the person signed in by link, not by password
USED_UP = "This sign-in link has been used or has expired. Create a new one with: .venv/bin/python manage.py signin_url\n"


@require_GET
@never_cache
def sign_in(request: HttpRequest) -> HttpResponse:
    """Sign in the owner of the token and redirect to the start page."""
    user = SignInToken.redeem(request.GET.get("token", ""))
    if user is None or not user.is_active:
        if request.user.is_authenticated:  # the person reloaded the link
            return HttpResponseRedirect("/")
        return HttpResponse(USED_UP, status=403, content_type="text/plain")
    login(request, user)
    request.session[BY_LINK] = True
    membership = membership_of(user)
    if membership:
        note(membership, "session.sign_in", detail="by link")
    return HttpResponseRedirect("/")

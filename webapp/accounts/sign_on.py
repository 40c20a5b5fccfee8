"""Sign-on through an identity provider, by OpenID Connect, with django-allauth.

The provider says who a person is; the lab says what they may do. A person whom it sends for the first time gets an account of their own.
It is never joined with an account that is there by name or e-mail, since a provider may let people choose these: who has an account
connects it while signed in.
"""

from __future__ import annotations

import itertools
import logging
from enum import StrEnum
from typing import Any

import requests
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter, get_adapter
from allauth.socialaccount.models import SocialAccount
from allauth.socialaccount.providers.base import AuthProcess
from django.conf import settings
from django.contrib.auth import get_user_model
from django.http import HttpRequest, HttpResponseRedirect

from webapp.lab.people import join

from .access import CONFINED_TO_LAB
from .audit import note

log = logging.getLogger(__name__)

PROVIDER = "provider"
"""In the address to which the provider sends people back."""
ANSWER_S = 10.0
NAME_LENGTH_MAX = 40


class ProviderAway(Exception):
    """The identity provider does not answer as it should; the message says what is wrong."""


class Reason(StrEnum):
    """Why a sign-on was refused; `frontend/src/app/refusals.json` has the sentences."""

    BY_LINK = "by-link"
    TAKEN = "taken"
    DEACTIVATED = "deactivated"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Adapter(DefaultSocialAccountAdapter):
    """What django-allauth asks about people whom the provider sends."""

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        is_connecting = sociallogin.state.get("process") == AuthProcess.CONNECT
        if is_connecting and request.session.get(CONFINED_TO_LAB):  # else the owner who made the link could sign in as this person
            raise refused(Reason.BY_LINK)
        if is_connecting and sociallogin.is_existing and sociallogin.user != request.user:
            raise refused(Reason.TAKEN)
        if sociallogin.is_existing and not sociallogin.user.is_active:
            raise refused(Reason.DEACTIVATED)
        if not is_connecting:
            request.session.pop(CONFINED_TO_LAB, None)

    def populate_user(self, request: HttpRequest, sociallogin: Any, data: dict[str, Any]) -> Any:
        user = super().populate_user(request, sociallogin, data)
        user.username = free_name(str(data.get("username") or (data.get("email") or "").partition("@")[0] or data.get("name") or "person"))
        return user

    def save_user(self, request: HttpRequest, sociallogin: Any, form: Any = None) -> Any:
        user = super().save_user(request, sociallogin, form)
        if settings.SIGN_ON_ROLE:
            membership = join(user, settings.SIGN_ON_ROLE)
            note(membership, "join.account", detail=f"from {settings.SIGN_ON_NAME}, role {membership.role}")
        return user

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: Any) -> str:
        return "/"

    def on_authentication_error(self, request: HttpRequest, provider: Any, error: Any = None, exception: Any = None, **_: Any) -> None:
        if exception is not None:
            log.warning("sign-on through %s failed: %s", settings.SIGN_ON_NAME, exception)
        raise refused(Reason.CANCELLED if error == "cancelled" else Reason.FAILED)

    def get_requests_session(self) -> requests.Session:
        session: requests.Session = super().get_requests_session()
        session.request = _within(session.request)  # type: ignore[method-assign]
        return session


def free_name(wanted: str) -> str:
    """Return the wanted name, or the first of name-2, name-3, ... that nobody has."""
    users, wanted = get_user_model().objects, wanted.strip()[:NAME_LENGTH_MAX] or "person"
    names = itertools.chain([wanted], (f"{wanted}-{n}" for n in itertools.count(2)))
    return next(name for name in names if not users.filter(username__iexact=name).exists())


def _within(request: Any) -> Any:
    """Do not wait longer for the provider than a person does."""

    def asked(*arguments: Any, **named: Any) -> Any:
        return request(*arguments, **{"timeout": ANSWER_S, **named})

    return asked


def refused(reason: Reason) -> ImmediateHttpResponse:
    """To be raised: back to the page, which shows why. The address has no text of its own, since anybody can make one."""
    return ImmediateHttpResponse(HttpResponseRedirect(f"/?sign_on={reason}"))


def address(request: HttpRequest, *, connect: bool) -> str:
    """Return the provider's address to which the browser goes. connect: the account there will open the signed-in account. Raises
    ProviderAway."""
    try:
        provider = get_adapter().get_provider(request, PROVIDER)
        process = AuthProcess.CONNECT if connect else AuthProcess.LOGIN
        return str(provider.redirect(request, process=process, next_url="/")["Location"])
    except (requests.RequestException, KeyError, ValueError) as error:
        log.warning("%s cannot be asked: %s", settings.SIGN_ON_NAME, error)
        raise ProviderAway(f"{settings.SIGN_ON_NAME} does not answer; try again later, or sign in with a password") from None


def is_connected(user: Any) -> bool:
    return SocialAccount.objects.filter(user=user).exists()

"""Sign in and out, by name and password or by invitation. Sign-in links have their own page (accounts/views).

django-allauth's adapter checks names and passwords and limits failed attempts.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.contrib.auth import get_user_model, update_session_auth_hash
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from ninja import Router, Schema, Status
from ninja.utils import check_csrf
from pydantic import Field, StringConstraints

from engine.spec import Problem
from webapp.accounts import second_factor, sign_on
from webapp.accounts.access import CHOSEN_LAB, CONFINED_TO_LAB
from webapp.accounts.audit import note_failed_sign_in
from webapp.accounts.models import Invitation
from webapp.accounts.rights import Right, RoleName
from webapp.accounts.views import BY_LINK
from webapp.lab.models import Membership
from webapp.lab.people import membership_of, memberships_of

from .authentication import NO_CSRF, Needs
from .errors import Problem401, Problem403, Problem404, Problem409, Problem422, Problem429
from .parsing import Body, Bool, Int

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=50)]
Password = Annotated[str, StringConstraints(min_length=1, max_length=200)]


CODE_LENGTH_MAX = 50
PENDING_SECRET = "second_factor"
SIGN_IN_AGAIN = (
    "an owner's link has signed {who} in, which does not suffice to {what}; sign in with your password, or with a link made on the server "
    "by 'manage.py signin_url --user {who}'"
)


def from_a_page(request: HttpRequest) -> bool:
    """Allow anyone, but only from our own pages, so that no other site can sign a browser in."""
    if check_csrf(request):
        raise Problem403(NO_CSRF)
    return True


router, join = Router(auth=from_a_page), Router(auth=from_a_page)


class Credentials(Body):
    """code: of the second factor, if the person has one."""

    name: Name
    password: Password
    code: str = Field("", max_length=CODE_LENGTH_MAX)


class NewPassword(Body):
    password: Password
    current: str = ""


class ChosenLab(Body):
    """lab: its id, one of the labs that /api/me lists."""

    lab: Int


class InvitationText(Body):
    token: str


class NewAccount(Body):
    name: Name
    password: Password
    token: str


class Ways(Schema):
    """sign_on: name of the identity provider; null without one."""

    sign_on: str | None


class SignOn(Body):
    """connect: sign in to the account that is signed in now, from now on."""

    connect: Bool = False


class Address(Schema):
    url: str


class Factor(Schema):
    """active: signing in with the password needs a code. codes_left: unused recovery codes. connected: whether the identity provider opens
    this account, too; null without a provider."""

    active: bool
    codes_left: int
    connected: bool | None


class NewFactor(Schema):
    """secret: for an authenticator app. address: the same for a link. code: the same as a QR code, rows of 0 and 1."""

    secret: str
    address: str
    code: list[str]


class Code(Body):
    code: str = Field(max_length=CODE_LENGTH_MAX)


class RecoveryCodes(Schema):
    """Each is good for one sign-in without the app. Shown only in this response."""

    recovery_codes: list[str]


class Welcome(Schema):
    lab: str
    role: RoleName
    invited_by: str | None
    expires_at: datetime
    you: str | None  # the user who is already signed in
    member: bool  # whether that user belongs to this lab
    confined: bool  # whether that user's session may not join another lab, since an owner's link has opened it


class Joined(Schema):
    name: str
    lab: str
    role: RoleName


@router.post("", response={204: None}, summary="Sign in with name and password")
def sign_in(request: HttpRequest, body: Credentials) -> Status:
    user = authenticated(request, body.name, body.password)
    if second_factor.is_active(user):
        check_code(request, user, body.code)
    get_adapter().login(request, user)
    for key in (BY_LINK, CONFINED_TO_LAB):  # of a link that the same person used before
        request.session.pop(key, None)
    return Status(204, None)


@router.get("/ways", auth=None, response=Ways, summary="How people can sign in, besides name and password")
def ways(request: HttpRequest) -> Ways:
    return Ways(sign_on=settings.SIGN_ON_NAME if settings.SIGN_ON_URL else None)


@router.post("/sign-on", response=Address, summary="Where to go to sign in through the identity provider")
def sign_on_address(request: HttpRequest, body: SignOn) -> Address:
    """The browser comes back signed in, or to `/?sign_on=REASON`."""
    if not settings.SIGN_ON_URL:
        raise Problem404("this installation has no identity provider; MILLRACE_OIDC_URL names one")
    if body.connect and not request.user.is_authenticated:
        raise Problem401("sign in first, to the account that the provider shall open")
    try:
        return Address(url=sign_on.address(request, connect=body.connect))
    except sign_on.ProviderAway as error:
        raise Problem409(str(error)) from None


OF_ONES_OWN = Needs(Right.READ, of_token=Right.ADMIN)


@router.get("/factor", auth=Needs(Right.READ), response=Factor, summary="Whether you sign in with a second factor")
def factor(request: HttpRequest) -> Factor:
    user = person(request)
    connected = sign_on.is_connected(user) if settings.SIGN_ON_URL else None
    return Factor(active=second_factor.is_active(user), codes_left=second_factor.codes_left(user), connected=connected)


@router.post("/factor/secret", auth=OF_ONES_OWN, response=NewFactor, summary="A secret for an authenticator app; not active yet")
def begin_factor(request: HttpRequest) -> NewFactor:
    secret, address = second_factor.new_secret(person(request))
    request.session[PENDING_SECRET] = second_factor.Adapter().encrypt(secret)
    return NewFactor(secret=secret, address=address, code=second_factor.rows_of_code(address))


@router.put("/factor", auth=OF_ONES_OWN, response=RecoveryCodes, summary="Activate the second factor with a code of the app")
def activate_factor(request: HttpRequest, body: Code) -> RecoveryCodes:
    user = person(request)
    secret = request.session.get(PENDING_SECRET)
    if secret is None:
        raise Problem409("there is no new secret; POST /api/session/factor/secret makes one")
    if second_factor.is_active(user):
        raise Problem409("the second factor is active already; deactivate it first")
    check_trusted(request, user, "add a second factor while you belong to several labs")
    codes = second_factor.activate(user, second_factor.Adapter().decrypt(secret), body.code)
    if codes is None:
        raise wrong_code()
    del request.session[PENDING_SECRET]
    return RecoveryCodes(recovery_codes=codes)


@router.post("/factor/off", auth=OF_ONES_OWN, response={204: None}, summary="Deactivate the second factor")
def deactivate_factor(request: HttpRequest, body: Code) -> Status:
    """With a code of the app or a recovery code. A person who signed in by link needs none."""
    user = person(request)
    if not second_factor.is_active(user):
        return Status(204, None)
    if not (request.session.get(BY_LINK) and is_trusted(request, user)):
        try:
            if not second_factor.check(user, body.code):
                raise wrong_code()
        except second_factor.TooManyTries as error:
            raise Problem429(str(error)) from None
    second_factor.deactivate(user)
    return Status(204, None)


@router.delete("", response={204: None}, summary="Sign out")
def sign_out(request: HttpRequest) -> Status:
    get_adapter().logout(request)
    return Status(204, None)


@router.put("/password", auth=Needs(Right.READ, of_token=Right.ADMIN), response={204: None}, summary="Set your own password")
def set_password(request: HttpRequest, body: NewPassword) -> Status:
    """A person who signed in by link, or has no password yet, need not give the current one. An owner's link does not suffice for a person
    who also belongs to other labs: it would open these to that owner."""
    if request.auth.token:
        raise Problem403("a token cannot set a password; sign in in the browser")
    user = request.auth.user
    if not user.has_usable_password():
        check_trusted(request, user, "set a password while you belong to several labs")
    if user.has_usable_password() and not (request.session.get(BY_LINK) and is_trusted(request, user)):
        try:
            authenticated(request, user.get_username(), body.current)
        except Problem401:
            detail = "the current password is wrong"
            raise Problem422(detail, [Problem("/current", "wrong", detail).as_dict()]) from None
    user.set_password(checked_password(body.password, user))
    user.save(update_fields=["password"])
    update_session_auth_hash(request, user)
    return Status(204, None)


@router.put("/lab", auth=Needs(Right.READ, of_token=Right.ADMIN), response={204: None}, summary="Choose the lab that this session is about")
def choose_lab(request: HttpRequest, body: ChosenLab) -> Status:
    if request.auth.token:
        raise Problem403(f"a token is of one lab, this one of '{request.auth.lab.name}'; issue one in the other lab")
    confined = request.session.get(CONFINED_TO_LAB)
    if not memberships_of(request.auth.user).filter(lab=body.lab).exists() or confined not in (None, body.lab):
        raise Problem404(f"you do not belong to a lab {body.lab}")
    request.session[CHOSEN_LAB] = body.lab
    return Status(204, None)


@join.post("", response=Welcome, summary="What an invitation is for")
def look(request: HttpRequest, body: InvitationText) -> Welcome:
    invitation = fresh(body.token)
    user = request.user if request.user.is_authenticated else None
    by = invitation.invited_by
    return Welcome(
        lab=invitation.lab.name, role=invitation.role, invited_by=by.get_username() if by else None, expires_at=invitation.expires_at,
        you=user.get_username() if user else None, member=bool(user and membership_of(user, invitation.lab_id, confined=True)),
        confined=bool(user and request.session.get(CONFINED_TO_LAB)),
    )  # fmt: skip


@join.post("/account", response={201: Joined}, summary="Join with a new account, and sign in")
def with_a_new_account(request: HttpRequest, body: NewAccount) -> Status:
    invitation = fresh(body.token)
    name = checked("/name", get_adapter().clean_username, body.name)
    user = get_user_model()(username=name)
    user.set_password(checked_password(body.password, user))
    try:
        with transaction.atomic():
            user.save()
            membership = use(invitation, user)
    except IntegrityError:
        raise Problem409(f"the name '{name}' has just been taken; choose another one") from None
    get_adapter().login(request, user)
    return Status(201, Joined(name=name, lab=membership.lab.name, role=membership.role))


@join.post("/accept", response={201: Joined}, summary="Join with the signed-in account")
def with_an_account(request: HttpRequest, body: InvitationText) -> Status:
    invitation = fresh(body.token)
    user = request.user
    if not user.is_authenticated:
        raise Problem401("sign in first, or create an account")
    if membership_of(user, invitation.lab_id, confined=True):
        raise Problem409(f"{user.get_username()} already belongs to the lab '{invitation.lab.name}'; sign out to join as someone else")
    if request.session.get(CONFINED_TO_LAB):
        raise Problem403(SIGN_IN_AGAIN.format(who=user.get_username(), what="join another lab"))
    with transaction.atomic():
        membership = use(invitation, user)
    request.session[CHOSEN_LAB] = membership.lab_id
    return Status(201, Joined(name=user.get_username(), lab=membership.lab.name, role=membership.role))


def person(request: HttpRequest) -> Any:
    """The person themselves. Raises Problem403 for a program."""
    if request.auth.token:
        raise Problem403("a token cannot change how its person signs in; sign in in the browser")
    return request.auth.user


def is_trusted(request: HttpRequest, user: Any) -> bool:
    """Whether the session may change how the person signs in. One that an owner's link has opened may not if the person also belongs to
    other labs, which that owner must not enter."""
    return not request.session.get(CONFINED_TO_LAB) or memberships_of(user).count() == 1


def check_trusted(request: HttpRequest, user: Any, what: str) -> None:
    if not is_trusted(request, user):
        raise Problem403(SIGN_IN_AGAIN.format(who=user.get_username(), what=what))


def check_code(request: HttpRequest, user: Any, code: str) -> None:
    """Raises Problem401 with `needs`, or Problem429 after too many wrong codes."""
    if not code.strip():
        raise Problem401("enter the code of your authenticator app, or a recovery code", needs="code")
    try:
        right = second_factor.check(user, code)
    except second_factor.TooManyTries as error:
        raise Problem429(str(error)) from None
    if not right:
        note_failed_sign_in(user.get_username(), get_adapter().get_client_ip(request))
        raise Problem401("the code is wrong; wait for the next one, or use a recovery code", needs="code")


def wrong_code() -> Problem422:
    detail = "the code is wrong; wait for the next one, and check the clock of your device"
    return Problem422(detail, [Problem("/code", "wrong", detail).as_dict()])


def authenticated(request: HttpRequest, name: str, password: str) -> Any:
    """Return the user. Raises Problem401, or Problem429 after too many failed attempts."""
    try:
        user = get_adapter().authenticate(request, username=name, password=password)
    except ValidationError:
        wait_s = settings.SIGN_IN_WAIT_S
        when = f"try again in {wait_s // 60} minutes, or ask an owner of the lab for a link"
        detail = f"too many wrong passwords for {name}, or from your address; {when}"
        raise Problem429(detail, retry_after_s=wait_s) from None
    if user is None:
        note_failed_sign_in(name, get_adapter().get_client_ip(request))
        raise Problem401("wrong name or password; an owner of the lab can create a sign-in link for you")
    return user


def fresh(token: str) -> Invitation:
    invitation = Invitation.find(token)
    if invitation is None:
        raise Problem404("unknown invitation; the link may be incomplete")
    if invitation.why_ended:
        raise Problem409(f"{invitation.why_ended}; ask an owner of the lab for another one")
    return invitation


def use(invitation: Invitation, user: Any) -> Membership:
    """Raises Problem409 if someone else used it first; the caller's transaction is then rolled back."""
    if not invitation.use():
        raise Problem409("someone else has just used this invitation; ask an owner of the lab for another one")
    return Membership.objects.create(lab=invitation.lab, user=user, role=invitation.role)


def checked_password(password: str, user: Any) -> str:
    return str(checked("/password", get_adapter().clean_password, password, user))


def checked(field: str, check: Any, *values: Any) -> Any:
    """Return the check's result; its objections become problems of the field."""
    try:
        return check(*values)
    except ValidationError as error:
        problems = [Problem(field, "bad_value", message).as_dict() for message in error.messages]
        raise Problem422(f"{field}: {error.messages[0]}", problems) from None

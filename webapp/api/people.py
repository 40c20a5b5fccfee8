"""Members of the lab, their roles, and invitations. All members can see them; owners can change them."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Schema, Status
from pydantic import Field

from webapp.accounts.access import Asker
from webapp.accounts.models import ApiToken, Invitation, SignInToken
from webapp.accounts.models.tokens import SIGN_IN_TOKEN_LIFETIME
from webapp.accounts.rights import Right, RoleName
from webapp.lab import people
from webapp.lab.models import Membership

from .authentication import Needs
from .errors import Problem404, Problem409
from .parsing import Body, Int

router, invitations = Router(), Router(auth=Needs(Right.ADMIN))


class Person(Schema):
    id: int
    name: str
    role: RoleName
    you: bool
    joined_at: datetime
    signed_in_at: datetime | None

    @classmethod
    def of(cls, membership: Membership, asker: Asker) -> Person:
        user = membership.user
        return cls(
            id=membership.pk, name=user.get_username(), role=membership.role, you=user.pk == asker.user.pk, joined_at=user.date_joined,
            signed_in_at=user.last_login,
        )  # fmt: skip


class NewRole(Body):
    role: RoleName


class Link(Schema):
    path: str
    expires_at: datetime


class NewInvitation(Body):
    role: RoleName = "member"
    expires_in_days: Int = Field(7, ge=1, le=30)


class InvitationShape(Schema):
    id: int
    role: RoleName
    invited_by: str | None
    created_at: datetime
    expires_at: datetime

    @classmethod
    def of(cls, invitation: Invitation) -> InvitationShape:
        by = invitation.invited_by
        return cls(
            id=invitation.pk, role=invitation.role, invited_by=by.get_username() if by else None, created_at=invitation.created_at,
            expires_at=invitation.expires_at,
        )  # fmt: skip


class Invited(InvitationShape):
    path: str


@router.get("", response=list[Person], summary="Members of the lab, by name")
def listing(request: HttpRequest) -> list[Person]:
    found = Membership.objects.filter(lab=request.auth.lab).select_related("user").order_by("user__username")
    return [Person.of(membership, request.auth) for membership in found]


@router.put("/{int:person_id}", auth=Needs(Right.ADMIN), response=Person, summary="Change a person's role")
def change_role(request: HttpRequest, person_id: int, body: NewRole) -> Person:
    membership = membership_of(request.auth, person_id)
    try:
        people.change_role(membership, body.role)
    except people.LastOwner as refused:
        raise Problem409(str(refused)) from None
    membership.refresh_from_db()
    return Person.of(membership, request.auth)


@router.delete("/{int:person_id}", auth=Needs(Right.ADMIN), response={204: None}, summary="Remove a person; their work stays")
def remove(request: HttpRequest, person_id: int) -> Status:
    """Revokes their tokens of this lab. Their open connections close within seconds."""
    membership = membership_of(request.auth, person_id)
    try:
        people.remove(membership)
    except people.LastOwner as refused:
        raise Problem409(str(refused)) from None
    ApiToken.objects.filter(user=membership.user, lab=membership.lab_id, revoked_at__isnull=True).update(revoked_at=timezone.now())
    SignInToken.objects.filter(Q(lab=membership.lab_id) | Q(lab=None), user=membership.user, used_at__isnull=True).delete()
    return Status(204, None)


@router.post(
    "/{int:person_id}/link", auth=Needs(Right.ADMIN), response={201: Link}, summary="Create a single-use sign-in link for a person"
)
def link(request: HttpRequest, person_id: int) -> Status:
    """For a person who forgot their password; once signed in, they can set a new one. The link opens this lab only, and the password of a
    person who also belongs to others stays."""
    user = membership_of(request.auth, person_id).user
    expires_at = timezone.now() + SIGN_IN_TOKEN_LIFETIME
    return Status(201, Link(path=f"/signin?token={SignInToken.issue(user, request.auth.lab)}", expires_at=expires_at))


@invitations.get("", response=list[InvitationShape], summary="Unused invitations, newest first")
def invited(request: HttpRequest) -> list[InvitationShape]:
    waiting = Invitation.objects.filter(
        lab=request.auth.lab, used_at__isnull=True, withdrawn_at__isnull=True, expires_at__gt=timezone.now()
    )
    return [InvitationShape.of(invitation) for invitation in waiting.select_related("invited_by").order_by("-pk")]


@invitations.post("", response={201: Invited}, summary="Invite a person with a single-use link, shown only in this response")
def invite(request: HttpRequest, body: NewInvitation) -> Status:
    lifetime = timedelta(days=body.expires_in_days)
    invitation, text = Invitation.issue(request.auth.lab, body.role, request.auth.user, lifetime)
    return Status(201, Invited(path=f"/join?token={text}", **InvitationShape.of(invitation).dict()))


@invitations.delete("/{int:invitation_id}", response={204: None}, summary="Withdraw an invitation")
def withdraw(request: HttpRequest, invitation_id: int) -> Status:
    waiting = Invitation.objects.filter(pk=invitation_id, lab=request.auth.lab, used_at__isnull=True)
    if not waiting.update(withdrawn_at=timezone.now()):
        raise Problem404(f"there is no open invitation {invitation_id}; it may have been used")
    return Status(204, None)


def membership_of(asker: Asker, person_id: int) -> Membership:
    found = Membership.objects.select_related("user").filter(pk=person_id, lab=asker.lab).first()
    if found is None:
        raise Problem404(f"there is no person {person_id} in this lab")
    return found

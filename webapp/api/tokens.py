"""API tokens: issue, list, revoke. People manage their own tokens; owners of the lab can see and revoke all."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Literal

from django.db.models import QuerySet
from django.http import HttpRequest
from ninja import Router, Schema, Status
from pydantic import Field, StringConstraints

from webapp.accounts.access import Asker
from webapp.accounts.models import ApiToken
from webapp.accounts.rights import Right, Scope

from .authentication import Needs
from .errors import Problem403, Problem404, Problem409
from .parsing import Body, Int

router = Router()

OF_ONES_OWN = Needs(Right.READ, of_token=Right.ADMIN)  # a leaked token must not be able to issue one that outlives it
ACTIVE_MAX = 100
LIFETIME_DAYS_MAX = 3650


class NewToken(Body):
    name: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
    scope: Scope
    expires_in_days: Int | None = Field(None, ge=1, le=LIFETIME_DAYS_MAX)


class TokenShape(Schema):
    id: int
    name: str
    person: str
    yours: bool
    scope: Scope
    state: Literal["active", "expired", "revoked"]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None

    @classmethod
    def of(cls, token: ApiToken, asker: Asker) -> TokenShape:
        return cls(
            id=token.pk, name=token.name, person=token.user.get_username(), yours=token.user_id == asker.user.pk, scope=token.scope,
            state=token.state, created_at=token.created_at, expires_at=token.expires_at, last_used_at=token.last_used_at,
            revoked_at=token.revoked_at,
        )  # fmt: skip


class Issued(TokenShape):
    token: str


@router.get("", response=list[TokenShape], summary="Your tokens, newest first; for an owner, all tokens of the lab")
def listing(request: HttpRequest) -> list[TokenShape]:
    return [TokenShape.of(token, request.auth) for token in within_reach(request.auth)]


@router.post("", auth=OF_ONES_OWN, response={201: Issued}, summary="Issue a token; its text is shown only in this response")
def issue(request: HttpRequest, body: NewToken) -> Status:
    asker, right = request.auth, Right.of_scope(body.scope)
    if right > asker.right:
        raise Problem403(
            f"your role in the lab is '{asker.membership.role}', and a token cannot exceed it: choose '{asker.right}' or lower"
        )
    active = [
        token for token in ApiToken.objects.filter(user=asker.user, lab=asker.lab, revoked_at__isnull=True) if token.state == "active"
    ]
    if len(active) >= ACTIVE_MAX:
        raise Problem409(f"you have {len(active)} active tokens, the maximum is {ACTIVE_MAX}; revoke some first")
    lifetime = timedelta(days=body.expires_in_days) if body.expires_in_days else None
    token, text = ApiToken.issue(asker.membership, body.name, right, lifetime)
    return Status(201, Issued(token=text, **TokenShape.of(token, asker).dict()))


@router.delete("/{int:token_id}", auth=OF_ONES_OWN, response={204: None}, summary="Revoke; open connections close within seconds")
def revoke(request: HttpRequest, token_id: int) -> Status:
    token = within_reach(request.auth).filter(pk=token_id).first()
    if token is None:
        raise Problem404(f"you have no token {token_id}")
    token.revoke()
    return Status(204, None)


def within_reach(asker: Asker) -> QuerySet[ApiToken]:
    tokens = ApiToken.objects.filter(lab=asker.lab).select_related("user").order_by("-pk")
    return tokens if asker.right >= Right.ADMIN else tokens.filter(user=asker.user)

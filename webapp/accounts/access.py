"""Who asks, and what they may do: no more than their role in the lab allows, and no more than the scope of their token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from webapp.lab.models import Lab, Membership
from webapp.lab.people import membership_of

from .models import ApiToken
from .rights import Right

MORE_THAN_A_MEMBER = {Right.WRITE: "changes nothing; ask an owner for the role 'member'", Right.ADMIN: "is not enough here; ask an owner"}


class NotSignedIn(Exception):
    """Nobody is known to ask; the sentence says why."""


class NoMember(Exception):
    """Who asks is known, and belongs to no lab."""


@dataclass(frozen=True)
class Asker:
    """A person in front of a page, or a program with a token of theirs."""

    membership: Membership
    token: ApiToken | None = None

    @property
    def lab(self) -> Lab:
        return self.membership.lab

    @property
    def user(self) -> Any:
        return self.membership.user

    @property
    def right(self) -> Right:
        """The most that they may do."""
        own = Right.of_role(self.membership.role)
        return min(own, self.token.right) if self.token else own

    def refusal(self, needed: Right, of_token: Right | None = None) -> str | None:
        """Why they may not do what takes a right (of a token: another one), as a sentence; None if they may."""
        scope = needed if of_token is None else of_token
        if self.token and self.token.right < scope:
            return f"this needs a token with the scope '{scope}', and the scope of this one is '{self.token.scope}'"
        if Right.of_role(self.membership.role) < needed:
            return f"your role in the lab is '{self.membership.role}', which {MORE_THAN_A_MEMBER[needed]}"
        return None


def by_token(text: str) -> Asker:
    """Whoever acts with a token; spaces and line breaks that were pasted with it do not matter. Raises NotSignedIn, NoMember."""
    token = ApiToken.find("".join(text.split()))
    if token is None:
        raise NotSignedIn("this token is not known here; it may be cut short, or of another lab")
    why = token.why_ended or ("" if token.user.is_active else "the account of this token was deactivated")
    if why:
        raise NotSignedIn(why)
    token.note_use()
    return Asker(_member(token.user), token)


def by_session(user: Any) -> Asker:
    """Whoever is signed in. Raises NotSignedIn, NoMember."""
    if not user.is_authenticated or not user.is_active:
        raise NotSignedIn("sign in first")
    return Asker(_member(user))


def _member(user: Any) -> Membership:
    membership = membership_of(user)
    if membership is None:
        raise NoMember("you are not a member of a lab")
    return membership

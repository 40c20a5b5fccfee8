"""Identity and rights of a request: limited by the person's role in the lab and by the scope of their token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from webapp.lab.models import Lab, Membership
from webapp.lab.people import membership_of

from .models import ApiToken
from .rights import Right

MORE_THAN_A_MEMBER = {Right.WRITE: "is read-only; ask an owner for the role 'member'", Right.ADMIN: "is not enough for this; ask an owner"}


class NotSignedIn(Exception):
    """The request has no valid identity; the message says why."""


class NoMember(Exception):
    """The person is known but not a member of a lab."""


CHOSEN_LAB, CONFINED_TO_LAB = "lab", "confined_to_lab"
"""Keys of a session: the lab that was chosen last, and the only one that it may see."""


@dataclass(frozen=True)
class Asker:
    """The requester: a person, or a program with a person's token."""

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
        """The highest right they have."""
        own = Right.of_role(self.membership.role)
        return min(own, self.token.right) if self.token else own

    def refusal(self, needed: Right, of_token: Right | None = None) -> str | None:
        """Return why they lack a right, as a sentence, or None if they have it. of_token: right needed by a token, if different."""
        scope = needed if of_token is None else of_token
        if self.token and self.token.right < scope:
            return f"this needs a token with the scope '{scope}'; this token has the scope '{self.token.scope}'"
        if Right.of_role(self.membership.role) < needed:
            return f"your role in the lab is '{self.membership.role}', which {MORE_THAN_A_MEMBER[needed]}"
        return None


def by_token(text: str) -> Asker:
    """Authenticate by token, ignoring pasted spaces and line breaks. Raises NotSignedIn, NoMember."""
    token = ApiToken.find("".join(text.split()))
    if token is None:
        raise NotSignedIn("unknown token; it may be incomplete, or belong to another lab")
    why = token.why_ended or ("" if token.user.is_active else "the account of this token was deactivated")
    if why:
        raise NotSignedIn(why)
    token.note_use()
    return Asker(_member(token.user, token.lab_id, confined=True), token)


def by_session(user: Any, session: Any) -> Asker:
    """Authenticate by session. Raises NotSignedIn, NoMember."""
    if not user.is_authenticated or not user.is_active:
        raise NotSignedIn("sign in first")
    only = session.get(CONFINED_TO_LAB)
    return Asker(_member(user, only or session.get(CHOSEN_LAB), confined=only is not None))


def _member(user: Any, chosen: int | None, *, confined: bool) -> Membership:
    membership = membership_of(user, chosen, confined=confined)
    if membership is None:
        raise NoMember("you are not a member of a lab")
    return membership

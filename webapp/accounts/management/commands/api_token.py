"""Print a new bearer token for a program, or revoke tokens by name."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from webapp.accounts.audit import note_by_hand
from webapp.accounts.models import ApiToken
from webapp.accounts.rights import SCOPES, Right
from webapp.lab.people import NoSuchLab, lab_named, member
from webapp.lib.command import QuickCommand


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what the token is for")
        parser.add_argument("--user", default="local", help="the person on whose behalf the program acts (default: local)")
        parser.add_argument("--lab", help="the lab that the program sees (default: the first one of the person)")
        parser.add_argument("--scope", default=str(Right.WRITE), choices=SCOPES, help="what the program may do (default: write)")
        parser.add_argument("--days", type=int, help="days until the token expires (default: never)")
        parser.add_argument("--revoke", action="store_true", help="revoke the tokens with this name instead")

    def handle(self, *args: Any, name: str, user: str, lab: str | None, scope: str, days: int | None, revoke: bool, **_: Any) -> None:
        try:
            membership = member(user, of=lab_named(lab) if lab else None)
        except NoSuchLab as error:
            raise CommandError(str(error)) from None
        if revoke:
            tokens = ApiToken.objects.filter(user=membership.user, lab=membership.lab, name=name, revoked_at__isnull=True)
            count = tokens.update(revoked_at=timezone.now())
            if count:
                note_by_hand(membership, "tokens.delete", name, f"of {user}")
            self.stdout.write(f"revoked {count}")
            return
        right = Right.of_scope(scope)
        if right > Right.of_role(membership.role):
            raise CommandError(f"{user} has the role '{membership.role}' in the lab, which does not allow a token with the scope '{scope}'")
        _, text = ApiToken.issue(membership, name, right, timedelta(days=days) if days else None)
        note_by_hand(membership, "tokens.create", name, f"scope {right}, for {user}")
        self.stdout.write(text)

"""Print a new bearer token for a program, or revoke the tokens of a name."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from webapp.accounts.models import ApiToken
from webapp.lab.people import member


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("name", help="what the token is for")
        parser.add_argument("--user", default="local", help="for whom the program acts")
        parser.add_argument("--revoke", action="store_true", help="revoke the tokens of this name instead")

    def handle(self, *args: Any, name: str, user: str, revoke: bool, **options: Any) -> None:
        person = member(user).user
        if revoke:
            count = ApiToken.objects.filter(user=person, name=name, revoked_at__isnull=True).update(revoked_at=timezone.now())
            self.stdout.write(f"revoked {count}")
        else:
            self.stdout.write(ApiToken.issue(person, name))

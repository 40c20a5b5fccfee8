"""Print a single-use sign-in link."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from webapp.accounts.audit import note_by_hand
from webapp.accounts.models import SignInToken
from webapp.lab.people import NoSuchLab, lab_named, member
from webapp.lib.command import QuickCommand


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base", help="the server's address (default: where scripts/up last listened, or port 8000 of this machine)")
        parser.add_argument(
            "--user", default="local", help="who signs in; an unknown person is created and added to the lab (default: local)"
        )
        parser.add_argument("--lab", help="the lab that the person is added to (default: one that they belong to, or the first one)")
        parser.add_argument(
            "--role", default="owner", choices=["owner", "member", "viewer"], help="role of a person who is created (default: owner)"
        )

    def handle(self, *args: Any, base: str | None, user: str, lab: str | None, role: str, **_: Any) -> None:
        try:
            membership = member(user, role, of=lab_named(lab) if lab else None)
        except NoSuchLab as error:
            raise CommandError(str(error)) from None
        token = SignInToken.issue(membership.user)
        note_by_hand(membership, "people.link", user, f"role {membership.role}")
        self.stdout.write(f"{(base or here()).rstrip('/')}/signin?token={token}")


def here() -> str:
    file = Path(settings.DATA_DIR) / "port"
    port = file.read_text().strip() if file.is_file() else ""
    return f"http://127.0.0.1:{port if port.isdecimal() else 8000}"

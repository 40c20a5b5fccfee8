"""Migrate the database, add the examples and print a single-use sign-in link: all that a start needs, in one process."""

from __future__ import annotations

from typing import Any

from django.core.management import call_command
from django.core.management.base import CommandParser

from webapp.lab import fixtures
from webapp.lab.people import lab
from webapp.lib.command import QuickCommand


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--base", required=True, help="the server's address")

    def handle(self, *args: Any, base: str, **_: Any) -> None:
        call_command("migrate", verbosity=0, skip_checks=True)
        fixtures.load(lab())
        call_command("signin_url", base=base, stdout=self.stdout)

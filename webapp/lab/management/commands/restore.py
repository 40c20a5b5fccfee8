"""Restore a backup into an empty installation: an empty, migrated database and an empty data directory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from webapp.lib.command import QuickCommand
from webapp.maintenance.backup import Unfit, restore


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="a file written by `backup`")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            counts = restore(file)
        except Unfit as unfit:
            raise CommandError(str(unfit)) from None
        except OSError as error:
            raise CommandError(f"{file} cannot be restored: {error.strerror or error}") from None
        self.stdout.write(f"restored {counts['lab.run']} runs, {sum(counts.values())} rows; start the lab, and sign in again")

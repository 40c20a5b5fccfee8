"""Write everything that the lab keeps into one file: rows, runs' files, data sets. The lab may be at work meanwhile.

The file holds hashes of passwords and tokens, and only its owner may read it. `restore` reads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from webapp.maintenance.backup import back_up


class Command(BaseCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="where to write it, millrace.tar.gz; what is there is replaced")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            counts = back_up(file)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror or error}") from None
        self.stdout.write(f"wrote {file}: {counts['lab.run']} runs, {sum(counts.values())} rows, {file.stat().st_size:,} bytes")

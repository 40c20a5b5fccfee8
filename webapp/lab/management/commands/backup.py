"""Write a backup of the lab to one file: database rows and the files of runs, data sets, corpora and cost models. The lab may keep running.

The file contains hashes of passwords and tokens; only its owner may read it. `restore` reads it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from webapp.lib.command import QuickCommand
from webapp.maintenance.backup import back_up


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the file to write, such as millrace.tar.gz; an existing file is replaced")

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            counts = back_up(file)
        except OSError as error:
            raise CommandError(f"{file} cannot be written: {error.strerror or error}") from None
        self.stdout.write(f"wrote {file}: {counts['lab.run']} runs, {sum(counts.values())} rows, {file.stat().st_size:,} bytes")

"""Run an experiment from a file, without server, database or queue: `millrace run`, with the data sets of the examples at hand.

Prints the result; with --json as one JSON object: digest, summary, artifacts, with --slowest also waterfalls. Exit status 2: the document
is invalid, and its problems are listed.
"""

from __future__ import annotations

import sys
from argparse import Namespace
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from engine.simulation import command_line


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        command_line.add_run(parser, datasets=[settings.BASE_DIR / "fixtures" / "data"])

    def handle(self, *args: Any, **options: Any) -> None:
        status = command_line.carry_out(Namespace(**options))
        if status:
            sys.exit(status)

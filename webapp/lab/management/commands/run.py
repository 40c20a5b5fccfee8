"""Run an experiment from a file, without server, database or queue. Like `millrace run`, with the example data sets available.

Prints the result and the verdicts on its assertions; with --json, one JSON object with digest, summary and artifacts, plus assertions, and
waterfalls with --slowest. Exit status as of `millrace run`: 2 for an invalid document, 3 if an assertion fails, 7 if one cannot be judged.
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

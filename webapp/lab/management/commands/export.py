"""Write an experiment's query as a program of PySpark, with its input beside it, into a new directory.

`python query.py` there runs it by itself. The directory holds all records that the sources make until the horizon. Exit status 2: the
document cannot be read, is invalid, or has parts without an equivalent in Spark; 3: the directory is not empty or cannot be written.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import CommandParser

from engine.export import NotExported, write
from engine.spec import InvalidExperiment
from engine.spec.base.problems import Problem
from engine.spec.rules.validation import Context, load
from engine.workloads import lookup
from webapp.lib.command import QuickCommand

INVALID, NOT_WRITTEN = 2, 3
BATCHES_MAX = 10_000


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="an experiment, as YAML or JSON")
        parser.add_argument("directory", type=Path, metavar="DIRECTORY", help="where to write; it must be new or empty")
        parser.add_argument("--batches", type=int, default=8, metavar="N", help="micro-batches into which the input is cut (default: 8)")
        parser.add_argument("--partitions", type=int, default=4, metavar="N", help="partitions of Spark's state (default: 4)")

    def handle(self, *args: Any, file: Path, directory: Path, batches: int, partitions: int, **options: Any) -> None:
        for name, value in (("--batches", batches), ("--partitions", partitions)):
            if not 1 <= value <= BATCHES_MAX:
                self._end(INVALID, f"{name} is {value}; it must be 1 to {BATCHES_MAX:,}")
        context = Context(datasets=lookup([settings.BASE_DIR / "fixtures" / "data"]))
        try:
            experiment = load(file, context)
        except InvalidExperiment as invalid:
            self._end(INVALID, f"{file} is no valid experiment", invalid.problems)
        except OSError as error:
            self._end(INVALID, f"{file} cannot be read: {error.strerror}")
        try:
            query = write(experiment, directory, context, batches, partitions)
        except NotExported as refused:
            self._end(INVALID, f"{file} has parts that have no equivalent in Spark", refused.problems)
        except OSError as error:
            self._end(NOT_WRITTEN, str(error) if error.strerror is None else f"{error.filename or directory}: {error.strerror}")
        else:
            sinks = ", ".join(sink.name for sink in query.sinks)
            self.stdout.write(f"{directory / 'query.py'} writes {sinks}; run it there: python query.py")

    def _end(self, status: int, detail: str, problems: list[Problem] | None = None) -> NoReturn:
        self.stderr.write(detail)
        for problem in problems or []:
            self.stderr.write(f"  {problem.pointer or '/'}: {problem.message}")
        sys.exit(status)

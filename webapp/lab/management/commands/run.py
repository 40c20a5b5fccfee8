"""Run an experiment from a file, without server, database or queue. Like `millrace run`, with the example data sets available.

Prints the result and the verdicts on its assertions; with --json, one JSON object with digest, summary and artifacts, plus assertions, and
waterfalls with --slowest. Exit status as of `millrace run`: 2 for an invalid document, 3 if an assertion fails, 7 if one cannot be judged.

With --backend spark, the query also runs on a real Spark, and every record is compared with the engine's (docs/spark-execution.md). Exit
status 2 if parts of it have no equivalent there, 3 if records differ, 8 if there is no Spark or it fails.
"""

from __future__ import annotations

import json
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from engine.export import NotExported
from engine.simulation import command_line
from engine.spec.rules.validation import Context
from webapp.lib.command import QuickCommand

NO_SPARK = 8


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        command_line.add_run(parser, datasets=[settings.BASE_DIR / "fixtures" / "data"])
        parser.add_argument("--backend", choices=["model", "spark"], default="model", help="spark: also on a real Spark, and compared")

    def handle(self, *args: Any, backend: str, **options: Any) -> None:
        given = Namespace(**options)
        if backend == "spark":
            given.command = on_spark
        status = command_line.carry_out(given)
        if status:
            sys.exit(status)


def on_spark(given: Namespace) -> int:
    """--out keeps the program, its input and its output."""
    from workers.spark.streaming import SparkFailed, SparkUnavailable, run_on_both

    if given.slowest:
        raise command_line.Failure(command_line.INVALID, "--slowest asks for records of the model; leave it out with --backend spark")
    experiment, datasets = command_line.loaded(given.file, given.datasets)
    with tempfile.TemporaryDirectory() as temporary:
        directory = given.out or Path(temporary) / "query"
        try:
            compared = run_on_both(experiment, Context(datasets=datasets), directory)
        except NotExported as refused:
            problems = [problem.as_dict() for problem in refused.problems]
            raise command_line.Failure(command_line.INVALID, f"{given.file} has parts that have no equivalent in Spark", problems) from None
        except (SparkUnavailable, SparkFailed) as why:
            raise command_line.Failure(NO_SPARK, str(why)) from None
        except OSError as error:
            raise command_line.Failure(command_line.DISK, f"{directory} cannot be written: {error.strerror or error}") from None
    if given.as_json:
        print(json.dumps(compared.as_dict()))
    else:
        print(experiment.name or given.file.name)
        for name, one in compared.sinks.items():
            verdict = "equal" if one.equal else f"{one.differing:,} differ"
            print(f"  {name}: {one.of_model:,} records of the model, {one.of_spark:,} of Spark: {verdict}")
            for whose, records in (("only the model has", one.only_model), ("only Spark has", one.only_spark)):
                for record in records[:3]:
                    print(f"    {whose} {record}")
        print(
            f"  {compared.batches} micro-batches, {compared.records_per_s:,.0f} records/s in them, {compared.took_s:.0f} s with the start"
        )
        if compared.late or compared.dropped:
            print(f"  late records dropped: {compared.late:,} by the model, {compared.dropped:,} by Spark; a larger lag keeps them")
    return 0 if compared.equal else command_line.FAILS

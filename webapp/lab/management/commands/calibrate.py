"""Measure what micro-batches of Spark's Structured Streaming take on this machine, for predictions (docs/calibration.md).

Takes about ten minutes of Spark, on a machine without other work. Prints what was measured and writes it to --out, by default to the data
directory, where `manage.py predict` finds it. Exit status 8 if there is no Spark or it fails, 9 if others keep the machine busy.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from engine.simulation import command_line
from engine.spec import Refusal
from webapp.lab import calibrations
from webapp.lib.command import QuickCommand

from .run import NO_SPARK

BUSY = 9


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--out", type=Path, help="file to write; default: calibration.json in the data directory")
        parser.add_argument("--busy", action="store_true", help="measure although other processes are at work")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print JSON alone")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            carry_out(options["out"] or calibrations.file(), options["busy"], options["as_json"])
        except command_line.Failure as failure:
            sys.exit(command_line.tell(failure, options["as_json"]))


def carry_out(out: Path, busy: bool, as_json: bool) -> None:
    from workers.spark.calibrating import BUSY_MAX, calibrate, refuse_a_cluster, work_of_others
    from workers.spark.session import SESSION, SparkUnavailable, first_line

    try:
        refuse_a_cluster()
    except Refusal as refusal:
        raise command_line.Failure(NO_SPARK, str(refusal)) from None
    if not busy and (share := work_of_others()) > BUSY_MAX:
        message = f"other processes use {100 * share:.0f} % of this machine; stop them, or measure all the same with --busy"
        raise command_line.Failure(BUSY, message)
    try:
        spark = SESSION.get()
    except SparkUnavailable as why:
        raise command_line.Failure(NO_SPARK, str(why)) from None
    try:
        made = calibrate(spark, lambda doing: print(f"  {doing} ...", file=sys.stderr))
    except Exception as error:
        raise command_line.Failure(NO_SPARK, f"Spark failed: {first_line(error)}") from None
    finally:
        SESSION.close()
    try:
        made.write(out)
    except OSError as error:
        raise command_line.Failure(command_line.DISK, f"{out} cannot be written: {error.strerror or error}") from None
    if as_json:
        print(json.dumps(asdict(made)))
        return
    print(f"{made.machine}, Spark {made.spark}, {made.made}; others had {100 * made.busy:.0f} % of the machine")
    for name, ms in made.overheads_ms.items():
        print(f"  {name:18} {ms:10.2f}")
    for kind, price in made.prices_us.items():
        record, output, control = price.values()
        print(f"  {kind:18} {record:10.4f} us a record, {output:.4f} us a result, {control:.0f} us a commit")
    print(f"written to {out}")

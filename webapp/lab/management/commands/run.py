"""Run an experiment from a file, without server, database or queue.

Prints the result; with --json as one JSON object: digest, summary, artifacts, with --slowest also waterfalls. Exit status 2: the document
is invalid, and its problems are listed.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentTypeError
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

import engine
from engine.spec import InvalidExperiment
from engine.spec.document import read_document
from engine.spec.problems import Refusal
from engine.spec.selection import RECORDS_MAX
from engine.spec.validation import Context, load
from engine.workloads import lookup

INVALID, UNREADABLE, DISK, TOO_LONG = 2, 3, 4, 5


def slowest(text: str) -> int:
    """A number of records. Raises ArgumentTypeError."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= RECORDS_MAX:
        raise ArgumentTypeError(f"{text} is not a number from 1 to {RECORDS_MAX}")
    return int(text)


class Command(BaseCommand):
    help = __doc__
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="the experiment, YAML or JSON")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
        parser.add_argument("--out", type=Path, help="directory for telemetry files (made if missing)")
        parser.add_argument("--slowest", type=slowest, default=0, metavar="N", help="say where the time of the N slowest records went")

    def handle(self, *args: Any, file: Path, as_json: bool, out: Path | None, slowest: int, **options: Any) -> None:
        datasets = lookup([file.resolve().parent, settings.BASE_DIR / "fixtures" / "data"])
        try:
            experiment = load(read_document(file), Context(datasets=datasets))
        except InvalidExperiment as error:
            self._fail(INVALID, f"{file} is invalid", as_json, [problem.as_dict() for problem in error.problems])
        except OSError as error:
            self._fail(UNREADABLE, f"{file} cannot be read: {error.strerror or error}", as_json)
        try:
            if out:
                out.mkdir(parents=True, exist_ok=True)
            run = engine.run(experiment, out=out, datasets=datasets)
        except OSError as error:
            self._fail(DISK, f"telemetry cannot be written to {out}: {error.strerror or error}", as_json)
        artifacts = sorted(str(path) for path in out.rglob("*.parquet")) if out else []
        try:
            waterfalls = run.waterfalls(slowest=slowest) if slowest else []
        except Refusal as refusal:
            self._fail(TOO_LONG, str(refusal), as_json)
        if as_json:
            ways = {"waterfalls": [waterfall.as_dict() for waterfall in waterfalls]} if slowest else {}
            self.stdout.write(json.dumps({"digest": run.digest, "summary": run.summary, "artifacts": artifacts, **ways}))
            return
        self.stdout.write(
            f"{experiment.name or file.name}\n"
            f"  throughput  {run.summary['throughput_in_per_s']:,.0f} records/s in, {run.summary['throughput_out_per_s']:,.0f} out"
        )
        for name, latency in {"latency": run.summary["latency_ms"], **run.summary["latencies_ms"]}.items():
            percentiles = ", ".join(f"{percentile} {latency[percentile]}" for percentile in ("p50", "p95", "p99", "max"))
            self.stdout.write(f"  {f'{name} ms':<11} {percentiles}")
        self.stdout.write(f"  digest      {run.digest}")
        deaths = [f"{host} {held['deaths']}" for host, held in run.summary["memory"].items() if held["deaths"]]
        if deaths:
            self.stdout.write(f"  died of memory, times: {', '.join(deaths)}")
        for ended in ("deadlock", "exhaustion"):
            if run.summary[ended]:
                self.stderr.write(run.summary[ended])
        for path in artifacts:
            self.stdout.write(f"  wrote       {path}")
        for waterfall in sorted(waterfalls, key=lambda waterfall: -waterfall.record.latency_ns):
            record = waterfall.record
            self.stdout.write(f"  {record.latency_ns / 1e6:.6f} ms at {record.sink}[{record.instance}], {record.end_ns / 1e9:.9f} s")
            for part in waterfall.parts:
                self.stdout.write(f"    {part.duration_ns / 1e6:>14.6f}  {part.part} at {part.operator}[{part.instance}]")

    def _fail(self, status: int, detail: str, as_json: bool, problems: list[dict[str, Any]] | None = None) -> None:
        """Problems go where a reader looks for them: into the JSON object, or to stderr line by line."""
        if as_json:
            self.stdout.write(json.dumps({"detail": detail, "problems": problems or []}))
        else:
            self.stderr.write(detail)
            for problem in problems or []:
                hint = f" ({problem['hint']})" if problem["hint"] else ""
                self.stderr.write(f"  {problem['pointer'] or '/'}: {problem['message']}{hint}")
        self.stdout.flush()
        sys.exit(status)

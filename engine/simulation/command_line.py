"""The command `millrace`: run an experiment from a file, validate one, list the kinds that documents may use.

    millrace run FILE [--json] [--out DIRECTORY] [--slowest N]
    millrace validate FILE [--json]
    millrace kinds [FAMILY] [--json]

Needs no server, database or queue. Exit status:

    0  done, and all assertions hold
    2  the document is invalid
    3  an assertion fails
    4  telemetry cannot be written
    5  waterfalls would take too long
    6  the file cannot be read
    7  no assertion fails, but one cannot be judged
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import engine
from engine.spec import Experiment, InvalidExperiment, Refusal
from engine.spec.experiment.assertion import Measured, State, Verdict, overall
from engine.spec.experiment.document import read_document
from engine.spec.experiment.registry import catalogue
from engine.spec.experiment.selection import RECORDS_MAX
from engine.spec.rules.validation import Context, load
from engine.workloads import lookup

INVALID, FAILS, DISK, TOO_LONG, UNREADABLE, NOT_JUDGED = range(2, 8)
OF_VERDICTS: Mapping[State | None, int] = {None: 0, "holds": 0, "fails": FAILS, "cannot be judged": NOT_JUDGED}
"""A run whose assertions cannot be judged has shown nothing, so it must not pass; nor is it a failure of what was measured."""


class Failure(Exception):
    """Ends the command. problems: those of the document, as in `Problem.as_dict`."""

    def __init__(self, status: int, detail: str, problems: Sequence[Mapping[str, Any]] = ()):
        super().__init__(detail)
        self.status, self.detail, self.problems = status, detail, problems


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's own). Returns the exit status."""
    parser = argparse.ArgumentParser(prog="millrace", description="Stream-processing experiments on a modelled cluster.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_run(commands.add_parser("run", help="run an experiment"))
    add_validate(commands.add_parser("validate", help="list the problems of a document without running it"))
    add_kinds(commands.add_parser("kinds", help="list the kinds that documents may use: operators, policies, workloads, faults"))
    return carry_out(parser.parse_args(arguments))


def carry_out(given: argparse.Namespace) -> int:
    """Run the chosen subcommand and print any failure. Returns the exit status."""
    try:
        return given.command(given) or 0
    except Failure as failure:
        return tell(failure, given.as_json)


def tell(failure: Failure, as_json: bool) -> int:
    """Print problems in the JSON object, or line by line on stderr. Returns the exit status."""
    if as_json:
        print(json.dumps({"detail": failure.detail, "problems": list(failure.problems)}))
    else:
        print(failure.detail, file=sys.stderr)
        for problem in failure.problems:
            hint = f" ({problem['hint']})" if problem["hint"] else ""
            print(f"  {problem['pointer'] or '/'}: {problem['message']}{hint}", file=sys.stderr)
    return failure.status


# --- run ----------------------------------------------------------------------------------------------------------------------------------


def add_run(parser: argparse.ArgumentParser, datasets: Sequence[Path] = ()) -> None:
    """datasets: directories to search for data sets, in addition to the file's own."""
    parser.add_argument("file", type=Path, help="the experiment, YAML or JSON")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
    parser.add_argument("--out", type=Path, help="directory for telemetry files (created if missing)")
    parser.add_argument("--slowest", type=number_of_records, default=0, metavar="N", help="break down the latency of the N slowest records")
    parser.set_defaults(command=run, datasets=datasets)


def number_of_records(text: str) -> int:
    """Parse an argument. Raises ArgumentTypeError."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= RECORDS_MAX:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to {RECORDS_MAX}")
    return int(text)


def run(given: argparse.Namespace) -> int:
    """Returns the exit status that the verdicts give."""
    experiment, datasets = loaded(given.file, given.datasets)
    out = given.out
    try:
        if out:
            out.mkdir(parents=True, exist_ok=True)
        done = engine.run(experiment, out=out, datasets=datasets)
    except OSError as error:
        raise Failure(DISK, f"telemetry cannot be written to {out}: {error.strerror or error}") from None
    artifacts = sorted(str(path) for path in out.rglob("*.parquet")) if out else []
    try:
        waterfalls = done.waterfalls(slowest=given.slowest) if given.slowest else []
    except Refusal as refusal:
        raise Failure(TOO_LONG, str(refusal)) from None
    status = OF_VERDICTS[overall([verdict.state for verdict in done.verdicts])]
    if given.as_json:
        verdicts = {"assertions": [verdict.as_dict() for verdict in done.verdicts]} if done.verdicts else {}
        ways = {"waterfalls": [waterfall.as_dict() for waterfall in waterfalls]} if given.slowest else {}
        print(json.dumps({"digest": done.digest, "summary": done.summary, "artifacts": artifacts, **verdicts, **ways}))
        return status
    print(experiment.name or given.file.name)
    print_summary(done.summary)
    print(f"  digest      {done.digest}")
    for path in artifacts:
        print(f"  wrote       {path}")
    for waterfall in sorted(waterfalls, key=lambda waterfall: -waterfall.record.latency_ns):
        record = waterfall.record
        print(f"  {record.latency_ns / 1e6:.6f} ms at {record.sink}[{record.instance}], {record.end_ns / 1e9:.9f} s")
        for part in waterfall.parts:
            print(f"    {part.duration_ns / 1e6:>14.6f}  {part.part} at {part.operator}[{part.instance}]")
    for verdict in done.verdicts:
        print(f"  {verdict.state:<16}  {verdict.name}: {told(verdict)}")
    return status


def told(verdict: Verdict) -> str:
    """The assertion and what was measured, in one line."""
    sides = [f"{side.text} = {_range(side)}{side.unit and f' {side.unit}'}" for side in verdict.measured]
    return "; ".join([verdict.check, *sides, *([verdict.reason] if verdict.reason else [])])


def _range(side: Measured) -> str:
    if side.most is None:
        return f"{side.least:.6g} or more"
    return f"{side.least:.6g}" if side.least == side.most else f"{side.least:.6g} to {side.most:.6g}"


def print_summary(summary: Mapping[str, Any]) -> None:
    print(f"  throughput  {summary['throughput_in_per_s']:,.0f} records/s in, {summary['throughput_out_per_s']:,.0f} out")
    for name, latency in {"latency": summary["latency_ms"], **summary["latencies_ms"]}.items():
        percentiles = ", ".join(f"{percentile} {latency[percentile]}" for percentile in ("p50", "p95", "p99", "max"))
        print(f"  {f'{name} ms':<11} {percentiles}")
    for name, query in summary.get("queries", {}).items():
        latency = ", ".join(f"{percentile} {query['latency_ms'][percentile]}" for percentile in ("p50", "p99"))
        copies = f", copies from {query['fastest_copy_ms']} to {query['slowest_copy_ms']} on average" if "copies" in query else ""
        print(f"  query {name}: {query['throughput_out_per_s']:,.0f} records/s out, latency ms {latency}{copies}")
    deaths = [f"{host} {held['deaths']}" for host, held in summary["memory"].items() if held["deaths"]]
    if deaths:
        print(f"  out-of-memory deaths: {', '.join(deaths)}")
    for ended in ("deadlock", "exhaustion"):
        if summary[ended]:
            print(summary[ended], file=sys.stderr)


def loaded(file: Path, datasets: Sequence[Path]) -> tuple[Experiment, Any]:
    """The experiment, and the lookup of its data sets. Raises Failure."""
    found = lookup([file.resolve().parent, *datasets])
    try:
        return load(read_document(file), Context(datasets=found)), found
    except InvalidExperiment as error:
        raise Failure(INVALID, f"{file} is invalid", [problem.as_dict() for problem in error.problems]) from None
    except OSError as error:
        raise Failure(UNREADABLE, f"{file} cannot be read: {error.strerror or error}") from None


# --- validate, kinds ----------------------------------------------------------------------------------------------------------------------


def add_validate(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="the experiment, YAML or JSON")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
    parser.set_defaults(command=check, datasets=())


def check(given: argparse.Namespace) -> None:
    experiment, _ = loaded(given.file, given.datasets)
    print(json.dumps({"problems": [], "hash": experiment.hash}) if given.as_json else f"{given.file} is valid; hash {experiment.hash}")


def add_kinds(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("family", nargs="?", default="", help="only this family, for example operators")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object, with the schemas of all parameters")
    parser.set_defaults(command=print_kinds)


def print_kinds(given: argparse.Namespace) -> None:
    families = catalogue()
    if given.family and given.family not in families:
        raise Failure(INVALID, f"there is no family '{given.family}'; it must be one of {', '.join(families)}")
    chosen = {given.family: families[given.family]} if given.family else families
    if given.as_json:
        print(json.dumps(chosen))
        return
    for family, entries in chosen.items():
        print(family)
        for entry in entries:
            about = f"{entry['unit']:<10} {entry['doc']}" if "unit" in entry else entry["title"]
            print(f"  {entry['kind']:<28} {about}")

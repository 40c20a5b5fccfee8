"""Make a corpus of random queries on random hosts, measured by the engine, or list the corpora.

A corpus is stored in the data directory. What is there already is kept, so a stopped command goes on where it was. Exit status 2: the
corpus cannot be made; 130: stopped (Ctrl-C).
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from engine.corpus.corpora import NAMES, TRACES, Balance, Corpus, CorpusError, opened, rows, write_card
from engine.corpus.labels import Labels
from engine.corpus.making import make
from webapp.lab.cost_models import NAME
from webapp.lib.command import QuickCommand

INVALID, STOPPED = 2, 130


def on_spark(place: Path, corpus: Corpus, told: Callable[[str], Any]) -> None:
    """Raises CorpusError."""
    from workers.spark.learning import make_corpus  # pyspark takes seconds
    from workers.spark.session import SparkUnavailable

    try:
        make_corpus(place, corpus, told)
    except SparkUnavailable as error:
        raise CorpusError(str(error)) from None


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        actions = parser.add_subparsers(dest="action", required=True)
        making = actions.add_parser("make", help="measure the traces that are missing")
        making.add_argument("name")
        making.add_argument("--scale", choices=TRACES, default="smoke", help="number of traces: 400, 4,000 or 43,281")
        making.add_argument("--traces", type=int, help="number of traces, in place of a scale")
        making.add_argument("--seed", type=int, default=1)
        making.add_argument("--draw", choices=NAMES, default="training", help="the queries and hosts that are drawn")
        making.add_argument("--processes", type=int, default=2, metavar="N", help="number of parallel runs (default: 2)")
        making.add_argument("--on", choices=("processes", "spark"), default="processes", help="what runs them; SPARK_MASTER says where")
        listing = actions.add_parser("list", help="list the corpora")
        showing = actions.add_parser("show", help="print a trace as an experiment, to be imported on the canvas")
        showing.add_argument("name")
        showing.add_argument("index", type=int, help="number of the trace, from 0 on")
        for action in (making, listing):
            action.add_argument("--json", action="store_true", dest="as_json", help="print one JSON value")

    def handle(self, *args: Any, action: str, as_json: bool = False, **options: Any) -> None:
        try:
            if action == "show":
                self._show(options["name"], options["index"])
                return
            told: Any = self._made(as_json, **options) if action == "make" else list(_listed(directory()))
        except CorpusError as error:
            self.stdout.write(json.dumps({"error": str(error)})) if as_json else self.stderr.write(str(error))
            sys.exit(INVALID)
        except KeyboardInterrupt:
            self.stderr.write("stopped; the parts that were done are kept, and the same command goes on")
            sys.exit(STOPPED)
        if as_json:
            self.stdout.write(json.dumps(told))
        elif action == "list":
            for one in told:
                self.stdout.write(
                    f"{one['name']}  {one['traces']:,} traces, {one['draw']}, seed {one['seed']}{'' if one['whole'] else ', unfinished'}"
                )

    def _show(self, name: str, index: int) -> None:
        corpus = opened(directory() / name)
        if not 0 <= index < corpus.traces:
            raise CorpusError(f"index is {index}; corpus '{name}' has traces 0 to {corpus.traces - 1:,}")
        document = corpus.document(index)
        self.stdout.write(json.dumps(document | {"name": f"Trace {index} of {name}: {document['name']}"}, indent=2))

    def _made(
        self, as_json: bool, name: str, scale: str, traces: int | None, seed: int, draw: str, processes: int, on: str, **_: Any
    ) -> dict[str, Any]:
        if not re.fullmatch(NAME, name):
            raise CorpusError(f"name is '{name}'; use lower-case letters, digits, _ and -, at most 63 of them")
        corpus = Corpus.of(draw, seed, TRACES[scale] if traces is None else traces)
        place = directory() / name
        if on == "spark":
            on_spark(place, corpus, (lambda doing: None) if as_json else self.stdout.write)
        started, labels = time.monotonic(), list[Labels]()
        for done, (_part, of_part) in enumerate(make(place, corpus, max(1, processes)), 1):
            labels += of_part
            if not as_json:
                balance, per_s = Balance.of(labels), len(labels) / (time.monotonic() - started)
                self.stdout.write(
                    f"{done} {'part' if done == 1 else 'parts'}, {len(labels):,} traces, {per_s:.1f} a second: {_shares(balance)}"
                )
        told = {"name": name, **_described(corpus), **write_card(place)}
        if not as_json:
            balance = Balance.of([row.labels for row in rows(place)])
            self.stdout.write(f"{name}: {balance.traces:,} traces, {_shares(balance)}, digest {told['digest']}")
        return told


def directory() -> Path:
    return Path(settings.DATA_DIR) / "corpora"


def _shares(balance: Balance) -> str:
    failed = (balance.traces - balance.succeeded) / balance.traces
    behind = balance.backpressured / balance.succeeded if balance.succeeded else 0
    return f"{failed:.0%} fail, {behind:.0%} of the others fall behind"


def _described(corpus: Corpus) -> dict[str, Any]:
    return {"draw": corpus.draw, "seed": corpus.seed, "traces": corpus.traces, "measured_by": corpus.measured_by}


def _listed(place: Path) -> Iterator[dict[str, Any]]:
    for one in sorted(place.iterdir()) if place.is_dir() else ():
        corpus = opened(one)
        yield {"name": one.name, **_described(corpus), "whole": not corpus.missing(one)}

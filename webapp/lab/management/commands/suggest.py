"""Suggest where the operators of an experiment should run, by trained cost models. FILE is an experiment document, as JSON or YAML.

Exit status 2: there is nothing to suggest; the message says why.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from engine.advice.suggest import CANDIDATES, GOALS, Advice, NoAdvice, suggest
from engine.costmodels.metrics import METRICS
from engine.costmodels.storage import load_all
from engine.spec import load
from engine.spec.rules.validation import Context
from engine.workloads import lookup
from webapp.lab.cost_models import folders, loaded
from webapp.lib.command import QuickCommand

from .corpus import INVALID

SHOWN = 10


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--models", help="name of trained models (manage.py train; default: those set as the default)")
        parser.add_argument("--goal", choices=GOALS, default="processing_latency")
        parser.add_argument("--pin", action="append", default=[], metavar="OPERATOR=HOST", help="keep an operator on a host")
        parser.add_argument("--forbid", action="append", default=[], metavar="HOST", help="run nothing on a host")
        parser.add_argument("--candidates", type=int, default=CANDIDATES, help="placements that are drawn (default: 25)")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON value")

    def handle(self, *args: Any, as_json: bool, **options: Any) -> None:
        try:
            advice = self._advice(**options)
        except (ValueError, OSError) as error:  # InvalidExperiment, NotDescribed, NoAdvice, BrokenModel
            said = f"{error.filename} cannot be read: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
            self.stdout.write(json.dumps({"error": said})) if as_json else self.stderr.write(said)
            sys.exit(INVALID)
        if as_json:
            self.stdout.write(json.dumps(advice.as_json()))
        else:
            self._tell(advice)

    def _advice(self, file: Path, models: str | None, goal: str, pin: list[str], forbid: list[str], candidates: int, **_: Any) -> Advice:
        pinned = dict(one.partition("=")[::2] for one in pin)
        datasets = lookup([settings.DATASETS_DIR])
        experiment = load(file, Context(datasets=datasets))
        there = folders(settings.DATA_DIR)
        if models is not None and models not in there:
            raise NoAdvice(f"there are no models '{models}'; there are {', '.join(there)}")
        stored = load_all(there[models]) if models else next(filter(None, map(loaded, there.values())), None)
        if stored is None:
            raise NoAdvice("there are no trained models; run manage.py corpus make NAME and manage.py train NAME")
        members = {name: [one.model for one in some] for name, some in stored.items()}
        return suggest(experiment, datasets, members, goal, pinned, forbid, candidates)

    def _tell(self, advice: Advice) -> None:
        for caution in advice.cautions:
            self.stdout.write(f"caution: {caution}")
        for one in advice.outside:
            span = "" if one.least is None else f" ({one.least:g} to {one.most:g})"
            self.stdout.write(f"outside the training range: {one.feature} {one.value} of {one.type}{span}")
        for dropped in advice.choice.relaxed:
            self.stdout.write(f"no candidate was left, so those for which '{dropped}' is predicted are kept")
        metric = METRICS[advice.goal]
        for rank, n in enumerate(advice.choice.order[:SHOWN], 1):
            one = advice.candidates[n]
            predicted = one.predicted(advice.goal)
            placed = ", ".join(f"{operator} on {host}" for operator, host in one.hosts.items())
            why = advice.choice.filtered.get(n, "")
            self.stdout.write(
                f"{rank}. {metric.title.lower()} {predicted.mean:,.1f} {metric.unit}, members differ by {predicted.spread:,.1f}, "
                f"{one.origin}{', predicted: ' + why if why else ''}: {placed}"
            )

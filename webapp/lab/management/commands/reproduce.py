"""Reproduce figures and check their assertions, or list their status.

WHICH is a figure id (benchmark/3.7) or a prefix of ids (benchmark). Results are stored in the lab. Exit status 0: all figures were run,
whatever their results; 2: the document of a figure is invalid, or models cannot be made; 3: no such figure; 130: stopped (Ctrl-C). The runs
of a command that was stopped are kept, and the next one goes on with them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from engine.figures import Made, Processes, packed, reproduce
from engine.figures.execution import DIED
from engine.figures.kept import KeptRuns
from engine.figures.remaining import Remaining
from engine.figures.shipped import shipped
from engine.learning.client import Client, LearningFailed
from engine.spec.base.problems import Problem, suggestion
from engine.spec.figure.figure import SCALES, Figure, Scale, study_at
from engine.spec.rules.validation import Context
from engine.spec.study.study import load_study
from engine.studies import Trial
from engine.workloads import lookup
from webapp.lab import figures
from webapp.lab.models import Lab
from webapp.lab.people import lab
from webapp.lib.command import QuickCommand
from webapp.reports import results_page

INVALID, UNKNOWN, STOPPED = 2, 3, 130
TELL_EVERY_S = 60.0
SIGNS = {"holds": "+", "fails": "-", "not evaluated": "?", figures.NOT_RUN: " "}


class Command(QuickCommand):
    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("which", nargs="?", default="", metavar="WHICH", help="a figure id or a prefix of ids (default: all figures)")
        parser.add_argument("--list", action="store_true", dest="as_list", help="list the status of the figures; run nothing")
        parser.add_argument("--scale", choices=SCALES, default="smoke", help="smoke takes seconds per figure, dev takes minutes")
        parser.add_argument("--ship", action="store_true", help="also write the results to fixtures/results, and docs/results.md")
        parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON array with one object per figure")
        cores = os.cpu_count() or 1
        about = f"number of parallel runs (default: {cores}, all cores)"
        parser.add_argument("--processes", type=int, default=cores, metavar="N", help=about)

    def handle(
        self, *args: Any, which: str, as_list: bool, scale: Scale, ship: bool, as_json: bool, processes: int, **options: Any
    ) -> None:
        ids = figures.FILES.ids()
        chosen = [which] if which in ids else [id for id in ids if id.startswith(which)]
        if not chosen:
            hint = suggestion(which, ids)
            self._fail(UNKNOWN, f"there is no figure '{which}'; {hint}", as_json)
        place = self._lab()
        try:
            if as_list:
                told = self._list(chosen, place, as_json)
            else:
                told = self._reproduce(chosen, scale, place, ship, as_json, max(1, processes))
        except figures.InvalidFigure as invalid:
            self._fail(INVALID, invalid.detail, as_json, invalid.problems)
        except LearningFailed as failed:
            self._fail(INVALID, str(failed), as_json)
        except KeyboardInterrupt:
            self._fail(STOPPED, "stopped; the results of completed figures are kept", as_json)
        if ship:
            self._written(results_page.write, as_json)
        if as_json:
            self.stdout.write(json.dumps(told))

    def _lab(self) -> Lab | None:
        try:
            executor = MigrationExecutor(connection)
            behind = bool(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        except DatabaseError as error:
            self.stderr.write(f"the database cannot be read, so results are neither known nor stored: {error}")
            return None
        if behind:
            self.stderr.write("the database is not up to date, so results are neither known nor stored; run: python manage.py migrate")
            return None
        try:
            return lab()
        except DatabaseError as error:
            self.stderr.write(f"the database cannot be written, so results are not stored: {error}")
            return None

    def _stored(self, place: Lab | None, figure: Figure, scale: Scale, result: dict[str, Any], took_s: float) -> None:
        if place is None:
            return
        try:
            figures.store(place, figure, scale, result, took_s)
        except DatabaseError as error:
            self.stderr.write(f"the result of '{figure.id}' is not stored in the lab: {error}")

    def _list(self, ids: list[str], place: Lab | None, as_json: bool) -> list[dict[str, Any]]:
        told = []
        for known in figures.all_known(ids, place):
            told.append(_listed(known))
            if not as_json:
                at = f" at {known.scale} scale{', comes with Millrace' if known.is_shipped else ''}" if known.scale else ""
                self.stdout.write(f"{known.figure.id}  {known.status}{at}  {known.figure.title}")
                self._assertions(known.assertions)
        return told

    def _reproduce(
        self, ids: list[str], scale: Scale, place: Lab | None, ship: bool, as_json: bool, processes: int
    ) -> list[dict[str, Any]]:
        files, told = figures.FILES, []
        directories = (settings.BASE_DIR / "fixtures" / "data",)
        context = Context(datasets=lookup(list(directories)))
        checked = [figures.checked(id, context) for id in ids]  # before the first run
        learning = Client(Path(settings.DATA_DIR), processes, self._doing())
        kept = KeptRuns(Path(settings.DATA_DIR) / "reproductions")
        studies = (load_study(study_at(figure, name, scale, files.experiment), context) for figure in checked for name in figure.studies)
        progress = Progress(Remaining(studies), self.stderr.write, sys.stderr.isatty())
        in_lab = _known_to(None if ship else place)

        is_full = False

        def told_of(trial: Trial, made: Made) -> None:
            nonlocal is_full
            progress.made(trial)
            try:
                if made is not DIED and not is_full:
                    kept.put(trial, made)
            except OSError as error:
                is_full = True
                self.stderr.write(f"runs are no longer kept, so a stopped command could not go on from here: {error.strerror}")

        def known(trial: Trial) -> Made | None:
            made = kept.get(trial) or in_lab(trial)
            if made is not None:
                progress.known(trial)
            return made

        with Processes(processes, directories, told_of, known) as executor:
            for figure in checked:
                started_s = time.monotonic()
                result = reproduce(figure, scale, files.experiment, executor, context, learning.evaluate)
                took_s = time.monotonic() - started_s
                self._stored(place, figure, scale, result.as_dict(), took_s)
                if ship:
                    made = shipped(figure, scale, files.experiment, result, took_s)
                    self._written(partial(figures.result_files().write, made), as_json)
                told.append({"id": figure.id, "title": figure.title, "scale": scale, "took_s": round(took_s, 3), **result.as_dict()})
                if not as_json:
                    self.stdout.write(f"{figure.id}  {result.status} at {scale} scale, {result.runs} runs, {took_s:.1f} s  {figure.title}")
                    self._assertions(told[-1]["assertions"])
        kept.forget()
        return told

    def _written(self, write: Callable[[], None], as_json: bool) -> None:
        try:
            write()
        except OSError as error:
            self._fail(INVALID, f"{error.filename or figures.FILES.root} cannot be written: {error.strerror}", as_json)

    def _assertions(self, assertions: list[dict[str, Any]]) -> None:
        for one in assertions:
            self.stdout.write(f"  {SIGNS[one['state']]} {one['id']:<6} {one['text']}")
            if one["state"] == "not evaluated":
                self.stdout.write(f"           not evaluated: {one['reason']}")
            elif one["state"] == "fails":
                self.stdout.write(f"           does not hold: {one['check']}")
                for side in one["sides"]:
                    span = "" if side["least"] == side["most"] else " or more" if side["most"] is None else f" to {side['most']:.6g}"
                    self.stdout.write(f"           {side['text']} = {side['least']:.6g}{span}")
                if why := one.get("unmet"):
                    self.stdout.write(f"           {why['why']} ({why['on']})")

    def _doing(self) -> Callable[[str], None]:
        """Show what an evaluation is at, on a terminal."""
        if not sys.stderr.isatty():
            return lambda doing: None
        return lambda doing: self.stderr.write(f"\r  {doing:<70}", ending="\r")

    def _fail(self, status: int, detail: str, as_json: bool, problems: list[Problem] | None = None) -> None:
        if as_json:
            self.stdout.write(json.dumps({"detail": detail, "problems": [problem.as_dict() for problem in problems or []]}))
        else:
            self.stderr.write(detail)
            for problem in problems or []:
                self.stderr.write(f"  {problem.pointer or '/'}: {problem.message}" + (f" ({problem.hint})" if problem.hint else ""))
        self.stdout.flush()
        sys.exit(status)


class Progress:
    """Tells of completed runs: each on a terminal, elsewhere every minute."""

    def __init__(self, remaining: Remaining, write: Callable[..., Any], is_terminal: bool):
        self.remaining, self.write, self.is_terminal = remaining, write, is_terminal
        self.began_s = self.told_s = time.monotonic()
        self.count = self.reused = 0

    def made(self, trial: Trial) -> None:
        self.count += 1
        self.remaining.add(trial)
        self._tell()

    def known(self, trial: Trial) -> None:
        self.reused += 1
        self.remaining.skip(trial)

    def _tell(self) -> None:
        now_s = time.monotonic()
        if not self.is_terminal and now_s - self.told_s < TELL_EVERY_S:
            return
        self.told_s = now_s
        left_s = self.remaining.left_s(now_s - self.began_s)
        parts = [
            f"{self.count} runs completed",
            f"{self.reused} were there" if self.reused else "",
            f"about {_duration(left_s)} left" if left_s else "",
        ]
        line = "  " + ", ".join(filter(None, parts))
        if self.is_terminal:
            self.write(f"\r{line:<70}", ending="\r")
        else:
            self.write(line)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min" if minutes else "a minute"


def _known_to(place: Lab | None) -> Callable[[Trial], Made | None]:
    """Return a lookup of runs that the lab already has."""

    def known(trial: Trial) -> Made | None:
        run = figures.run_of(place, trial.document) if place is not None else None
        return Made(run[0], packed(run[1])) if run else None

    return known


def _listed(known: figures.Known) -> dict[str, Any]:
    result = known.result
    about = {"engine_version": result.engine_version, "seeds": result.seeds, "runs": result.runs, "took_s": result.took_s} if result else {}
    return {
        "id": known.figure.id, "title": known.figure.title, "status": known.status, "scale": known.scale, **about,
        "is_shipped": known.is_shipped, "assertions": known.assertions,
    }  # fmt: skip

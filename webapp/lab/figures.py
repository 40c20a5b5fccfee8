"""The figures that come with Millrace, the results that come with them, and the lab's own."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import cache
from typing import Any

from django.conf import settings

from engine.prices import version_of
from engine.spec import Experiment as Document
from engine.spec.base.problems import InvalidExperiment, Problem, Refusal
from engine.spec.base.structure import refusal_problem
from engine.spec.figure.figure import SCALES, Figure, Scale, identity, price_lists
from engine.spec.figure.files import FigureFiles
from engine.spec.figure.results import BrokenResult, ResultFiles
from engine.spec.rules.validation import Context
from webapp.lib.redis_connection import connection
from webapp.messaging.frame_files import frames_after
from webapp.messaging.stream import announce_row

from . import studies
from .documents import check
from .models import Experiment, FigureResult, Lab, Reproduction, RunState
from .models.experiments import FIGURE, name_of
from .models.work import ACTIVE
from .reuse import run_of_the_same

NOT_RUN = "not run"
NOON = time(12)
"""Of the day on which a result that comes with Millrace was made: it is the same day nearly everywhere."""
FILES = FigureFiles(settings.BASE_DIR / "fixtures")

log = logging.getLogger(__name__)


def result_files() -> ResultFiles:
    """Results that come with Millrace."""
    return ResultFiles(FILES.root)


class InvalidFigure(InvalidExperiment):
    """A figure whose document has errors."""

    def __init__(self, id: str, problems: Sequence[Problem]):
        super().__init__(problems)
        self.detail = f"the document of figure '{id}' has errors"


@dataclass(frozen=True)
class Known:
    """A figure and its results at the largest scale that has one: the lab's newest, and the one that comes with Millrace. None if the
    current version of the figure has no such result."""

    figure: Figure
    own: FigureResult | None
    shipped: FigureResult | None

    @property
    def result(self) -> FigureResult | None:
        """The one that counts: the lab's own, if there is one."""
        return self.own or self.shipped

    @property
    def is_shipped(self) -> bool:
        """Whether the result that counts comes with Millrace."""
        return self.result is not None and self.own is None

    @property
    def status(self) -> str:
        return self.result.status if self.result else NOT_RUN

    @property
    def scale(self) -> str | None:
        return self.result.scale if self.result else None

    @property
    def assertions(self) -> list[dict[str, Any]]:
        """The figure's assertions with their states. unmet: why one fails, which its author says of larger scales than smoke.
        consistency: it does not count."""
        judged = {one["id"]: one for one in self.result.assertions} if self.result else {}
        found = []
        for assertion in self.figure.assertions:
            state = judged.get(assertion.id, {"state": NOT_RUN, "sides": [], "reason": ""})
            written = assertion.model_dump(include={"id", "text", "check", "tolerance", "consistency"})
            fails = state["state"] == "fails" and self.scale != SCALES[0]
            unmet = assertion.unmet.model_dump(mode="json") if assertion.unmet and fails else None
            found.append({**state, **written, "unmet": unmet})
        return found

    @property
    def counted(self) -> list[dict[str, Any]]:
        """The assertions that say something about the paper."""
        return [one for one in self.assertions if not one["consistency"]]


def known(id: str, lab: Lab | None = None, scale: Scale | None = None) -> Known:
    """Return a figure with its results at one scale or at the largest. lab: whose results count. Raises InvalidFigure."""
    (one,) = all_known([id], lab, (scale,) if scale else SCALES)
    return one


def all_known(ids: Sequence[str], lab: Lab | None, scales: Sequence[Scale] = SCALES) -> list[Known]:
    """Like `known`, for several figures. Results of earlier versions of a figure do not count. lab: None for those that come with Millrace
    alone."""
    outlines = {id: outline(id) for id in ids}
    hashes = [identities[scale] for _, identities in outlines.values() for scale in scales]
    found = FigureResult.objects.filter(lab=lab, figure__in=ids, hash__in=hashes).order_by("created_at", "pk")
    keys = {(figure, scale): key for figure, scale, key in found.values_list("figure", "scale", "pk")} if lab else {}
    results = FigureResult.objects.defer("values").in_bulk(keys.values())
    newest = {at: results[key] for at, key in keys.items() if key in results}
    return [
        Known(figure, _largest({at: newest[id, at] for at in scales if (id, at) in newest}), _largest(shipped(id), scales))
        for id, (figure, _) in outlines.items()
    ]


def _largest(of: Mapping[Scale, FigureResult], scales: Sequence[Scale] = SCALES) -> FigureResult | None:
    return next((of[scale] for scale in reversed(SCALES) if scale in scales and scale in of), None)


@cache
def shipped(id: str) -> dict[Scale, FigureResult]:
    """The results of the current version of a figure that come with Millrace, as rows that are not stored. Files that cannot be read are
    left out, with a warning in the log."""
    _, identities = outline(id)
    found = {}
    for scale in SCALES:
        try:
            result = result_files().read(id, scale)
        except BrokenResult as broken:
            log.warning("%s; the result is left out", broken)
            continue
        if result is not None and result.hash == identities[scale]:
            parts = result.model_dump(mode="json", exclude={"prices", "machine", "made_on"})
            found[scale] = FigureResult(**parts, created_at=datetime.combine(result.made_on, NOON, UTC))
    return found


def agree(one: FigureResult, other: FigureResult) -> bool:
    """Whether both measured the same values, whatever runs they come from."""

    def numbers(of: FigureResult) -> dict[str, Any]:
        return {name: {part: value for part, value in each.items() if part != "runs"} for name, each in of.values.items()}

    return numbers(one) == numbers(other)


def run_of(lab: Lab, document: dict[str, Any]) -> tuple[dict[str, Any], list[str]] | None:
    """Return summary and live frames (JSON) of the lab's run of this document (with its seed) by this version of the engine. None without
    such a run, or if its files are missing."""
    run = run_of_the_same(lab, Document.model_validate(document))
    if run is None or run.state != RunState.SUCCEEDED or run.summary is None:
        return None
    frames = frames_after(run.directory, -1, run.frames)
    return (run.summary, frames) if len(frames) == run.frames else None


def experiment_of(lab: Lab, figure: Figure, study: str, document: dict[str, Any]) -> Experiment:
    """The experiment that owns the runs of a figure's study. Hidden from the list of experiments until someone edits it."""
    fixture = f"{FIGURE}{figure.id} {study}"[:100]
    checked = check(document, lab)
    found = Experiment.objects.filter(lab=lab, fixture=fixture, hash=checked.hash, version=1, deleted_at__isnull=True).first()
    named = {**document, "name": f"{figure.title}: {study}"}
    return found or Experiment.objects.create(lab=lab, name=name_of(named), document=named, hash=checked.hash, fixture=fixture)


def cancel(wanted: Reproduction) -> None:
    """Cancel a reproduction and its studies; if a worker holds it, ask the worker to stop."""
    if Reproduction.objects.request_cancel(wanted.pk):
        for study in wanted.studies.filter(state__in=ACTIVE):
            studies.cancel(study)
    announce_row(connection(), "reproduction", wanted.pk)


def store(lab: Lab, figure: Figure, scale: Scale, result: dict[str, Any], took_s: float) -> FigureResult:
    """result: as returned by `engine.figures.Result.as_dict`."""
    hash = identity(figure, scale, FILES.experiment)
    return FigureResult.objects.create(lab=lab, figure=figure.id, scale=scale, hash=hash, took_s=round(took_s, 3), **result)


@cache
def outline(id: str) -> tuple[Figure, dict[Scale, str]]:
    """Return a figure and its identity by scale. Cached: the files do not change while a process runs. Raises InvalidFigure."""
    try:
        figure = FILES.outline(id)
        return figure, {scale: identity(figure, scale, _experiment) for scale in SCALES}
    except Refusal as refusal:
        raise InvalidFigure(id, [refusal_problem(refusal, ())]) from None
    except InvalidExperiment as invalid:
        raise InvalidFigure(id, invalid.problems) from None


@cache
def version(id: str) -> str:
    """The version of the engine that would make a result of this figure now, with the prices of its runs."""
    figure, _ = outline(id)
    return version_of(*price_lists(figure, _experiment))


@cache
def _experiment(name: str) -> dict[str, Any] | None:
    """Figures of a paper share most of theirs."""
    return FILES.experiment(name)


def read_again() -> None:
    """Forget figures and results that were read: their files have changed."""
    outline.cache_clear()
    _experiment.cache_clear()
    shipped.cache_clear()
    version.cache_clear()


def checked(id: str, context: Context) -> Figure:
    """Return a figure whose studies were validated at every scale. Raises InvalidFigure."""
    try:
        return FILES.figure(id, context)
    except InvalidExperiment as invalid:
        raise InvalidFigure(id, invalid.problems) from None

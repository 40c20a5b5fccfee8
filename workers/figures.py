"""Reproduction of figures: enqueue their studies, and evaluate the assertions once the studies have ended.

A worker starts a reproduction by storing its studies, then releases it. The worker that finishes the last study wakes it, and the next
attempt evaluates it. Studies whose output records are needed run in that attempt itself, because the lab stores no records of runs.
If a worker dies in between, the next attempt finds everything it stored.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any
from uuid import UUID

from django.conf import settings

from engine.figures import Carried, Here, Made, packed, reproduce
from engine.figures.judging import sinks_of
from engine.learning.client import Client, LearningFailed
from engine.spec.base.problems import InvalidExperiment
from engine.spec.experiment.metrics import flat
from engine.spec.figure.figure import Figure, Scale, study_at
from engine.spec.rules.validation import Context
from engine.spec.study.study import Study as Document
from engine.studies import Measured, so_far
from engine.workloads import lookup
from webapp.lab import figures, studies
from webapp.lab.models import Reproduction, RunState, Study, Trial
from webapp.lab.models.studies import ENDED
from webapp.lab.quota import LimitReached
from webapp.lab.waiting_work import enqueue
from webapp.lib import outages
from webapp.messaging.frame_files import frames_after

from .attempts import attempt
from .execution import failed
from .learning import PROCESSES, Attendant
from .run_monitor import Cancelled, LeaseLost, ShuttingDown

log = logging.getLogger(__name__)


class ChangedMeanwhile(Exception):
    """The studies that ran are no longer those of the figure."""


NEWS = "reproduction"


class FigureAttendant(Attendant):
    """Tells what an evaluation is at. The progress of studies is their own."""

    news = NEWS


def make(id: str) -> None:
    """Start a queued reproduction, or evaluate it if its studies have ended. No effect if another worker holds it, or if it is not
    queued."""
    attempt(Reproduction.objects.select_related("lab"), id, NEWS, _outcome, monitored_by=FigureAttendant, lay_down=_lay_down)


def _lay_down(wanted: Reproduction, holder: str) -> None:
    """Release it after storing its studies; the worker that finishes the last study wakes it."""
    Reproduction.objects.wait(wanted.pk, holder)
    if Reproduction.objects.filter(pk=wanted.pk, cancel_requested=True).exists():
        figures.cancel(wanted)  # cancelled while its studies were being stored
    if Reproduction.objects.to_be_judged().filter(pk=wanted.pk).exists():
        wake(wanted.pk)  # they ended while it was held


def after(study_id: UUID | str) -> None:
    """Wake the reproductions that waited for a study that has ended."""
    for id in Reproduction.objects.to_be_judged().filter(studies=study_id).values_list("pk", flat=True):
        wake(id)


def wake_missed() -> None:
    """Wake reproductions whose studies ended without waking them."""
    for id in Reproduction.objects.to_be_judged().values_list("pk", flat=True):
        wake(id)


def wake(id: UUID | str) -> None:
    if Reproduction.objects.wake(id):
        enqueue(UUID(str(id)), Reproduction)


def _outcome(wanted: Reproduction, monitor: FigureAttendant) -> dict[str, Any] | None:
    """Start or evaluate it. Returns the outcome as changes of the row; None while it waits for its studies. Raises LeaseLost and
    ShuttingDown."""
    try:
        return _make(wanted, monitor)
    except (LeaseLost, ShuttingDown):
        raise
    except Cancelled:
        return {"state": RunState.CANCELLED}
    except InvalidExperiment as error:
        return failed(f"the figure has become invalid: {error}")
    except studies.RefusedStudy as refused:
        return failed(f"a study of the figure is invalid: {refused.problems[0]['message']}")
    except LearningFailed as reason:
        return failed(f"the models of the figure cannot be made: {reason}")
    except LimitReached as full:
        return failed(str(full))
    except ChangedMeanwhile:
        return failed("the figure was changed during its reproduction; reproduce it again")
    except MemoryError:
        return failed("the worker ran out of memory; choose a smaller scale")
    except Exception as error:
        outages.pass_on(error)
        log.exception("figure %s failed", wanted.figure)
        return failed(f"the engine failed: {type(error).__name__}: {error}; the worker's log has the details")


def _make(wanted: Reproduction, monitor: FigureAttendant) -> dict[str, Any] | None:
    directories = (figures.FILES.root / "data",)
    context = Context(datasets=lookup(list(directories)))
    figure = figures.checked(wanted.figure, context)
    rows = {study.name: study for study in wanted.studies.all()}
    if not rows and _begin(wanted, figure, wanted.scale):
        return None
    here = Here(directories, on_frame=lambda frame: monitor.check())

    def executor(study: Document, sinks: Collection[str]) -> Carried:
        if sinks:
            return here(study, sinks)
        if study.name not in rows or studies.document_of(rows[study.name].pk) != study:
            raise ChangedMeanwhile
        return _carried(rows[study.name], study)

    learning = Client(Path(settings.DATA_DIR), PROCESSES, monitor.is_at)
    result = reproduce(figure, wanted.scale, figures.FILES.experiment, executor, context, learning.evaluate)
    took_s = time.time() - wanted.created_at.timestamp()
    stored = figures.store(wanted.lab, figure, wanted.scale, result.as_dict(), took_s)
    return {"state": RunState.SUCCEEDED, "result": stored}


def _begin(wanted: Reproduction, figure: Figure, scale: Scale) -> int:
    """Store and enqueue the studies that the lab runs. Returns their number."""
    made = []
    for name in figure.studies:
        if not sinks_of(figure, name):
            document = study_at(figure, name, scale, figures.FILES.experiment)
            experiment = figures.experiment_of(wanted.lab, figure, name, document["experiment"])
            made.append(studies.create(wanted.lab, document, experiment, wanted))
    return len(made)


def _carried(row: Study, document: Document) -> Carried:
    """Return the results of a study of the lab. Runs that failed to start, or that were cancelled with their study, are missing."""
    results, runs = {}, {}
    for trial in row.trials.filter(state__in=ENDED).select_related("run"):
        id = studies.id_of(trial)
        if trial.run is None or trial.run.summary is None or trial.run.frames_removed_at:
            results[id] = Measured({}, failure=trial.failure or "its run was deleted, or its frames were removed")
            continue
        results[id] = studies.result_of(trial, dict(flat(trial.run.summary)))
        runs[trial.run.hash] = _made(trial)
    return Carried(so_far(document, results), runs)


def _made(trial: Trial) -> Made:
    assert trial.run is not None
    return Made(trial.run.summary or {}, packed(frames_after(trial.run.directory, -1, trial.run.frames)))

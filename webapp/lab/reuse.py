"""Reuse of runs: the same document with the same seed gives the same bytes."""

from __future__ import annotations

from typing import Any

from django.db.models import Q

from engine.prices import version_for, version_of
from engine.spec import Experiment

from .models import Dataset, Lab, Run, RunState
from .models.work import ACTIVE
from .verdicts import assertions_in


def run_of_the_same(lab: Lab, experiment: Experiment) -> Run | None:
    """Return the newest run of this document (with its seed and its assertions) by this version of the engine, with the prices that it has
    now, that has a result or will have one.

    Paused and paced runs do not count, nor runs whose frames were removed, nor runs that may have read different data under the same name.
    """
    same = Run.objects.filter(lab=lab, hash=experiment.hash, deleted_at__isnull=True, frames_removed_at__isnull=True)
    if not same.exists():  # the usual case, and a much faster query than the rest
        return None
    engine_version = version_of(experiment.price_list)
    ended = Q(engine_version=engine_version) & (Q(state=RunState.SUCCEEDED) | Q(state=RunState.FAILED, summary__isnull=False))
    coming = Q(state__in=ACTIVE, engine_version__in=("", engine_version), pace__isnull=True, hold_at_frame__isnull=True)
    same = same.filter(ended | coming & Q(cancel_requested=False))
    same = same.filter(_same_data(lab, experiment.canonical))
    if not experiment.assertions:
        return same.filter(judged="").defer("document").order_by("-number").first()
    others = same.exclude(judged="").order_by("-number")  # assertions are not part of the hash
    return next((run for run in others if assertions_in(run.document) == experiment.assertions), None)


def why_not_the_same(run: Run) -> str:
    """Say why the document of a run may give other records now than the run had, or return ''."""
    version = version_for(run.document)
    if run.engine_version != version:
        return f"the run was made by version {run.engine_version} of the engine, and this is version {version}"
    if not Run.objects.filter(_same_data(run.lab, run.document), pk=run.pk).exists():
        return "a data set was uploaded after the run under a name that its document uses"
    return ""


def _same_data(lab: Lab, tree: Any) -> Q:
    """Runs that read what a document's data sets hold now: those after the last upload under these names, also of one deleted since."""
    names = _datasets(tree)
    newest = Dataset.objects.filter(lab=lab, name__in=names).order_by("-created_at").first() if names else None
    return Q() if newest is None else Q(created_at__gt=newest.created_at)


def _datasets(tree: Any) -> set[str]:
    """Return the names of all data sets in a document."""
    if isinstance(tree, list):
        return set().union(*map(_datasets, tree))
    if not isinstance(tree, dict):
        return set()
    below = set().union(*map(_datasets, tree.values()))
    return below | {tree["dataset"]} if isinstance(tree.get("dataset"), str) else below

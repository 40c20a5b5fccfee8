"""Studies of the lab: checked, made, stopped, and what they found so far. Workers carry them on (`workers.studies`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from engine import studies as plan
from engine.spec import metrics as summaries
from engine.spec.study import NoSearch, examine_study
from engine.spec.study import Study as Document
from engine.spec.validation import Context
from webapp.lib.redis_connection import connection
from webapp.live.stream import announce, announce_row
from webapp.queue import enqueue

from .documents import check, datasets_of
from .models import Experiment, Lab, Reproduction, Run, RunState, RunSummary, Study, Trial, TrialState
from .models.experiments import name_of
from .models.studies import ENDED, NO_LOAD, UNNAMED_STUDY
from .models.work import ACTIVE
from .storage import check_room


class RefusedStudy(Exception):
    """The document is invalid; `problems` say why."""

    def __init__(self, problems: list[dict[str, Any]]) -> None:
        self.problems = problems
        super().__init__("the study is invalid")


def examine(document: dict[str, Any], lab: Lab) -> tuple[Document | None, list[dict[str, Any]]]:
    """The study, None if there is an error, and all problems."""
    study, problems = examine_study(document, Context(datasets=datasets_of(lab)))
    return study, [problem.as_dict() for problem in problems]


def metrics_measured(document: dict[str, Any], lab: Lab) -> list[str]:
    """By the runs of a study's experiment; none if it is invalid."""
    experiment = check(document.get("experiment", {}), lab).experiment
    return summaries.metric_names(experiment) if experiment else []


def create(lab: Lab, document: dict[str, Any], experiment: Experiment | None, of: Reproduction | None = None) -> Study:
    """Store a study and hand it to the workers. experiment: to which its runs belong; None: a new one. of: a figure's
    reproduction that needs it. Raises RefusedStudy, StorageFull."""
    valid, problems = examine(document, lab)
    if valid is None:
        raise RefusedStudy(problems)
    check_room(lab)
    name = valid.name.strip() or UNNAMED_STUDY
    with transaction.atomic():
        if experiment is None:
            base = valid.experiment
            checked = check(base, lab)
            experiment = Experiment.objects.create(lab=lab, name=name_of(base), document=base, hash=checked.hash)
        study = Study.objects.create(lab=lab, experiment=experiment, name=name, document=document)
        if of is not None:
            of.studies.add(study)
    hand_over(study)
    return study


def hand_over(study: Study) -> None:
    enqueue(study.pk, Study)
    announce_row(connection(), "study", study.pk)
    study.refresh_from_db()


def cancel(study: Study) -> bool:
    """Stop it and the runs that it made, but for those that another study waits for. False: it had ended already."""
    if not Study.objects.request_cancel(study.pk):
        return False
    mine = Run.objects.filter(study=study, state__in=ACTIVE)
    shared = Trial.objects.filter(state=TrialState.RUNNING, study__state__in=ACTIVE).exclude(study=study)
    for run_id in mine.exclude(pk__in=shared.values("run")).values_list("pk", flat=True):
        if Run.objects.request_cancel(run_id):
            announce(connection(), run_id)
    announce_row(connection(), "study", study.pk)
    study.refresh_from_db()
    return True


def retry(study: Study) -> bool:
    """Make the runs again that could not be made, and go on if it was cancelled. False: there is nothing of that; nothing is changed."""
    with transaction.atomic():
        failed = study.trials.filter(Q(state=TrialState.FAILED) | Q(state=TrialState.RUNNING, run__state=RunState.CANCELLED))
        again = failed.exists() or study.trials.exclude(state__in=ENDED).exists()
        if not (again or not study.begun) or not Study.objects.begin_again(study.pk):
            return False
        failed.update(state=TrialState.WANTED, run=None, failure="", reused=False)
    hand_over(study)
    return True


@lru_cache(maxsize=32)
def document_of(id: UUID) -> Document:
    """A study's never changes."""
    return Document.model_validate(Study.objects.values_list("document", flat=True).get(pk=id))


def load_of(trial: Trial) -> float | None:
    return None if trial.load == NO_LOAD else trial.load


def result_of(trial: Trial, metrics: dict[str, float]) -> plan.Measured:
    """What came of a trial that has ended."""
    verdict = plan.Verdict(tuple(trial.verdict["reasons"]), trial.verdict["figures"]) if trial.verdict else None
    return plan.Measured(metrics, verdict, trial.failure)


def tried_of(document: Document, trials: Sequence[Trial]) -> tuple[list[dict[str, Any]], dict[plan.TrialId, plan.Measured]]:
    """Of an optimisation the points that were chosen, in order, and what was measured there. trials: all of it, with their runs."""
    design = plan.design_of(document)
    names = {sought.metric for sought in (*design.objectives, *design.bounds)}
    numbers = metrics_of({trial.run_id for trial in trials if trial.run_id}, sorted(names))
    values = {trial.point: trial.values for trial in trials}
    results = {
        (trial.point, trial.seed, None): replace(
            result_of(trial, numbers[trial.run_id]), broken=trial.run.error if trial.run and trial.run.state == RunState.FAILED else ""
        )
        for trial in trials
        if trial.state in ENDED
    }
    return [values[point] for point in sorted(values)], results


@dataclass(frozen=True)
class PointResult:
    """A point, or a point at a share of the load found there. rows: by seed, each with its trial."""

    point: int
    values: dict[str, Any]
    share: float | None
    rows: list[tuple[plan.Row, Trial]]

    def over_seeds(self, metric: str) -> list[float]:
        """Its values, as far as runs measured it."""
        return [row.metrics[metric] for row, _ in self.rows if metric in row.metrics]


@dataclass(frozen=True)
class Results:
    """What a study found so far at some of its points. trials: by (point, seed, load)."""

    points: list[PointResult]
    found: list[plan.Found]
    trials: dict[plan.TrialId, Trial]


SHOWN_OF_TRIALS = (
    *("study", "point", "seed", "load", "values", "state", "reused", "verdict", "failure", "run"),
    *("run__number", "run__state", "run__error"),
)


def results(study: Study, metrics: Sequence[str], first: int, count: int) -> Results:
    """Of the points from `first` on, with these metrics of their runs."""
    document = document_of(study.pk)
    rows = study.trials.filter(point__gte=first, point__lt=first + count).select_related("run").only(*SHOWN_OF_TRIALS)
    trials = {(trial.point, trial.seed, load_of(trial)): trial for trial in rows.order_by("point", "pk")}
    numbers = metrics_of({trial.run_id for trial in trials.values() if trial.run_id}, metrics)
    results = {id: result_of(trial, numbers[trial.run_id]) for id, trial in trials.items() if trial.state in ENDED}
    points: dict[tuple[int, float | None], PointResult] = {}
    found: list[plan.Found] = []
    of_rows = {trial.point: trial.values for trial in trials.values()}  # an optimisation's are not in its document
    design = list(enumerate(document.points(first, count), first))
    for point, values in design or sorted(of_rows.items()):
        for seed in document.seeds:
            followed = plan.follow(plan.Strand(document, point, values, seed), results)
            found += [followed.found] if followed.found else []
            for row in followed.rows:
                at = points.setdefault((point, row.share), PointResult(point, values, row.share, []))
                at.rows.append((row, trials[point, seed, load_in(document, row)]))
    return Results(list(points.values()), found, trials)


def trials_of(study: Study) -> list[plan.Tried]:
    """What an optimisation tried so far, in order."""
    document = document_of(study.pk)
    rows = list(study.trials.select_related("run").only(*SHOWN_OF_TRIALS))
    return plan.tried_so_far(document, *tried_of(document, rows))


def load_in(document: Document, row: plan.Row) -> float | None:
    search = document.search
    return None if isinstance(search, NoSearch) else row.values[search.load.name]


def metrics_of(runs: Iterable[UUID], names: Sequence[str]) -> dict[UUID | None, dict[str, float]]:
    found: dict[UUID | None, dict[str, float]] = defaultdict(dict)
    if names:
        for run, metric, value in RunSummary.objects.filter(run__in=list(runs), metric__in=names).values_list("run", "metric", "value"):
            found[run][metric] = value
    return found


def metric_names(study: Study) -> list[str]:
    """What its runs measured; those of its first and last runs stand for all."""
    done = study.trials.filter(state=TrialState.DONE, run__isnull=False)
    some = [trial.run_id for trial in (done.order_by("pk").first(), done.order_by("-pk").first()) if trial]
    return sorted(set(RunSummary.objects.filter(run__in=some).values_list("metric", flat=True)))

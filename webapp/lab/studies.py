"""The lab's studies: validate, create, stop, and read their results so far. Workers advance them (`workers.studies`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet

from engine import studies as plan
from engine.spec.base.problems import Problem
from engine.spec.experiment import metrics as summaries
from engine.spec.rules.validation import Context
from engine.spec.study.study import Study as Document
from engine.spec.study.study import examine_study
from webapp.lib.redis_connection import connection
from webapp.messaging.heartbeats import spark_state
from webapp.messaging.stream import announce, announce_row

from .documents import check, datasets_of
from .models import Executor, Experiment, Lab, Reproduction, Run, RunState, RunSummary, Study, Trial, TrialState
from .models.experiments import name_of
from .models.studies import ENDED, NO_LOAD, NO_SHARE, UNNAMED_STUDY
from .models.work import ACTIVE
from .person_limits import check_start
from .verdicts import assertions_in
from .waiting_work import enqueue

NOBODY = "no analysis worker is running to hand the runs to Spark; they wait until one starts (scripts/up starts one)"


class RefusedStudy(Exception):
    """The document is invalid. problems: why."""

    def __init__(self, problems: list[dict[str, Any]]) -> None:
        self.problems = problems
        super().__init__("the study is invalid")


def examine(document: dict[str, Any], lab: Lab) -> tuple[Document | None, list[dict[str, Any]]]:
    """Return the study (None if it has errors) and all problems."""
    study, problems = examine_study(document, Context(datasets=datasets_of(lab)))
    return study, [problem.as_dict() for problem in problems]


def metrics_measured(document: dict[str, Any], lab: Lab) -> list[str]:
    """Return the metrics that runs of a study's experiment measure; empty if the experiment is invalid."""
    experiment = check(document.get("experiment", {}), lab).experiment
    return summaries.metric_names(experiment) if experiment else []


def create(
    lab: Lab,
    document: dict[str, Any],
    experiment: Experiment | None,
    of: Reproduction | None = None,
    author: str = "",
    predictions: dict[str, Any] | None = None,
) -> Study:
    """Store a study and enqueue it. experiment: owner of its runs; None for a new one. of: the figure reproduction that needs it.
    author: name of the person who starts it. predictions: of its points, in their order (`Predictions`). Raises RefusedStudy,
    LimitReached."""
    valid, problems = examine(document, lab)
    if valid is None:
        raise RefusedStudy(problems)
    if predictions is not None and (given := len(predictions["points"])) != valid.point_count:
        message = f"there are predictions of {given} points, but the study has {valid.point_count}; give one for each, or none"
        raise RefusedStudy([Problem("/predictions/points", "wrong_length", message, given).as_dict()])
    check_start(lab, author, waits=True)
    name = valid.name.strip() or UNNAMED_STUDY
    with transaction.atomic():
        if experiment is None:
            base = valid.experiment
            checked = check(base, lab)
            experiment = Experiment.objects.create(lab=lab, name=name_of(base), document=base, hash=checked.hash)
        study = Study.objects.create(lab=lab, experiment=experiment, name=name, document=document, author=author, predictions=predictions)
        if of is not None:
            of.studies.add(study)
    hand_over(study)
    return study


def hand_over(study: Study) -> None:
    enqueue(study.pk, Study)
    announce_row(connection(), "study", study.pk)
    study.refresh_from_db()


def cancel(study: Study) -> bool:
    """Cancel a study and its runs, except runs that another study waits for. Returns False if it had already ended."""
    if not Study.objects.request_cancel(study.pk):
        return False
    stop_runs_of(study)
    announce_row(connection(), "study", study.pk)
    study.refresh_from_db()
    return True


def stop_runs_of(study: Study) -> None:
    """Cancel the runs that the study created, except those that another study waits for."""
    mine = Run.objects.filter(study=study, state__in=ACTIVE)
    shared = Trial.objects.filter(state=TrialState.RUNNING, study__state__in=ACTIVE).exclude(study=study)
    stop(mine.exclude(pk__in=shared.values("run")))


def waits_for(study: Study) -> str | None:
    """Return what its runs wait for, if known."""
    by_spark = study.active and study.document.get("executor") == Executor.SPARK
    return NOBODY if by_spark and spark_state()["state"] == "absent" else None


def stop(runs: QuerySet[Run]) -> None:
    for id in runs.values_list("pk", flat=True):
        if Run.objects.request_cancel(id):
            announce(connection(), id)


def retry(study: Study) -> bool:
    """Retry failed runs, and resume a cancelled study. Returns False, and changes nothing, if there is nothing to retry."""
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
    """Return a study's document, which never changes."""
    return Document.model_validate(Study.objects.values_list("document", flat=True).get(pk=id))


def assertions_of(study: Study) -> list[str]:
    """Return the names of the assertions of a study's experiment."""
    return [assertion.name for assertion in assertions_in(document_of(study.pk).experiment)]


class TrialRow(NamedTuple):
    """A trial with the fields of its run that are shown. Not a model: creating many model objects would take most of the time."""

    pk: int
    point: int
    seed: int
    load: float
    share: float
    values: dict[str, Any]
    state: str
    reused: bool
    verdict: dict[str, Any] | None
    failure: str
    run_id: UUID | None
    run_number: int | None
    run_state: str | None
    run_error: str | None
    run_verdicts: list[dict[str, Any]] | None

    @classmethod
    def of(cls, trial: Trial) -> Self:
        own = [getattr(trial, name) for name in cls._fields[: -len(OF_RUN)]]
        return cls(*own, *(getattr(trial.run, name, None) for name in OF_RUN))


OF_RUN = ("number", "state", "error", "verdicts")


def rows_of(trials: QuerySet[Trial]) -> list[TrialRow]:
    return [TrialRow(*row) for row in trials.values_list(*TrialRow._fields[: -len(OF_RUN)], *(f"run__{name}" for name in OF_RUN))]


def load_of(trial: Trial | TrialRow) -> float | None:
    return None if trial.load == NO_LOAD else trial.load


def share_of(trial: Trial | TrialRow) -> float | None:
    return None if trial.share == NO_SHARE else trial.share


def id_of(trial: Trial | TrialRow) -> plan.TrialId:
    load, share = load_of(trial), share_of(trial)
    return (trial.point, trial.seed, load) if load is None or share is None else (trial.point, trial.seed, load, share)


def result_of(trial: Trial | TrialRow, metrics: dict[str, float], broken: str = "") -> plan.Measured:
    """Return the result of a trial that has ended. broken: error of its run, if it failed before its end."""
    verdict = plan.Verdict(tuple(trial.verdict["reasons"]), trial.verdict["figures"]) if trial.verdict else None
    return plan.Measured(metrics, verdict, trial.failure, broken)


def tried_of(
    document: Document, of: QuerySet[Trial], trials: Sequence[TrialRow]
) -> tuple[list[dict[str, Any]], dict[plan.TrialId, plan.Measured]]:
    """Return the points an optimisation has chosen, in order, and their measurements. of: its trials; trials: their rows."""
    design = plan.design_of(document)
    names = {sought.metric for sought in (*design.objectives, *design.bounds)}
    numbers = metrics_of_trials(of, sorted(names))
    values = {trial.point: trial.values for trial in trials}
    results = {
        (trial.point, trial.seed, None): result_of(
            trial, numbers[trial.pk], (trial.run_error or "") if trial.run_state == RunState.FAILED else ""
        )
        for trial in trials
        if trial.state in ENDED
    }
    return [values[point] for point in sorted(values)], results


@dataclass(frozen=True)
class PointResult:
    """A point, or a point at a share of the load found there. rows: one per seed, with its trial."""

    point: int
    values: dict[str, Any]
    share: float | None
    rows: list[tuple[plan.Row, TrialRow]]

    def over_seeds(self, metric: str) -> list[float]:
        """Return the metric's values from the runs that measured it."""
        return [row.metrics[metric] for row, _ in self.rows if metric in row.metrics]


@dataclass(frozen=True)
class Results:
    """Results so far at some points of a study. trials: by id. next: the first point after them, None if the study has no more."""

    points: list[PointResult]
    found: list[plan.Found]
    trials: dict[plan.TrialId, TrialRow]
    next: int | None


def results(study: Study, metrics: Sequence[str], first: int, count: int, trials_max: int | None = None) -> Results:
    """Return the results of points from `first`, with these metrics. trials_max: return fewer points, but at least one, to stay within
    it."""
    document = document_of(study.pk)
    rows = study.trials.filter(point__gte=first, point__lt=first + count).order_by("point", "pk")
    end = first + count
    if trials_max is not None and (beyond := rows.values_list("point", flat=True)[trials_max : trials_max + 1]):
        end = max(first + 1, beyond[0])
    rows = rows.filter(point__lt=end)
    trials = {id_of(trial): trial for trial in rows_of(rows)}
    numbers = metrics_of_trials(rows, metrics)
    results = {id: result_of(trial, numbers[trial.pk]) for id, trial in trials.items() if trial.state in ENDED}
    points: dict[tuple[int, float | None], PointResult] = {}
    found: list[plan.Found] = []
    of_rows = {trial.point: trial.values for trial in trials.values()}  # an optimisation's points are not in its document
    design = list(enumerate(document.points(first, end - first), first))
    for point, values in design or sorted(of_rows.items()):
        for seed in document.seeds:
            followed = plan.follow(plan.Strand(document, point, values, seed), results)
            found += [followed.found] if followed.found else []
            for row in followed.rows:
                at = points.setdefault((point, row.share), PointResult(point, values, row.share, []))
                at.rows.append((row, trials[row.trial]))
    return Results(list(points.values()), found, trials, end if end < document.point_count else None)


def trials_of(study: Study) -> list[plan.Tried]:
    """Return the trials of an optimisation so far, in order."""
    document = document_of(study.pk)
    trials = study.trials.all()
    return plan.tried_so_far(document, *tried_of(document, trials, rows_of(trials)))


def metrics_of_trials(trials: QuerySet[Trial], names: Sequence[str]) -> dict[int, dict[str, float]]:
    """Return the metrics of the trials' runs by trial key, which avoids sending the ids of all runs to the database."""
    found: dict[int, dict[str, float]] = defaultdict(dict)
    if names:
        measured = trials.filter(run__metrics__metric__in=names).order_by()
        for trial, metric, value in measured.values_list("pk", "run__metrics__metric", "run__metrics__value"):
            found[trial][metric] = value
    return found


def metrics_of(runs: Iterable[UUID], names: Sequence[str]) -> dict[UUID, dict[str, float]]:
    found: dict[UUID, dict[str, float]] = defaultdict(dict)
    if names:
        for run, metric, value in RunSummary.objects.filter(run__in=list(runs), metric__in=names).values_list("run", "metric", "value"):
            found[run][metric] = value
    return found


def metric_names(study: Study) -> list[str]:
    """Return the names of the metrics that its runs measured, taken from its first and last runs."""
    done = study.trials.filter(state=TrialState.DONE, run__isnull=False)
    some = [trial.run_id for trial in (done.order_by("pk").first(), done.order_by("-pk").first()) if trial]
    return sorted(set(RunSummary.objects.filter(run__in=some).values_list("metric", flat=True)))

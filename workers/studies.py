"""Advance studies: evaluate the results of their runs, plan the next trials, and start the next runs.

A worker does this for a new study and after each run of a study; the caretaker does it if that was missed. Everything happens under the
study's lease, in steps that may be repeated: the rows of trials record what is known, and `engine.studies` decides what follows.
Only a few runs of a study are queued at a time, so that other people's runs need not wait for all of them.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from itertools import islice
from typing import Any
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connections
from django.db.models import Count, QuerySet, Sum
from django.utils import timezone

from engine import studies as plan
from engine.spec import Refusal
from webapp.lab.documents import check
from webapp.lab.models import Executor, Lab, Run, RunState, Study, Trial, TrialState
from webapp.lab.models.studies import ENDED, NO_LOAD, NO_SHARE
from webapp.lab.models.work import ACTIVE
from webapp.lab.quota import LimitReached
from webapp.lab.reuse import run_of_the_same
from webapp.lab.studies import TrialRow, cancel, document_of, id_of, load_of, result_of, rows_of, share_of, stop, stop_runs_of, tried_of
from webapp.lab.submission import start
from webapp.lib.logs import bound
from webapp.lib.redis_connection import connection
from webapp.messaging import frame_history as history
from webapp.messaging.heartbeats import spark_state, workers_alive
from webapp.messaging.stream import announce_row

from . import figures
from .execution import SHUTTING_DOWN
from .identity import new_holder
from .run_monitor import Cancelled, LeaseLost, ShuttingDown

log = logging.getLogger(__name__)

RUNS_AHEAD = 2
"""Number of queued or running runs of a study per worker or Spark core, so that a worker that finishes one finds the next."""

RENEW_S = 2.0
ROWS_TOGETHER = 500


def advance(id: UUID | str) -> None:
    """Advance a study as far as possible now. No effect if it has ended or another worker holds it."""
    with bound(study=id):
        while Study.objects.claim(id, holder := new_holder()):
            study = Study.objects.select_related("lab", "experiment").get(pk=id)
            try:
                changes = Advance(study, holder).go()
            except LeaseLost:
                log.warning("study %s: another worker has taken it over", id)
                return
            except Cancelled:
                stop_runs_of(study)  # including runs started since the request
                changes = {"state": RunState.CANCELLED, "finished_at": timezone.now()}
            except ShuttingDown:
                changes = {"state": RunState.QUEUED, "enqueued_at": None}
            except LimitReached as full:
                changes = {"state": RunState.FAILED, "error": str(full), "finished_at": timezone.now()}
            except (DatabaseError, InterfaceError) as error:
                log.warning("study %s: the database is unreachable (%s); it continues when the lease has expired", id, error)
                connections.close_all()
                return
            except Exception as error:
                log.exception("study %s failed", id)
                message = f"the study cannot continue: {type(error).__name__}: {error}; the worker's log has the details"
                changes = {"state": RunState.FAILED, "error": message, "finished_at": timezone.now()}
            _lay_down(id, holder, changes)
            if "state" in changes:
                return
            if Study.objects.filter(pk=id, cancel_requested=True).exists():  # since the last check, while it was held
                cancel(study)
                figures.after(id)
                return
            # Runs that ended in the meantime may have gone unnoticed, because their workers found the study held.
            if not ended_trials(id).exists():
                return


def _lay_down(id: UUID | str, holder: str, changes: dict[str, Any]) -> None:
    Study.objects.lay_down(id, holder, **changes)
    announce_row(connection(), "study", id)
    if "state" in changes and changes["state"] != RunState.QUEUED:
        figures.after(id)


def fail_for_want_of_spark(why: str) -> None:
    """Cancel the runs that wait for Spark, which is unavailable, and fail their studies with the reason, until someone retries them
    (`retry`). Other studies that wait for such a run start their own."""
    waiting = Run.objects.for_spark()
    for id in set(waiting.values_list("study_id", flat=True)):
        under_way = Study.objects.filter(pk=id, state__in=ACTIVE, deleted_at__isnull=True).exists()
        if under_way and not Study.objects.claim(id, holder := new_holder()):
            continue  # another worker is advancing it and may start more runs: the next check finds them
        stop(waiting.filter(study=id))
        if under_way:
            _lay_down(id, holder, {"state": RunState.FAILED, "error": why, "finished_at": timezone.now()})


def after(run_id: UUID | str) -> None:
    """Advance the studies that wait for a run that has ended."""
    waiting = Trial.objects.filter(run=run_id, state=TrialState.RUNNING)
    for id in set(waiting.values_list("study_id", flat=True)):
        advance(id)


def carry_on_missed() -> None:
    """Advance studies whose runs ended unnoticed, because the worker died at that moment or a person cancelled a queued run."""
    for id in Study.objects.to_be_carried_on().values_list("pk", flat=True):
        advance(id)


def ended_trials(study_id: UUID | str) -> QuerySet[Trial]:
    """Return trials whose run has ended or was deleted, but whose row does not show it yet."""
    return Trial.objects.filter(study=study_id, state=TrialState.RUNNING).exclude(run__state__in=ACTIVE)


class Advance:
    """One attempt to advance a study, under a lease."""

    def __init__(self, study: Study, holder: str) -> None:
        self.study, self.holder = study, holder
        self.document = document_of(study.pk)
        self.optimises = self.document.design.kind == "optimise"
        self.trials = study.trials.all()
        self.renewed_s = time.monotonic()

    def go(self) -> dict[str, Any]:
        """Advance as far as possible now. Returns changes of the study's row. Raises Cancelled, LeaseLost and ShuttingDown."""
        if not self.study.begun:
            self._begin()
        together = 0
        while True:
            self._settle()
            if not self._start(together):
                return self._state()
            together = ROWS_TOGETHER  # if the lab already has one run, it may have many

    def _check(self) -> None:
        """Raise what interrupts the work; renew the lease when due."""
        if SHUTTING_DOWN.is_set():
            raise ShuttingDown
        if time.monotonic() - self.renewed_s > RENEW_S:
            self.renewed_s = time.monotonic()
            if not Study.objects.renew(self.study.pk, self.holder):
                raise LeaseLost
            if Study.objects.filter(pk=self.study.pk, cancel_requested=True).exists():
                raise Cancelled

    # --- planning ---------------------------------------------------------------------------------------------------------------------

    def _begin(self) -> None:
        """Plan the first trials of all strands, or of an optimisation."""
        if self.optimises:
            self._choose()
        strands = plan.strands(self.document)
        while together := list(islice(strands, ROWS_TOGETHER)):
            self._plan(plan.follow(strand, {}) for strand in together)
            self._check()
        Study.objects.held(self.study.pk, self.holder).update(begun=True)

    def _plan(self, followed: Iterable[plan.Followed]) -> None:
        rows = [self._row(trial, left=max(0, one.left - len(one.wanted))) for one in followed for trial in one.wanted]
        Trial.objects.bulk_create(rows, ignore_conflicts=True)

    def _row(self, trial: plan.Trial, left: int = 0) -> Trial:
        load, share = NO_LOAD if trial.load is None else trial.load, NO_SHARE if trial.share is None else trial.share
        strand = trial.strand
        return Trial(study=self.study, point=strand.point, seed=strand.seed, load=load, share=share, values=strand.values, left=left)

    def _strand(self, trial: Trial) -> plan.Strand:
        return plan.Strand(self.document, trial.point, trial.values, trial.seed)

    def _follow(self, trial: Trial) -> None:
        """Plan what follows from a trial that has ended, but whose row does not show it yet."""
        strand = self._strand(trial)
        known = self.trials.filter(point=trial.point, seed=trial.seed, state__in=ENDED).exclude(pk=trial.pk)
        results = {id_of(one): result_of(one, {}) for one in [*known, trial]}
        self._plan([plan.follow(strand, results)])

    def _choose(self, ended: Trial | None = None) -> None:
        """Choose the next points of an optimisation. ended: a trial that has ended, but whose row does not show it yet."""
        trials = self.trials.all()
        known = [one for one in rows_of(trials) if not ended or one.pk != ended.pk]
        chosen, results = tried_of(self.document, trials, [*known, *([TrialRow.of(ended)] if ended else [])])
        wanted = plan.optimise(self.document, chosen, results).wanted
        Trial.objects.bulk_create((self._row(trial) for trial in wanted if trial.strand.point >= len(chosen)), ignore_conflicts=True)

    # --- what runs gave ---------------------------------------------------------------------------------------------------------------

    def _settle(self) -> None:
        for trial in ended_trials(self.study.pk).select_related("run").defer("run__document"):
            self._check()
            self._change(trial, self._outcome(trial.run))

    def _change(self, trial: Trial, changes: dict[str, Any]) -> None:
        """Change a trial's row, after planning what follows: if the worker dies in between, planning is repeated, and nothing is left
        out."""
        for name, value in changes.items():
            setattr(trial, name, value)
        if trial.state in ENDED and self.optimises:
            self._choose(trial)
        elif trial.state in ENDED and self.document.search.kind != "none":
            self._follow(trial)
        self.trials.filter(pk=trial.pk).update(**changes)

    def _outcome(self, run: Run | None) -> dict[str, Any]:
        """Return the consequence of an ended run for its trial, as changes of the trial's row."""
        if run is None:
            return {"state": TrialState.WANTED}
        if run.frames_removed_at and run.study_id != self.study.pk:  # between finding and reading it
            return {"state": TrialState.WANTED, "run": None, "reused": False}
        if run.state == RunState.SUCCEEDED or (run.state == RunState.FAILED and run.summary):
            measured = plan.Measured.of(self.document, run.summary, lambda: history.all_frames(run.pk, run.directory))
            return {"state": TrialState.DONE, "verdict": asdict(measured.verdict) if measured.verdict else None}
        if run.study_id != self.study.pk:  # the run of another study: start our own
            return {"state": TrialState.WANTED, "run": None, "reused": False}
        why = f"run #{run.number} " + ("was cancelled" if run.state == RunState.CANCELLED else f"failed: {run.error}")
        return {"state": TrialState.FAILED, "failure": why}

    # --- the next runs ----------------------------------------------------------------------------------------------------------------

    def _start(self, together: int) -> bool:
        """Start runs until enough are in progress. together: number of trials to check, even if there is room for fewer runs. Returns True
        if some runs already existed and have ended."""
        at_a_time = spark_state()["cores"] if self.document.executor == Executor.SPARK else workers_alive()
        room = RUNS_AHEAD * max(1, at_a_time) - self.trials.filter(state=TrialState.RUNNING).count()
        known_already = False
        for trial in self.trials.filter(state=TrialState.WANTED).order_by("pk")[: max(room, together) if room > 0 else 0]:
            if room <= 0:
                break
            self._check()
            run = self._run(trial)
            active = run is not None and run.active
            room -= active
            known_already |= not active
        return known_already

    def _run(self, trial: Trial) -> Run | None:
        """Return a run of the trial, existing or new; None if there can be none."""
        try:
            document = self._strand(trial).trial(load_of(trial), share_of(trial)).document
            checked = check(document, self.study.lab)
            why = "; ".join(f"{problem['pointer']}: {problem['message']}" for problem in checked.problems if problem["severity"] == "error")
        except Refusal as refusal:
            checked, why = None, str(refusal)
        if checked is None or checked.experiment is None:
            self._change(trial, {"state": TrialState.FAILED, "failure": f"the experiment is invalid at this point: {why}"})
            return None
        run = run_of_the_same(self.study.lab, checked.experiment)
        reused = run is not None and run.study_id != self.study.pk
        if run is None:
            origin = {"author": self.study.author, "study": self.study, "executor": self.document.executor}
            run, _ = start(self.study.experiment, document, checked.experiment, Lab.objects.get(pk=self.study.lab_id), **origin)
        self.trials.filter(pk=trial.pk).update(state=TrialState.RUNNING, run=run, reused=reused)
        return run

    # --- how far it is ----------------------------------------------------------------------------------------------------------------

    def _state(self) -> dict[str, Any]:
        """Return changes of the study's row: its progress, or its end."""
        by_state = self.trials.values("state").annotate(count=Count("pk"), left=Sum("left"))
        counts, left = Counter(), 0
        for row in by_state:
            counts[row["state"]] = row["count"]
            left += 0 if row["state"] in ENDED else row["count"] + row["left"]
        if self.optimises:
            left += self.document.point_count * len(self.document.seeds) - sum(counts.values())
        failed = counts[TrialState.FAILED]
        changes = {"trials_done": counts[TrialState.DONE] + failed, "trials_failed": failed, "trials_left": left}
        if left:
            return changes
        if not failed:
            return {**changes, "state": RunState.SUCCEEDED, "finished_at": timezone.now()}
        first = self.trials.filter(state=TrialState.FAILED).order_by("pk").values_list("failure", flat=True)[0]
        error = f"{failed} of {sum(counts.values())} runs failed; the first: {first}"
        return {**changes, "state": RunState.FAILED, "error": error, "finished_at": timezone.now()}

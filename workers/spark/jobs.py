"""One attempt at a job: claim it, summarise new runs, answer the question, and store the outcome.

Summaries are stored batch by batch, and the answer's file is written atomically, so a worker that dies in between leaves nothing wrong.
"""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings

from engine.spec import Refusal
from engine.spec.base.units import seconds_ns
from engine.spec.experiment.faults import FAULTS
from engine.telemetry.summaries import Of
from webapp.lab.models import Run, RunState, SparkJob
from webapp.lab.models.spark import stamp_of
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_row
from webapp.reports.analysis import NEWS, QUESTION, ComparisonQuestion, QuestionAbout, RunsAsked
from webapp.reports.summary_store import Store
from workers.attempts import attempt
from workers.run_monitor import Monitor

from .answers import ANSWERS, Sets
from .outcomes import outcome_of
from .session import SESSION
from .summaries import Summarised, Wanted, summaries

log = logging.getLogger(__name__)

DOCUMENTS_TOGETHER = 500


class JobAttendant(Monitor):
    selected: Mapping[str, int] = {}  # fields of the row that are known once the runs are selected: runs, read

    def selects(self, runs: int, read: int) -> None:
        """runs: number of runs that the job covers. read: number of those whose files it reads."""
        self.selected = {"runs": runs, "read": read}

    def _report(self) -> None:
        if self.rows.held(self.work.pk, self.holder).update(progress=self.progress, **self.selected):
            announce_row(connection(), NEWS, self.work.pk)


def make(id: str) -> None:
    """Answer a queued question. No effect if another worker holds it, or if it is no longer queued."""
    attempt(SparkJob.objects.select_related("lab"), id, NEWS, _outcome, monitored_by=JobAttendant)


def _outcome(job: SparkJob, monitor: Monitor) -> dict[str, Any]:
    """Compute the answer. Returns the outcome as changes of the row. Raises LeaseLost and ShuttingDown."""
    return outcome_of(lambda: _make(job, monitor), "the analysis", Path(settings.ANALYSIS_DIR), "select fewer runs")


def _make(job: SparkJob, monitor: Monitor) -> dict[str, Any]:
    assert isinstance(monitor, JobAttendant)
    question = QUESTION.validate_python(job.question)
    first = selected(job, question.runs)
    second = selected(job, question.against) if isinstance(question, ComparisonQuestion) else []
    runs = list({run.pk: run for run in (*first, *second)}.values())
    if not runs:
        raise Refusal("no runs match any more; they were deleted in the meantime")
    began_s = time.monotonic()
    summarised = summarise_runs(job, question, runs, monitor)
    rows = {row["run"]: row for row in summarised.rows}
    monitor.check()
    answer = ANSWERS[question.kind](job.lab, question, Sets(first, second, rows))
    answer["took_s"] = time.monotonic() - began_s
    write(job.file, json.dumps(answer, separators=(",", ":"), allow_nan=False))
    return {"state": RunState.SUCCEEDED, "runs": len(runs), "read": summarised.read, "progress": 1.0}


def selected(job: SparkJob, asked: RunsAsked) -> list[Run]:
    """Return the runs that matched when the question was asked, by number. Runs that ended since do not count."""
    return list(asked.find(job.lab).filter(finished_at__lte=job.created_at).order_by("number"))


def summarise_runs(job: SparkJob, question: QuestionAbout, runs: Sequence[Run], monitor: JobAttendant) -> Summarised:
    wanted = []
    for at in range(0, len(runs), DOCUMENTS_TOGETHER):
        together = runs[at : at + DOCUMENTS_TOGETHER]
        documents = dict(Run.objects.filter(pk__in=[run.pk for run in together]).values_list("pk", "document"))
        wanted += [Wanted(str(run.pk), stamp_of(run), of(run, documents[run.pk])) for run in together]
        monitor.check()

    def progress(done: int, new: int) -> None:
        monitor.selects(len(runs), new)
        monitor.reached_share(done / new if new else 1.0)

    return summaries(SESSION.get, wanted, question.span, Store.of(job.lab_id, question.span), progress)


def of(run: Run, document: dict[str, Any]) -> Of:
    """Return what the files alone do not contain. For faults at random times, only the deaths of hosts are known."""
    workload = document["workload"]
    begins_ns = (FAULTS.begins_ns(fault) for fault in document.get("faults") or ())
    faults_ns = tuple(sorted(time_ns for time_ns in begins_ns if time_ns is not None))
    return Of(run.directory, seconds_ns(workload.get("warmup_s") or 0.0), run.horizon_ns, faults_ns)


def write(file: Path, text: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(f".{os.getpid()}.part")
    try:
        part.write_text(text)
        os.replace(part, file)
    finally:
        part.unlink(missing_ok=True)

"""Whether a similarity join found the pairs that comparing all records finds."""

from __future__ import annotations

import uuid

from django.http import HttpRequest
from ninja import Query, Router, Schema

from engine.spec import Experiment, Refusal
from engine.workloads.exactness import expected_pairs
from webapp.lab import submission
from webapp.lab.documents import datasets_of
from webapp.lab.models import Run, RunState

from .errors import Problem409
from .runs import run_of

router = Router()


class Exactness(Schema):
    """pairs: that the run found. least: that comparing all finds; most: with those of which rounding decides. records: by input."""

    pairs: int
    least: int
    most: int
    exact: bool
    records: dict[str, int]


@router.get("/{uuid:run_id}/exactness", response=Exactness, summary="The pairs of a similarity join beside those of comparing all records")
def exactness(request: HttpRequest, run_id: uuid.UUID, join: Query[str]) -> Exactness:
    """409, with the reason, for runs and joins that cannot be checked."""
    lab = request.auth.lab
    run = run_of(lab, run_id)
    experiment = submission.checked_valid(run.document, lab)
    pairs = _pairs(run, experiment, join)
    try:
        found = expected_pairs(experiment, join, datasets_of(lab))
    except Refusal as refusal:
        raise Problem409(str(refusal)) from None
    exact = found.least <= pairs <= found.most
    return Exactness(pairs=pairs, least=found.least, most=found.most, exact=exact, records=found.records)


def _pairs(run: Run, experiment: Experiment, join: str) -> int:
    if run.state != RunState.SUCCEEDED or run.summary is None:
        raise Problem409(f"run {run.number} is {run.state}; the pairs of a run that succeeded can be checked")
    operators = run.summary["operators"]
    if late := sum(operator.get("late", 0) for operator in operators.values()):
        raise Problem409(f"{late:,} records of run {run.number} came too late for their windows, so it cannot have all pairs")
    if any(fault.loses_host for fault in experiment.faults):
        raise Problem409(f"run {run.number} loses a host, behind which pairs may be found again; check the run without it")
    return int(operators[join]["out"]) if join in operators else 0

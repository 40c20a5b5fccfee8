"""Baselines: the run that an experiment's other runs are compared with."""

from __future__ import annotations

import uuid

from django.http import HttpRequest
from ninja import Router, Schema, Status

from webapp.lab import baselines
from webapp.lib.redis_connection import connection
from webapp.messaging.stream import announce_lists

from .errors import Problem409
from .runs import run_of

router = Router()
of_run = Router()


class BaselineShape(Schema):
    """The baseline of an experiment. metrics: those that the run list can show, by name, as far as the run measured them."""

    experiment: str
    run: str
    number: int
    metrics: dict[str, float]


@router.get("", response=list[BaselineShape], summary="The pinned baselines of the lab's experiments, by run number")
def listing(request: HttpRequest) -> list[BaselineShape]:
    found = list(baselines.pinned(request.auth.lab))
    metrics = baselines.metrics_by_run(found)
    return [
        BaselineShape(experiment=str(one.experiment_id), run=str(one.run_id), number=one.run.number, metrics=metrics.get(one.run_id, {}))
        for one in found
    ]


@of_run.put("/{uuid:run_id}/baseline", response={204: None}, summary="Pin a run as its experiment's baseline; 409 unless it succeeded")
def pin(request: HttpRequest, run_id: uuid.UUID) -> Status:
    try:
        baselines.pin(run_of(request.auth.lab, run_id))
    except baselines.NotPinnable as why:
        raise Problem409(str(why)) from None
    announce_lists(connection(), request.auth.lab.pk)
    return Status(204, None)


@of_run.delete("/{uuid:run_id}/baseline", response={204: None}, summary="Unpin a run; nothing happens if it is not pinned")
def unpin(request: HttpRequest, run_id: uuid.UUID) -> Status:
    baselines.unpin(run_of(request.auth.lab, run_id))
    announce_lists(connection(), request.auth.lab.pk)
    return Status(204, None)

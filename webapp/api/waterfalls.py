"""Where the latency of a run's records comes from: totals by operator, and the paths of selected records."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Status
from typing_extensions import TypedDict

from engine.spec.experiment.selection import Selection
from webapp.lab.models import Lab, Run, RunState, Waterfalls
from webapp.lab.models.waterfalls import hash_of
from webapp.lab.schemas import WaterfallsShape
from webapp.lab.waiting_work import enqueue
from webapp.lib.described import AsIs
from webapp.lib.redis_connection import connection
from webapp.live.frames import Attribution
from webapp.messaging.stream import announce_row

from .errors import Problem404, Problem409
from .runs import run_of

router = Router()


class WaterfallPart(TypedDict):
    """An interval of a record's latency. instance: index within the operator; for network parts, that of the sender."""

    part: str
    operator: str
    instance: int
    start_ns: int
    end_ns: int


class Waterfall(TypedDict):
    """Latency breakdown of one delivered record, from the measured clock to delivery; each part starts where the previous one ends."""

    sink: str
    instance: int
    trigger: int
    end_ns: int
    latency_ns: int
    parts: list[WaterfallPart]


class WaterfallsAnswer(WaterfallsShape):
    """waterfalls: null until the answer is ready."""

    waterfalls: list[Waterfall] | None


class AttributionAnswer(TypedDict):
    """operators: latency attribution by operator."""

    operators: dict[str, Attribution | None]


QUEUE_AWAY = "the queue is unreachable; the question is stored and starts when the queue is back"


@router.get(
    "/{uuid:run_id}/attribution",
    response=Annotated[Any, AsIs(AttributionAnswer)],
    summary="Latency breakdown of all records, by operator",
)
def attribution(request: HttpRequest, run_id: uuid.UUID) -> dict[str, Any]:
    """Sums over the records after warm-up (docs/event-core.md, section 11). While a run is in progress, its frames contain the sums so
    far."""
    run = run_of(request.auth.lab, run_id)
    if run.active or run.summary is None:
        raise Problem409(
            f"run #{run.number} is {run.state} and has no summary{'; its frames contain the sums so far' if run.active else ''}"
        )
    return {"operators": {id: operator.get("attribution") for id, operator in run.summary["operators"].items()}}


@router.get("/{uuid:run_id}/waterfalls", response=list[WaterfallsShape], summary="The waterfalls requested for a run, newest first")
def listing(request: HttpRequest, run_id: uuid.UUID) -> list[WaterfallsShape]:
    run = run_of(request.auth.lab, run_id)
    return [WaterfallsShape.of(item) for item in run.waterfalls.filter(deleted_at__isnull=True).order_by("-created_at")]


@router.post(
    "/{uuid:run_id}/waterfalls",
    response={200: WaterfallsShape, 201: WaterfallsShape},
    summary="Request the latency breakdown of selected records",
)
def ask(request: HttpRequest, run_id: uuid.UUID, body: Selection) -> Status:
    """Repeats the run twice to find it. Requesting the same selection again returns the existing answer (200)."""
    run = run_of(request.auth.lab, run_id)
    if run.state != RunState.SUCCEEDED:
        raise Problem409(f"run #{run.number} is {run.state}; waterfalls need a run that succeeded")
    selection = body.model_dump(mode="json")
    asked = {"run": run, "selection_hash": hash_of(selection)}
    before = Waterfalls.objects.filter(**asked, deleted_at__isnull=True).exclude(state__in=[RunState.FAILED, RunState.CANCELLED]).first()
    if before is not None:
        return Status(200, WaterfallsShape.of(before))
    waterfalls = Waterfalls.objects.create(**asked, selection=selection)
    queued = enqueue(waterfalls.pk, Waterfalls)
    announce_row(connection(), "question", waterfalls.pk)
    waterfalls.refresh_from_db()
    return Status(201, WaterfallsShape.of(waterfalls, None if queued else QUEUE_AWAY))


@router.get(
    "/{uuid:run_id}/waterfalls/{uuid:id}", summary="A request for waterfalls, and its answer once it has one", response=WaterfallsAnswer
)
def read(request: HttpRequest, run_id: uuid.UUID, id: uuid.UUID) -> HttpResponse:
    waterfalls = waterfalls_of(request.auth.lab, run_id, id)
    answer = "null"
    if waterfalls.state == RunState.SUCCEEDED:
        try:
            answer = waterfalls.file.read_text()
        except FileNotFoundError:
            raise Problem404("the answer's file is missing from the server's data directory; ask again") from None
    shape = WaterfallsShape.of(waterfalls).model_dump_json()
    return HttpResponse(f'{shape[:-1]},"waterfalls":{answer}}}', content_type="application/json")


@router.post("/{uuid:run_id}/waterfalls/{uuid:id}/cancel", response={202: WaterfallsShape}, summary="Cancel; takes effect within a second")
def cancel(request: HttpRequest, run_id: uuid.UUID, id: uuid.UUID) -> Status:
    waterfalls = waterfalls_of(request.auth.lab, run_id, id)
    Waterfalls.objects.request_cancel(waterfalls.pk)
    announce_row(connection(), "question", waterfalls.pk)
    waterfalls.refresh_from_db()
    return Status(202, WaterfallsShape.of(waterfalls))


@router.delete("/{uuid:run_id}/waterfalls/{uuid:id}", response={204: None}, summary="Delete; a request in progress is cancelled")
def delete(request: HttpRequest, run_id: uuid.UUID, id: uuid.UUID) -> Status:
    waterfalls = waterfalls_of(request.auth.lab, run_id, id)
    waterfalls.delete_softly()
    announce_row(connection(), "question", waterfalls.pk)
    return Status(204, None)


def waterfalls_of(lab: Lab, run_id: uuid.UUID, id: uuid.UUID) -> Waterfalls:
    run: Run = run_of(lab, run_id)
    found = run.waterfalls.filter(pk=id, deleted_at__isnull=True).first()
    if found is None:
        raise Problem404(f"run #{run.number} has no waterfalls {id}; they may have been deleted")
    return found

"""Finding runs: filters, words of a search, orders. All of it happens in the database, and none of it reads a document or a series."""

from __future__ import annotations

import uuid
from typing import Annotated, Any, Literal, get_args

from django.db.models import F, OuterRef, Q, QuerySet, Subquery
from ninja import Schema
from pydantic import Field, StringConstraints

from .models import Lab, Run, RunState, RunSummary

Order = Literal["number", "state", "experiment", "seed", "p50", "p99", "out", "took"]
SORTS = [f"{sign}{order}" for order in get_args(Order) for sign in ("", "-")]
COLUMNS: dict[str, Any] = {"number": F("number"), "state": F("state"), "experiment": F("name"), "seed": F("seed")}
METRICS = {"p50": "latency_ms.p50", "p99": "latency_ms.p99", "out": "throughput_out_per_s"}

ShortText = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]


class Filter(Schema):
    """Which runs, and in which order; a minus before the order turns it round. Runs that lack the number stand last."""

    state: RunState | None = None
    experiment: uuid.UUID | None = None
    tag: ShortText = ""
    search: ShortText = ""
    sort: Annotated[str, StringConstraints(pattern=f"^({'|'.join(SORTS)})$")] = "-number"
    limit: int = Field(50, ge=1, le=200)
    offset: int = Field(0, ge=0, le=10**9)


def find(lab: Lab, filter: Filter) -> QuerySet[Run]:
    """The runs that the filter describes, in its order, not yet cut into pages."""
    found = Run.objects.filter(lab=lab, deleted_at__isnull=True).defer("document").prefetch_related("tags")
    if filter.state:
        found = found.filter(state=filter.state)
    if filter.experiment:
        found = found.filter(experiment=filter.experiment)
    if filter.tag:
        found = found.filter(tags__name=filter.tag)
    for word in filter.search.split():
        found = found.filter(matches(word))
    order = column(filter.sort.removeprefix("-"))
    down = filter.sort.startswith("-")
    return found.order_by(order.desc(nulls_last=True) if down else order.asc(nulls_last=True), "-number")


def column(order: str) -> Any:
    if order in METRICS:
        return Subquery(RunSummary.objects.filter(run=OuterRef("pk"), metric=METRICS[order]).values("value"))
    return F("finished_at") - F("started_at") if order == "took" else COLUMNS[order]


def matches(word: str) -> Q:
    """A word of a search: part of the name, the number, or the beginning of the hash or digest."""
    query = Q(name__icontains=word) | Q(hash__startswith=word.lower()) | Q(digest__startswith=word.lower())
    number = word.removeprefix("#")
    return query | Q(number=int(number)) if number.isascii() and number.isdecimal() and len(number) < 10 else query

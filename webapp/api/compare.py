"""Comparison of runs over seeds."""

from __future__ import annotations

import uuid
from typing import Any

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field

from engine.spec.experiment.differences import differences
from webapp.lib.described import Json
from webapp.reports.comparison import Side, compare

from .parsing import Body

router = Router()

COMPARED_MAX = 8
METRICS_MAX = 60
DIFFERENCES_MAX = 500
"""Maximum number of differences between documents that are listed; all of them are counted."""


class ComparedQuery(Schema):
    """run: run ids; the first is the baseline. metric: metric names, as in the run summaries."""

    run: list[uuid.UUID] = Field(min_length=1, max_length=COMPARED_MAX)
    metric: list[str] = Field([], max_length=METRICS_MAX)


class MeanOverSeeds(Schema):
    mean: float
    low: float | None
    high: float | None
    count: int


class Difference(Schema):
    """Difference of the means with its 95 % interval. distinguishable: whether it is more than chance; null with a single run on a side."""

    difference: float
    low: float | None
    high: float | None
    p: float | None
    pairs: int
    distinguishable: bool | None


class DocumentDifference(Schema):
    """A difference from the first document. path: JSON pointer. where: operator, host or section. text: the difference in one sentence."""

    path: str
    where: str
    label: str
    before: Json
    after: Json
    text: str


class RunOfSide(Schema):
    id: str
    number: int
    seed: int


class SideShape(Schema):
    """A run and the runs that differ from it only in their seed. under_way: seeds whose runs have not finished. twin: another side differs
    from this one only in its seed, so each is shown on its own. differs: how the document differs from the first side's; differs_count
    of them exist."""

    run: str
    runs: list[RunOfSide]
    under_way: list[int]
    twin: bool
    over_seeds: dict[str, MeanOverSeeds]
    against: dict[str, Difference]
    differs: list[DocumentDifference]
    differs_count: int

    @classmethod
    def of(cls, side: Side) -> SideShape:
        return cls(
            run=str(side.run.pk),
            runs=[RunOfSide(id=str(run.pk), number=run.number, seed=seed) for seed, run in sorted(side.runs.items())],
            under_way=sorted(side.under_way),
            twin=side.twin,
            over_seeds={metric: MeanOverSeeds(**vars(one)) for metric, one in side.over_seeds.items()},
            against={metric: Difference(**vars(one)) for metric, one in side.against.items()},
            differs=[DocumentDifference(**vars(one)) for one in side.differs[:DIFFERENCES_MAX]],
            differs_count=len(side.differs),
        )


class Gone(Schema):
    """A run that cannot be compared. number: its number if it was deleted; null if no such run existed in this lab."""

    id: str
    number: int | None


class ComparisonShape(Schema):
    sides: list[SideShape]
    gone: list[Gone]


@router.get("", response=ComparisonShape, summary="Compare runs with the first one, each over its seeds")
def read(request: HttpRequest, which: Query[ComparedQuery]) -> ComparisonShape:
    found = compare(request.auth.lab, which.run, which.metric)
    return ComparisonShape(
        sides=[SideShape.of(side) for side in found.sides],
        gone=[Gone(id=str(id), number=number) for id, number in found.gone.items()],
    )


class TwoDocuments(Body):
    """Two documents of experiments, valid or not."""

    before: dict[str, Any]
    after: dict[str, Any]


@router.post("/documents", response=list[DocumentDifference], summary="How one document differs from another, in the words of the forms")
def documents(request: HttpRequest, body: TwoDocuments) -> list[DocumentDifference]:
    """At most 500 differences, in the order of the fields."""
    return [DocumentDifference(**vars(one)) for one in differences(body.before, body.after)[:DIFFERENCES_MAX]]

"""Answers from many runs: groups with their measures, and points for pictures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Self

from django.http import HttpRequest
from ninja import Query, Router, Schema
from pydantic import Field, StringConstraints

from engine.spec import Problem
from webapp.lab.run_fields import Cell, RunField
from webapp.lab.run_groups import Group, Measured, grouped
from webapp.lab.run_points import points
from webapp.lab.run_search import Which
from webapp.lab.search_values import BadCondition

from .errors import Problem422

router = Router()

GROUPED_BY_MAX = 2
MEASURES_MAX = 8
FIELDS_MAX = 12
POINTS_MAX = 20_000

Name = Annotated[str, StringConstraints(min_length=1, max_length=300, pattern=r"^[^\x00]*$")]


class FieldShape(Schema):
    """A field of runs. name: as in conditions. unit: empty for a plain number and for texts. texts: whether some run has a text there."""

    name: str
    unit: str
    texts: bool

    @classmethod
    def of(cls, field: RunField) -> Self:
        return cls(name=field.name, unit=field.unit, texts=field.texts)


class GroupQuery(Which):
    """by: one or two fields. measure: metrics, or took. sort: `group`, `runs`, or `median:`, `min:`, `max:` or `count:` and a measure; a
    leading minus reverses it. Groups without the value come last."""

    by: list[Name] = Field(min_length=1, max_length=GROUPED_BY_MAX)
    measure: list[Name] = Field([], max_length=MEASURES_MAX)
    sort: Annotated[str, StringConstraints(max_length=320, pattern=r"^[^\x00]*$")] = "group"
    limit: int = Field(100, ge=1, le=500)
    offset: int = Field(0, ge=0, le=10**9)


class MeanOfSeeds(Schema):
    """A mean over seeds with Student's 95 % interval. count: number of seeds."""

    mean: float
    low: float
    high: float
    count: int


class MeasuredShape(Schema):
    """A measure over the runs of a group that have it. over_seeds: of runs that differ only in the seed; null for others."""

    count: int
    median: float | None
    min: float | None
    max: float | None
    over_seeds: MeanOfSeeds | None

    @classmethod
    def of(cls, measured: Measured) -> Self:
        over = measured.over_seeds
        return cls(
            count=measured.count,
            median=measured.median,
            min=measured.min,
            max=measured.max,
            over_seeds=None if over is None or over.low is None or over.high is None else MeanOfSeeds(**vars(over)),
        )


class GroupShape(Schema):
    """Runs with the same values of the fields; null: the runs without a value. search: finds exactly these runs, with the other parts of
    the query unchanged. measures: in the order in which they were asked for."""

    values: list[Cell]
    runs: int
    search: str
    measures: list[MeasuredShape]

    @classmethod
    def of(cls, group: Group) -> Self:
        measures = [MeasuredShape.of(one) for one in group.measures]
        return cls(values=group.values, runs=group.runs, search=group.search, measures=measures)


class GroupPage(Schema):
    """count: number of all groups. runs: number of runs found."""

    by: list[FieldShape]
    measures: list[FieldShape]
    items: list[GroupShape]
    count: int
    runs: int


class PointQuery(Which):
    field: list[Name] = Field(min_length=1, max_length=FIELDS_MAX)
    limit: int = Field(5000, ge=1, le=POINTS_MAX)
    offset: int = Field(0, ge=0, le=10**9)


class PointsShape(Schema):
    """Runs, newest first: `ids`, `numbers`, and a column of values for each field; null where a run has none. count: number of all runs
    found."""

    fields: list[FieldShape]
    ids: list[str]
    numbers: list[int]
    columns: list[list[Cell]]
    count: int


@router.get("/groups", response=GroupPage, summary="Group the runs found by one or two fields, with measures of each group")
def groups(request: HttpRequest, asked: Query[GroupQuery]) -> GroupPage:
    with refusing(asked):
        found = grouped(request.auth.lab, asked, asked.by, asked.measure, asked.sort, asked.offset, asked.limit)
    return GroupPage(
        by=[FieldShape.of(one) for one in found.by],
        measures=[FieldShape.of(one) for one in found.measures],
        items=[GroupShape.of(one) for one in found.groups],
        count=found.count,
        runs=found.runs,
    )


@router.get("/points", response=PointsShape, summary="Values of chosen fields of the runs found, as columns")
def drawn(request: HttpRequest, asked: Query[PointQuery]) -> PointsShape:
    with refusing(asked):
        found = points(request.auth.lab, asked, asked.field, asked.offset, asked.limit)
    return PointsShape(
        fields=[FieldShape.of(one) for one in found.fields],
        ids=[str(id) for id in found.ids],
        numbers=found.numbers,
        columns=found.columns,
        count=found.count,
    )


@contextmanager
def refusing(asked: Which) -> Iterator[None]:
    """Answer a search or a field that does not exist with 422."""
    try:
        yield
    except BadCondition as bad:
        raise Problem422(str(bad), [Problem(f"/{bad.at}", "bad_condition", str(bad), getattr(asked, bad.at)).as_dict()]) from None

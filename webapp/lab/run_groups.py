"""Runs in groups: those found by a search, by the values of one or two fields, with the median and the spread of measures of each group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import F, QuerySet, Value
from django.db.models.functions import NullIf

from engine.studies import Interval, mean_interval

from .models import Lab, Run, RunState
from .run_fields import SEED, Cell, RunField, cell_of, field_named, with_values
from .run_search import Which, find, joined_by_hash
from .search_values import BadCondition, stands_in

MEASURED = ("count", "median", "min", "max")


@dataclass
class Measured:
    """A measure over the runs of a group that have it: their number, median, least and largest value. over_seeds: the mean over the seeds
    with Student's interval, for a group of runs that differ only in the seed, with at least two seeds; over succeeded runs, the newest of
    each seed."""

    count: int
    median: float | None
    min: float | None
    max: float | None
    over_seeds: Interval | None = None


@dataclass
class Group:
    """Runs with the same values of the fields. None: the runs without a value. search: finds exactly these runs. setup: of all its runs,
    with the version of the engine; None if they have several. Runs that no engine has begun have no version."""

    values: list[Cell]
    runs: int
    search: str
    measures: list[Measured]
    setup: tuple[str, str] | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Groups:
    """groups: one page of them. count: number of all groups. runs: number of runs found; a run with several tags is in several groups."""

    by: list[RunField]
    measures: list[RunField]
    groups: list[Group]
    count: int
    runs: int


def grouped(lab: Lab, which: Which, by: Sequence[str], measures: Sequence[str], sort: str, offset: int, limit: int) -> Groups:
    """Group the runs found. sort: `group`, `runs`, or `count:`, `median:`, `min:` or `max:` and a measure; a leading minus
    reverses it.

    Raises BadCondition.
    """
    with stands_in("by"):
        fields = [field_to_group_by(lab, name) for name in by]
        if len({one.name for one in fields}) < len(fields):
            raise BadCondition(f"'{by[0]}' and '{by[1]}' are the same field; leave one out")
    with stands_in("measure"):
        measured = [measure_named(lab, name) for name in measures]
    with stands_in("sort"):
        key = _key_of(sort, measures)
    found = find(lab, which)
    with joined_by_hash():
        groups = _groups(found, fields, measured, which.search)
        runs = found.count()
        groups.sort(key=lambda group: [_order_of(value) for value in group.values])
        groups.sort(key=key, reverse=sort.startswith("-"))
        lacking = [group for group in groups if key(group)[0] == LAST]  # come last in both directions
        page = [*(group for group in groups if key(group)[0] != LAST), *lacking][offset : offset + limit]
        _measure_over_seeds(found, fields, measured, page)
    return Groups(fields, measured, page, len(groups), runs)


def field_to_group_by(lab: Lab, name: str) -> RunField:
    """Raises BadCondition."""
    found = field_named(lab, name)
    if found.name in ("seed", SEED):
        raise BadCondition("runs are not grouped by their seed, because seeds repeat one setup; choose what the setups differ in")
    if found.kind == "metric" or found.name in ("number", "took"):
        raise BadCondition(f"'{name}' is measured, so nearly every run has its own value; group by a parameter, and measure '{name}'")
    return found


def measure_named(lab: Lab, name: str) -> RunField:
    """Raises BadCondition."""
    found = field_named(lab, name)
    if found.kind != "metric" and found.name != "took":
        raise BadCondition(f"'{name}' is not measured; give a metric of the summary such as p99, or took")
    return found


LAST = 2


def _order_of(value: Cell) -> tuple[int, float, str]:
    """Numbers before texts, nothing last."""
    if value is None:
        return (LAST, 0.0, "")
    return (1, 0.0, value) if isinstance(value, str) else (0, value, "")


def _key_of(sort: str, measures: Sequence[str]) -> Any:
    """Return a function that gives what a group is ordered by. Raises BadCondition."""
    what = sort.removeprefix("-")
    if what == "group":
        return lambda group: _order_of(group.values[0])
    if what == "runs":
        return lambda group: _order_of(group.runs)
    statistic, _, name = what.partition(":")
    if statistic not in MEASURED or name not in measures:
        known = ", ".join(["group", "runs", *(f"{one}:{name}" for name in measures for one in MEASURED)][:8])
        raise BadCondition(f"groups have no order '{what}'; use one of {known}")
    at = list(measures).index(name)
    return lambda group: _order_of(getattr(group.measures[at], statistic))


def _rows(found: QuerySet[Run], by: Sequence[RunField], measures: Sequence[RunField]) -> tuple[QuerySet[Run], list[list[str]], list[str]]:
    """Return the runs with the columns of the fields (by field) and of the measures."""
    keys, values = [], []
    for at, one in enumerate(by):
        found, columns = with_values(found, one, f"k{at}")
        keys.append(columns)
    for at, one in enumerate(measures):
        found, (column,) = with_values(found, one, f"v{at}")
        values.append(column)
    return found, keys, values


def _groups(found: QuerySet[Run], by: Sequence[RunField], measures: Sequence[RunField], search: str) -> list[Group]:
    """One statement for all groups and measures."""
    found, keys, values = _rows(found, by, measures)
    flat = [column for columns in keys for column in columns]
    inner = found.annotate(of_setup=F("setup"), of_version=NullIf(F("engine_version"), Value(""))).order_by()
    try:
        rows, parameters = inner.values(*flat, *values, "of_setup", "of_version").query.sql_with_params()
    except EmptyResultSet:  # a condition that no run can meet, such as a number beyond all that the column can hold
        return []
    over = ", ".join(flat) or "1"
    ranks, medians = _medians(values, over)
    measured = "".join(f", COUNT({v}), {median}, MIN({v}), MAX({v})" for v, median in zip(values, medians, strict=True))
    statement = (
        f"WITH found AS ({rows}), ranked AS (SELECT found.*{ranks} FROM found) "
        f"SELECT {', '.join([*flat, 'COUNT(*)'])}, MIN(of_setup), MAX(of_setup), MIN(of_version), MAX(of_version){measured} "
        f"FROM ranked{f' GROUP BY {over}' if flat else ''}"
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
        answer = cursor.fetchall()
    groups = []
    for row in answer:
        told, rest = row[: len(flat)], row[len(flat) :]
        runs, setup, last_setup, version, last_version = rest[:5]
        cells = _cells(by, keys, told)
        conditions = [one.condition(cell) for one, cell in zip(by, cells, strict=True)]
        groups.append(
            Group(
                cells, runs, " ".join([search, *conditions]).strip(),
                [Measured(*rest[5 + 4 * at : 9 + 4 * at]) for at in range(len(measures))],
                (setup, version) if setup and version and (setup, version) == (last_setup, last_version) else None,
            )
        )  # fmt: skip
    return [group for group in groups if group.runs]


def _medians(values: Sequence[str], over: str) -> tuple[str, list[str]]:
    """Return further columns of the rows, and the median of each column of values over the groups. SQLite has no median: it is the mean of
    the one or two rows in the middle, which takes PostgreSQL twice as long as its own function.

    over: the columns that make the groups.
    """
    if connection.vendor == "postgresql":
        return "", [f"PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {v})" for v in values]
    ranks = "".join(
        f", ROW_NUMBER() OVER (PARTITION BY {over} ORDER BY {v} IS NULL, {v}) AS {v}_at, COUNT({v}) OVER (PARTITION BY {over}) AS {v}_of"
        for v in values
    )
    return ranks, [f"AVG(CASE WHEN 2 * {v}_at BETWEEN {v}_of AND {v}_of + 2 THEN {v} END)" for v in values]


def _cells(by: Sequence[RunField], keys: Sequence[Sequence[str]], values: Sequence[Any]) -> list[Cell]:
    cells, start = [], 0
    for one, columns in zip(by, keys, strict=True):
        cells.append(cell_of(one, tuple(values[start : start + len(columns)])))
        start += len(columns)
    return cells


def _measure_over_seeds(found: QuerySet[Run], by: Sequence[RunField], measures: Sequence[RunField], page: Sequence[Group]) -> None:
    """Fill in the intervals over seeds."""
    alike = {tuple(group.values): group for group in page if group.setup is not None and group.runs > 1}
    if not alike or not measures:
        return
    setups = {group.setup[0] for group in alike.values() if group.setup is not None}
    found, keys, values = _rows(found.filter(setup__in=setups, state=RunState.SUCCEEDED), by, measures)
    flat = [column for columns in keys for column in columns]
    by_seed: dict[tuple[Cell, ...], list[dict[int, float]]] = defaultdict(lambda: [{} for _ in measures])
    for seed, *row in found.order_by("number").values_list("seed", *flat, *values):
        cells = tuple(_cells(by, keys, row[: len(flat)]))
        for at, value in enumerate(row[len(flat) :]):
            if value is not None:
                by_seed[cells][at][seed] = value
    for cells, group in alike.items():
        for measured, of in zip(group.measures, by_seed[cells], strict=True):
            if len(of) > 1:
                measured.over_seeds = mean_interval([of[seed] for seed in sorted(of)])

"""Runs as points: the values of chosen fields as columns, for pictures of many runs."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from .models import Lab, Run
from .run_fields import Cell, RunField, cell_of, fields_named, with_values
from .run_search import Which, find, joined_by_hash
from .search_values import BadCondition, stands_in


@dataclass(frozen=True)
class Points:
    """Runs, newest first. columns: a list for each field, as long as `ids`. count: number of all runs found."""

    fields: list[RunField]
    ids: list[uuid.UUID]
    numbers: list[int]
    columns: list[list[Cell]]
    count: int


def points(lab: Lab, which: Which, names: Sequence[str], offset: int, limit: int) -> Points:
    """Return the newest runs found, from an offset. Raises BadCondition."""
    with stands_in("field"):
        fields = columns_named(lab, names)
    found = find(lab, which)
    with joined_by_hash():
        count = found.count()
        page = found.order_by("-number").values_list("pk", "number")[offset : offset + limit]
        ids, numbers = [], []
        for id, number in page:
            ids.append(id)
            numbers.append(number)
        span = found.filter(number__gte=numbers[-1], number__lte=numbers[0]) if numbers else found.none()
        columns = [_column(span, one, numbers) for one in fields]
    return Points(fields, ids, numbers, columns, count)


def columns_of(lab: Lab, ids: Sequence[uuid.UUID], names: Sequence[str]) -> tuple[list[RunField], list[list[Cell]]]:
    """Return the fields and their values for some runs, in the order of the ids. Raises BadCondition."""
    with stands_in("value"):
        fields = columns_named(lab, names)
    numbers = dict(Run.objects.filter(pk__in=ids).values_list("pk", "number"))
    found = Run.objects.filter(pk__in=ids)
    return fields, [_column(found, one, [numbers[id] for id in ids]) for one in fields]


def columns_named(lab: Lab, names: Sequence[str]) -> list[RunField]:
    """Raises BadCondition."""
    found = fields_named(lab, names)
    if any(one.kind == "tag" for one in found):
        raise BadCondition("a run can have several tags, so 'tag' is no single value of it; group by tag instead")
    return found


def _column(found: QuerySet[Run], field: RunField, numbers: Sequence[int]) -> list[Cell]:
    """Each column is read on its own: all its values are neighbours in an index."""
    found, columns = with_values(found, field, "v")
    of = {number: cell_of(field, tuple(values)) for number, *values in found.values_list("number", *columns)}
    return [of.get(number) for number in numbers]

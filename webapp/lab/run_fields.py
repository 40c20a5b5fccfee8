"""Fields of runs as columns: a column of the run, its tags, a metric of its summary, or a parameter of its document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import (
    Exists,
    F,
    FilteredRelation,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
)
from django.db.models.functions import NullIf

from .conditions import COLUMNS, SHORT, TEXTS, parameter_named, unit_named
from .models import FieldName, Lab, Run, RunParameter
from .search_values import name_as_written, number_as_written, quoted, text_as_written
from .took import Took

SEED = "/workload/seed"
OF_RUN = {"state": "state", "number": "number", "seed": "seed", **TEXTS}
TEXTUAL = ("state", "tag", *TEXTS)

Cell = float | str | None


@dataclass(frozen=True)
class RunField:
    """A field of runs. id: of a parameter's name. numbers, texts: whether some run has a number, and whether some has a text."""

    name: str
    kind: Literal["run", "tag", "metric", "parameter"]
    unit: str = ""
    metric: str = ""
    id: int = 0
    numbers: bool = False
    texts: bool = False

    def condition(self, value: Cell) -> str:
        """The condition of a search that exactly the runs with this value meet. None: the runs without a value."""
        name = name_as_written(self.name)
        if value is None:
            return f"no:{name}"
        if isinstance(value, str):
            return f"{name}={quoted(value) if self.kind == 'parameter' and self.numbers else text_as_written(value)}"
        return f"{name}={number_as_written(value)}"


def field_named(lab: Lab, name: str) -> RunField:
    """Raises BadCondition."""
    return fields_named(lab, [name])[0]


def fields_named(lab: Lab, names: Sequence[str]) -> list[RunField]:
    """Return the fields: a column of the run (`state`), a metric or its short name (`p99`), or a parameter by its pointer or by an end of
    it that only one parameter has. However many they are, two statements find them, and one more for each that is no whole name.

    Raises BadCondition.
    """
    stored = [SHORT.get(name, name) for name in names if name not in COLUMNS]
    whole = dict(FieldName.objects.filter(lab=lab, name__in=stored).values_list("name", "pk")) if stored else {}
    found: list[RunField | int] = []
    for name in names:
        metric = SHORT.get(name, name)
        if name in COLUMNS:
            kind: Literal["run", "tag"] = "tag" if name == "tag" else "run"
            found.append(RunField(name, kind, unit_named(name), numbers=name not in TEXTUAL, texts=name in TEXTUAL))
        elif metric in whole and not metric.startswith("/"):
            found.append(RunField(name, "metric", unit_named(name), metric=metric, numbers=True))
        else:
            found.append(whole.get(name) or parameter_named(lab, name))
    parameters = _parameters([one for one in found if isinstance(one, int)])
    return [parameters[one] if isinstance(one, int) else one for one in found]


def _parameters(ids: Sequence[int]) -> dict[int, RunField]:
    """The parameters by id. One statement says which have numbers and which have texts."""
    if not ids:
        return {}
    values = RunParameter.objects.filter(name=OuterRef("pk"))
    kinds = {"numbers": Exists(values.filter(number__isnull=False)), "texts": Exists(values.filter(number__isnull=True))}
    rows = FieldName.objects.filter(pk__in=ids).annotate(**kinds).values_list("pk", "name", *kinds)
    return {id: RunField(name, "parameter", unit_named(name), id=id, numbers=numbers, texts=texts) for id, name, numbers, texts in rows}


def with_values(found: QuerySet[Run], field: RunField, at: str) -> tuple[QuerySet[Run], list[str]]:
    """Return the runs with the field's values, and the names of the columns that hold them: a number's, then a text's.

    at: a prefix of the column names that no other field has. A run with several tags comes once for each of them.
    """
    number, text = f"{at}_number", f"{at}_text"
    if field.kind == "tag":
        return found.annotate(**{text: F("tags__name")}), [text]
    if field.kind == "metric":
        found = found.alias(**{at: FilteredRelation("metrics", condition=Q(metrics__metric=field.metric))})
        return found.annotate(**{number: F(f"{at}__value")}), [number]
    if field.kind == "run":
        if field.name == "took":
            return found.annotate(**{number: Took()}), [number]
        column = OF_RUN[field.name]
        if field.texts:
            return found.annotate(**{text: NullIf(F(column), Value("")) if field.name == "author" else F(column)}), [text]
        return found.annotate(**{number: F(column)}), [number]
    columns = []
    # One join for numbers and one for texts, so that each reads its own part of an index alone.
    for wanted, name, is_text in ((field.numbers, number, False), (field.texts, text, True)):
        if wanted:
            condition = Q(parameters__name=field.id, parameters__number__isnull=is_text)
            found = found.alias(**{f"{name}_row": FilteredRelation("parameters", condition=condition)})
            found = found.annotate(**{name: F(f"{name}_row__{'text' if is_text else 'number'}")})
            columns.append(name)
    return found, columns


def cell_of(field: RunField, values: tuple[Any, ...]) -> Cell:
    """The value that a run has, from the columns of `with_values`."""
    value: Cell = next((value for value in values if value is not None), None)
    return value


def varying_parameters(lab: Lab) -> QuerySet[FieldName]:
    """Return the parameters that do not have the same value in all runs that have them. Reads only the two ends of each one's indexes."""
    ends: dict[str, Subquery] = {}
    for column, is_text in (("number", False), ("text", True)):
        rows = RunParameter.objects.filter(name=OuterRef("pk"), number__isnull=is_text)
        for end, order in (("least", column), ("most", f"-{column}")):
            ends[f"{end}_{column}"] = Subquery(rows.order_by(order).values(column)[:1])
    differs = Q(most_number__gt=F("least_number")) | Q(most_text__gt=F("least_text"))
    both = Q(least_number__isnull=False, least_text__isnull=False)
    return FieldName.objects.filter(lab=lab, name__startswith="/").annotate(**ends).filter(differs | both)

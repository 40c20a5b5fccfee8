"""Conditions on runs in a search: `p99>500ms`, `p99:1s..10s`, `state=failed|cancelled`, `/workload/sources/*/rate/per_s=5000`, `no:tag`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from engine.spec.base.problems import suggestion

from .models import FieldName, Lab, Run, RunParameter, RunState, RunSummary, Tag
from .quantities import BadQuantity, quantity, unit_of_field
from .search_values import QUOTED, BadCondition, Range, Value, alternatives, unquoted
from .took import Took

SIGN = "<=|>=|!=|=|<|>"
CONDITION = re.compile(rf'(?P<name>{QUOTED}|[^<>=!\s"]+)(?P<sign>{SIGN})(?P<value>[^<>=!\s].*)', re.DOTALL)
WHOLE = ("seed", "number")
COLUMNS = {"seed": "", "number": "", "took": "s", "state": "", "experiment": "", "author": "", "tag": ""}
"""Fields of the run itself, with their units."""
TEXTS = {"experiment": "name", "author": "author"}
SHORT = {
    **{name: f"latency_ms.{name}" for name in ("p50", "p95", "p99", "max", "mean")},
    "in": "throughput_in_per_s",
    "out": "throughput_out_per_s",
    "throughput": "throughput_out_per_s",
}
LOOKUPS = {"<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}
WHOLE_MAX = 2**63 - 1

NAMES_MAX = 2000
"""Maximum number of parameters that a pattern may match."""


@dataclass(frozen=True)
class Between:
    """A range of values of a column, both ends included; None for an open end."""

    low: Any
    high: Any


def holding(found: QuerySet[Run], lab: Lab, written: str, sign: str, text: str) -> QuerySet[Run]:
    """Return the runs for which the condition holds. Runs without the value never match, not even with `!=`. Raises BadCondition.

    written: the name as it stands in the search. text: the value, which may be a range or have alternatives.
    """
    name = unquoted(written)
    asked = alternatives(written, text)
    if sign not in ("=", "!=") and (len(asked) > 1 or isinstance(asked[0], Range)):
        raise BadCondition(f"'{written}{sign}{text}' compares with more than one value; alternatives and ranges go with = or !=")
    if name == "state":
        return _in_state(found, asked, sign)
    if name == "tag":
        return _tagged(found, lab, asked, sign)
    if name in TEXTS:
        return _compared(found.exclude(**{TEXTS[name]: ""}), TEXTS[name], sign, _texts(name, asked, sign))
    if name == "took":
        ended = found.filter(started_at__isnull=False, finished_at__isnull=False).annotate(took_s=Took())
        return _compared(ended, "took_s", sign, _numbers(name, asked))
    if name in WHOLE:
        return _compared(found, name, sign, [_whole(name, number) for number in _numbers(name, asked)])
    if (metric := metric_named(lab, name)) is not None:
        rows = RunSummary.objects.filter(metric=metric)
        return found.filter(among(_compared(rows, "value", sign, _numbers(name, asked))))
    rows = RunParameter.objects.filter(name__in=parameters_named(lab, name, literal=is_literal(written)))
    return _of_parameter(found, rows, name, sign, asked)


def _of_parameter(
    found: QuerySet[Run], rows: QuerySet[RunParameter], name: str, sign: str, asked: Sequence[Value | Range]
) -> QuerySet[Run]:
    """A parameter's values are numbers in some runs and texts in others; what is quoted, or no number, is compared with the texts."""
    numbers: list[Any] = []
    texts: list[str] = []
    for one in asked:
        if isinstance(one, Value) and one.quoted:
            texts.append(one.text)
            continue
        try:
            numbers += _numbers(name, [one])
        except BadCondition as bad:
            if sign not in ("=", "!="):
                raise BadCondition(f"{bad}; text is compared with = or !=") from None
            if isinstance(one, Range):
                raise
            texts.append(one.text)
    if texts and sign not in ("=", "!="):
        raise BadCondition(f"'{texts[0]}' is a text; text is compared with = or !=")
    kinds = [("number", Q(number__isnull=False), numbers), ("text", Q(number__isnull=True), texts)]
    if sign == "!=":  # a text is no number, and so differs from each
        refused = [kind & _condition(column, sign, values) for column, kind, values in kinds if values]
        return found.filter(among(rows.exclude(reduce(or_, refused))))
    # One look for numbers and one for texts, so that each reads its own part of an index alone.
    wanted = [among(rows.filter(kind & _condition(column, sign, values))) for column, kind, values in kinds if values]
    return found.filter(reduce(or_, wanted))


def among(rows: QuerySet[Any]) -> Q:
    """The run of one of these rows. SQLite answers this from one part of an index; for an EXISTS it looks into each run's rows."""
    return Q(pk__in=rows.values("run"))


def lacking(found: QuerySet[Run], lab: Lab, written: str, *, lacks: bool) -> QuerySet[Run]:
    """Return the runs without a value of the field, or (lacks False) those with one. Raises BadCondition."""
    name = unquoted(written)
    if name in COLUMNS and name not in ("tag", "author", "took"):
        raise BadCondition(f"every run has a value of {name}, so '{'no' if lacks else 'has'}:{name}' says nothing; leave it out")
    if name == "author":
        return found.filter(author="") if lacks else found.exclude(author="")
    if name == "took":
        ended = Q(started_at__isnull=False, finished_at__isnull=False)
        return found.filter(~ended if lacks else ended)
    rows: QuerySet[Any]
    if name == "tag":
        rows = Tag.runs.through.objects.filter(run=OuterRef("pk"))
    elif (metric := metric_named(lab, name)) is not None:
        rows = RunSummary.objects.filter(run=OuterRef("pk"), metric=metric)
    else:
        rows = RunParameter.objects.filter(run=OuterRef("pk"), name__in=parameters_named(lab, name, literal=is_literal(written)))
    return found.filter(~Exists(rows) if lacks else Exists(rows))


def names_field(lab: Lab, written: str) -> bool:
    """Whether this is the name of a field that runs of the lab can be found by."""
    name = unquoted(written)
    if name in COLUMNS or name in SHORT or name.startswith("/") or is_literal(written):
        return True
    return FieldName.objects.filter(Q(name=name) | Q(name__startswith="/", name__endswith=f"/{name}"), lab=lab).exists()


def is_literal(written: str) -> bool:
    """Whether a name stands in quotation marks: then it is a whole name, and no pattern."""
    return written.startswith('"')


def metric_named(lab: Lab, name: str) -> str | None:
    """The metric that a name stands for, or None if runs of the lab have no such metric."""
    metric = SHORT.get(name, name)
    return metric if not metric.startswith("/") and FieldName.objects.filter(lab=lab, name=metric).exists() else None


def parameters_named(lab: Lab, name: str, *, literal: bool = False) -> list[int]:
    """Return the parameters that match a name: a full pointer (* matches any one part) or the end of one. Raises BadCondition.

    literal: the name is a full pointer, and no pattern.
    """
    names = FieldName.objects.filter(lab=lab)
    if literal:
        found = names.filter(name=name, name__startswith="/")
    else:
        pattern = "/".join("[^/]+" if part == "*" else re.escape(part) for part in name.split("/"))
        found = names.filter(name__regex=f"^{pattern}$" if name.startswith("/") else f"/{pattern}$")
    ids = list(found.values_list("pk", flat=True)[:NAMES_MAX])
    if not ids and name in SHORT:
        raise BadCondition(f"no run of the lab has measured {name} yet; runs have it when they end")
    if not ids:
        ends = {one.rsplit("/", 1)[-1] for one in names.values_list("name", flat=True)[:NAMES_MAX]}
        raise BadCondition(f"no run has a metric or parameter '{name}'; {suggestion(name, {*COLUMNS, *SHORT, *ends})}")
    return ids


def parameter_named(lab: Lab, name: str) -> int:
    """Return the parameter with this name, or else the only one that the name matches, as in `parameters_named`. Raises BadCondition."""
    whole = FieldName.objects.filter(lab=lab, name=name).values_list("pk", flat=True).first() if name.startswith("/") else None
    ids = [whole] if whole is not None else parameters_named(lab, name)
    if len(ids) > 1:
        some = FieldName.objects.filter(pk__in=ids).order_by("name").values_list("name", flat=True)[:3]
        raise BadCondition(f"'{name}' names {len(ids)} parameters; give the whole name of one, such as {', '.join(some)}")
    return ids[0]


def unit_named(name: str) -> str:
    """The unit of a field that conditions can use."""
    return COLUMNS[name] if name in COLUMNS else unit_of_field(SHORT.get(name, name))


def _in_state(found: QuerySet[Run], asked: Sequence[Value | Range], sign: str) -> QuerySet[Run]:
    if sign not in ("=", "!="):
        raise BadCondition(f"states have no order, so '{sign}' says nothing; use = or !=, as in state=failed")
    states = _texts("state", asked, sign)
    for state in states:
        if state not in RunState.values:
            raise BadCondition(f"'{state}' is no state of a run; {suggestion(state, RunState.values)}")
    return _compared(found, "state", sign, states)


def _tagged(found: QuerySet[Run], lab: Lab, asked: Sequence[Value | Range], sign: str) -> QuerySet[Run]:
    """Return the runs with one of the tags, or (`!=`) those with none of them."""
    names = _texts("tag", asked, sign)
    ids = dict(Tag.objects.filter(lab=lab, name__in=names).values_list("name", "pk"))
    for name in names:
        if name not in ids:
            known = Tag.objects.filter(lab=lab).values_list("name", flat=True)[:NAMES_MAX]
            raise BadCondition(f"no run has the tag '{name}'; {suggestion(name, known) or 'there are no tags yet'}")
    given = among(Tag.runs.through.objects.filter(tag__in=list(ids.values())))
    return found.filter(~given if sign == "!=" else given)


def _texts(name: str, asked: Sequence[Value | Range], sign: str) -> list[str]:
    if sign not in ("=", "!="):
        raise BadCondition(f"'{sign}' compares numbers, but {name} is a text; use = or !=, as in {name}=...")
    return [f"{one.low}..{one.high}" if isinstance(one, Range) else one.text for one in asked]


def _numbers(name: str, asked: Sequence[Value | Range]) -> list[Any]:
    """The numbers and ranges in the unit of the field. Raises BadCondition."""

    def number(text: str) -> float:
        try:
            return quantity(name, text, unit_named(name))
        except BadQuantity as bad:
            raise BadCondition(str(bad)) from None

    numbers = []
    for one in asked:
        if isinstance(one, Value):
            if one.quoted:
                raise BadCondition(f"{name} is a number; write it without quotation marks, as in {name}=10, not '{one.text}'")
            numbers.append(number(one.text))
            continue
        between = Between(number(one.low) if one.low else None, number(one.high) if one.high else None)
        if between.low is not None and between.high is not None and between.low > between.high:
            turned = f"{name}:{one.high}..{one.low}"
            raise BadCondition(f"the range {one.low}..{one.high} of {name} is empty; write the smaller end first: {turned}")
        numbers.append(between)
    return numbers


def _whole(name: str, number: float | Between) -> int | Between:
    """A number of a column of whole numbers, no larger than the database's. The ends of a range need not be whole."""
    if isinstance(number, Between):
        ends = [None if end is None else _in_column(of(end)) for end, of in ((number.low, math.ceil), (number.high, math.floor))]
        return Between(*ends)
    if number != int(number):
        raise BadCondition(f"{name} is a whole number, never {number:g}; compare it with one, as in {name}=3")
    return _in_column(int(number))


def _in_column(number: int) -> int:
    return max(-WHOLE_MAX, min(WHOLE_MAX, number))


def _compared(rows: QuerySet[Any], column: str, sign: str, values: Sequence[Any]) -> QuerySet[Any]:
    """Return the rows whose column has one of the values, or (`!=`) none of them, or compares with the only one."""
    condition = _condition(column, sign, values)
    return rows.exclude(condition) if sign == "!=" else rows.filter(condition)


def _condition(column: str, sign: str, values: Sequence[Any]) -> Q:
    """The column has one of the values (`=`, and `!=`, which the caller turns round), or compares with the only one."""
    if sign not in ("=", "!="):
        return Q(**{f"{column}__{LOOKUPS[sign]}": values[0]})
    single = [value for value in values if not isinstance(value, Between)]
    condition = Q()
    if single:
        condition |= Q(**{f"{column}__in": single} if len(single) > 1 else {column: single[0]})
    for value in values:
        if isinstance(value, Between):
            ends = {f"{column}__gte": value.low, f"{column}__lte": value.high}
            condition |= Q(**{lookup: end for lookup, end in ends.items() if end is not None})
    return condition

"""Conditions on runs in a search: `p99>500ms`, `seed=3`, `records_out>=1000`, `/workload/sources/*/rate/per_s=5000`, `parallelism=4`."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from engine.spec.base.problems import suggestion

from .models import FieldName, Lab, Run, RunParameter, RunState, RunSummary, Tag
from .quantities import BadQuantity, quantity, unit_of_field

SIGN = "<=|>=|!=|=|<|>"
CONDITION = re.compile(rf"(?P<name>[^<>=!\s]+)(?P<sign>{SIGN})(?P<value>[^<>=!\s].*)")
WHOLE = ("seed", "number")
COLUMNS = {"seed": "", "number": "", "took": "s", "state": ""}
"""Fields of the run itself, with their units."""
SHORT = {
    **{name: f"latency_ms.{name}" for name in ("p50", "p95", "p99", "max", "mean")},
    "in": "throughput_in_per_s",
    "out": "throughput_out_per_s",
    "throughput": "throughput_out_per_s",
}
LOOKUPS = {"=": "exact", "!=": "exact", "<": "lt", "<=": "lte", ">": "gt", ">=": "gte"}
LONGEST_S = 1e9
"""No run takes longer; durations are cut off there, because the database has a limit."""

NAMES_MAX = 2000
"""Maximum number of parameters that a pattern may match."""


class BadCondition(ValueError):
    """An invalid search condition; the message says why, and how to fix it."""


def holding(found: QuerySet[Run], lab: Lab, name: str, sign: str, value: str) -> QuerySet[Run]:
    """Return the runs for which the condition holds. Runs without the value never match, not even with `!=`. Raises BadCondition."""
    if name == "state":
        return in_state(found, value, sign)
    if name == "took":
        found = found.annotate(took_for=F("finished_at") - F("started_at"))
        return _compared(found, "took_for", sign, timedelta(seconds=min(_number(name, value), LONGEST_S)))
    if name in WHOLE:
        number = _number(name, value)
        if number != int(number):
            raise BadCondition(f"{name} is a whole number, never {value}; compare it with one, as in {name}=3")
        return _compared(found, name, sign, int(number))
    metric = SHORT.get(name, name)
    if "/" not in metric and FieldName.objects.filter(lab=lab, name=metric).exists():
        rows = RunSummary.objects.filter(run=OuterRef("pk"), metric=metric)
        return found.filter(Exists(_compared(rows, "value", sign, _number(name, value))))
    rows = RunParameter.objects.filter(run=OuterRef("pk"), name__in=parameters_named(lab, name))
    try:
        number = _number(name, value)
    except BadCondition as bad:
        if sign not in ("=", "!="):
            raise BadCondition(f"{bad}; text is compared with = or !=") from None
        return found.filter(Exists(_compared(rows.filter(number__isnull=True), "text", sign, value)))
    rows = rows.filter(number__isnull=False)
    return found.filter(Exists(_compared(rows, "number", sign, number)))


def _compared(rows: QuerySet[Any], column: str, sign: str, value: Any) -> QuerySet[Any]:
    condition = Q(**{f"{column}__{LOOKUPS[sign]}": value})
    return rows.exclude(condition) if sign == "!=" else rows.filter(condition)


def parameters_named(lab: Lab, name: str) -> list[int]:
    """Return the parameters that match a name: a full pointer (* matches any one part) or the end of one. Raises BadCondition."""
    pattern = "/".join("[^/]+" if part == "*" else re.escape(part) for part in name.split("/"))
    names = FieldName.objects.filter(lab=lab)
    found = names.filter(name__regex=f"^{pattern}$" if name.startswith("/") else f"/{pattern}$")
    ids = list(found.values_list("pk", flat=True)[:NAMES_MAX])
    if not ids:
        ends = {one.rsplit("/", 1)[-1] for one in names.values_list("name", flat=True)[:NAMES_MAX]}
        raise BadCondition(f"no run has a metric or parameter '{name}'; {suggestion(name, {*COLUMNS, *SHORT, *ends})}")
    return ids


def in_state(found: QuerySet[Run], value: str, sign: str = "=") -> QuerySet[Run]:
    """Return the runs in a state, or in any other. Raises BadCondition."""
    if sign not in ("=", "!="):
        raise BadCondition(f"states have no order, so '{sign}' says nothing; use = or !=, as in state=failed")
    if value not in RunState.values:
        raise BadCondition(f"'{value}' is no state of a run; {suggestion(value, RunState.values)}")
    return _compared(found, "state", sign, value)


def tagged(found: QuerySet[Run], lab: Lab, name: str) -> QuerySet[Run]:
    """Return the runs with a tag. Raises BadCondition."""
    if not Tag.objects.filter(lab=lab, name=name).exists():
        known = Tag.objects.filter(lab=lab).values_list("name", flat=True)[:NAMES_MAX]
        raise BadCondition(f"no run has the tag '{name}'; {suggestion(name, known) or 'there are no tags yet'}")
    return found.filter(tags__in=Tag.objects.filter(lab=lab, name=name))


def unit_named(name: str) -> str:
    """The unit of a field that conditions can use."""
    return COLUMNS[name] if name in COLUMNS else unit_of_field(SHORT.get(name, name))


def _number(name: str, value: str) -> float:
    try:
        return quantity(name, value, unit_named(name))
    except BadQuantity as bad:
        raise BadCondition(str(bad)) from None

"""Run search: filters, words, conditions and orders. The database does all the work, without reading documents or time series."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal, get_args

from django.db import connection, transaction
from django.db.models import Count, Exists, F, FilteredRelation, OuterRef, Q, QuerySet, Window
from ninja import Schema
from pydantic import Field, StringConstraints

from .conditions import CONDITION, among, holding, lacking, names_field
from .models import Lab, Run, RunState, RunSummary, Tag, Trial
from .models.work import ACTIVE
from .search_values import BadCondition, unquoted
from .search_words import colon_of, refuse_bad_prefix, refuse_half_conditions, words_of
from .took import Took
from .verdicts import UNJUDGED

Order = Literal["number", "state", "experiment", "seed", "p50", "p99", "out", "took"]
SORTS = [f"{sign}{order}" for order in get_args(Order) for sign in ("", "-")]
COLUMNS: dict[str, Any] = {"number": F("number"), "state": F("state"), "experiment": F("name"), "seed": F("seed")}
DEEP = 1000
"""Beyond this offset in a list ordered by a metric, sorting all runs is faster than walking the index."""

ENTRIES_TOGETHER = 500
"""Number of an index's entries that SQLite is asked for at a time."""

PARTS_MAX = 10
"""After so many parts of an index without enough runs of the filter, sorting those there are is faster than to go on."""

METRICS = {"p50": "latency_ms.p50", "p99": "latency_ms.p99", "out": "throughput_out_per_s"}

OUTCOMES = {"hold": "holds", "holds": "holds", "fail": "fails", "fails": "fails", "failed": "fails", "unjudged": UNJUDGED}
"""Outcomes of assertions, by the words that people search them with."""

ShortText = Annotated[str, StringConstraints(max_length=200, pattern=r"^[^\x00]*$")]
SearchText = Annotated[str, StringConstraints(max_length=4000, pattern=r"^[^\x00]*$")]
"""A group's search has the conditions of two parameters, each with a name of up to 300 characters and a text of up to 200."""


class Which(Schema):
    """Which runs to find.

    study: find the runs this study uses, including reused ones. Without it, runs created by studies are left out unless `of_studies`.
    """

    state: RunState | None = None
    experiment: uuid.UUID | None = None
    study: uuid.UUID | None = None
    of_studies: bool = False
    tag: ShortText = ""
    search: SearchText = ""


class Filter(Which):
    """Which runs to list, and in which order; a leading minus reverses it. Runs without the value come last."""

    sort: Annotated[str, StringConstraints(pattern=f"^({'|'.join(SORTS)})$")] = "-number"
    limit: int = Field(50, ge=1, le=200)
    offset: int = Field(0, ge=0, le=10**9)


def find(lab: Lab, filter: Which) -> QuerySet[Run]:
    """Return the runs that match the filter, unordered. Raises BadCondition."""
    found = Run.objects.filter(lab=lab, deleted_at__isnull=True)
    if filter.state:
        found = found.filter(state=filter.state)
    if filter.experiment:
        found = found.filter(experiment=filter.experiment)
    if filter.study:
        found = found.filter(pk__in=Trial.objects.filter(study=filter.study).values("run"))
    elif not filter.of_studies:
        found = found.filter(study__isnull=True)
    if filter.tag:
        found = found.filter(among(Tag.runs.through.objects.filter(tag__lab=lab, tag__name=filter.tag)))
    for word in words_of(filter.search):
        found = _with_word(found, lab, word)
    return found


def _with_word(found: QuerySet[Run], lab: Lab, word: str) -> QuerySet[Run]:
    refuse_half_conditions(word)
    if condition := CONDITION.fullmatch(word):
        return holding(found, lab, *condition.groups())
    if read := colon_of(word):
        prefix, rest = read
        is_field = names_field(lab, prefix)
        refuse_bad_prefix(word, prefix, rest, is_field=is_field)
        match prefix:
            case "note":
                return found.filter(notes__icontains=unquoted(rest))
            case "assertions":
                return found.filter(judged=_outcome(rest)).exclude(state__in=ACTIVE)
            case "no" | "has":
                return lacking(found, lab, rest, lacks=prefix == "no")
        if is_field:
            return holding(found, lab, prefix, "=", rest)
    return found.filter(matches(unquoted(word)))


def page_of(found: QuerySet[Run], filter: Filter) -> tuple[list[Run], int]:
    """Return the filter's page of these runs, in its order, and their total number. A filter that may match few runs or most of them takes
    one pass over all runs: walking an index until the page is full could take many times longer."""
    by_metric = filter.sort.removeprefix("-") in METRICS
    ids: list[uuid.UUID] | None = None
    if not (filter.search or filter.tag or filter.study or (by_metric and filter.offset >= DEEP)):
        ids = _walked_page(found, filter) if by_metric else _page(found.order_by(*_order(filter)), filter)
    if ids is None:
        with joined_by_hash():
            ids, count = _sorted_page(found, filter)
    else:
        count = found.count()
    runs = Run.objects.defer("document").prefetch_related("tags").in_bulk(ids)
    return [runs[id] for id in ids if id in runs], count


def _page(ordered: QuerySet[Run], filter: Filter, after: int = 0) -> list[uuid.UUID]:
    """Return the ids of the page. after: number of other runs that precede these."""
    first = filter.offset - after
    return list(ordered.values_list("pk", flat=True)[max(0, first) : max(0, first + filter.limit)])


def _order(filter: Filter, value: str = "") -> tuple[Any, str]:
    """value: path of the metric that the filter sorts by."""
    name, down = filter.sort.removeprefix("-"), filter.sort.startswith("-")
    if not value and name != "took":  # never null: with a nulls clause, the order would no longer match the index
        return COLUMNS[name].desc() if down else COLUMNS[name].asc(), "-number"
    order = F(value) if value else Took()
    return order.desc(nulls_last=True) if down else order.asc(nulls_last=True), "-number"


def _walked_page(found: QuerySet[Run], filter: Filter) -> list[uuid.UUID] | None:
    """Read one page in the order of the metric's index, without sorting all runs. Runs without the metric come last. None if too much of
    the index was read for too few runs."""
    name = filter.sort.removeprefix("-")
    down = filter.sort.startswith("-")
    having = found.filter(metrics__metric=METRICS[name])
    if connection.vendor == "sqlite":
        walked = _walked_in_parts(found, METRICS[name], down, filter)
        if walked is None:
            return None
        ids = walked
    else:
        ids = _page(having.order_by("-metrics__value" if down else "metrics__value", "-number"), filter)
    if len(ids) < filter.limit:
        lacking = found.exclude(Exists(RunSummary.objects.filter(run=OuterRef("pk"), metric=METRICS[name])))
        ids += _page(lacking.order_by("-number"), filter, after=having.count())
    return ids


def _walked_in_parts(found: QuerySet[Run], metric: str, down: bool, filter: Filter) -> list[uuid.UUID] | None:
    """Read the page from the metric's index, some entries at a time. SQLite's own plan would read every run and sort them all. None if
    `PARTS_MAX` parts hold too few of these runs."""
    entries = RunSummary.objects.filter(metric=metric).order_by("-value" if down else "value").values_list("run", "value")
    ids: list[uuid.UUID] = []
    needed, parts = filter.offset + filter.limit, 0
    while len(ids) < needed and (part := list(entries[:ENTRIES_TOGETHER])):
        if (parts := parts + 1) > PARTS_MAX:
            return None
        last = part[-1][1]  # runs of the same value are listed by their numbers, and may be more than one part
        values = {run: value for run, value in part if value != last}
        numbers = found.filter(pk__in=values).values_list("pk", "number")
        listed = sorted((-values[pk] if down else values[pk], -number, pk) for pk, number in numbers)
        ids += [pk for _, _, pk in listed]
        alike = found.filter(metrics__metric=metric, metrics__value=last).order_by("-number").values_list("pk", flat=True)
        ids += alike[: max(0, needed - len(ids))]
        entries = entries.filter(value__lt=last) if down else entries.filter(value__gt=last)
    return ids[filter.offset : needed]


def _sorted_page(found: QuerySet[Run], filter: Filter) -> tuple[list[uuid.UUID], int]:
    """Sort and count all runs in one pass."""
    if (metric := METRICS.get(filter.sort.removeprefix("-"))) is not None:
        found = found.alias(sought=FilteredRelation("metrics", condition=Q(metrics__metric=metric)))
    ordered = found.order_by(*_order(filter, "sought__value" if metric else "")).annotate(of=Window(Count("*")))
    rows = list(ordered.values_list("pk", "of")[filter.offset : filter.offset + filter.limit])
    return [id for id, _ in rows], rows[0][1] if rows else found.count() if filter.offset else 0


@contextmanager
def joined_by_hash() -> Iterator[None]:
    """Use hash joins. PostgreSQL has statistics over all metrics (or parameters) together, not per metric, so it estimates most conditions
    as far rarer than they are and would look up runs one by one, for seconds. With a hash join, each condition costs one pass over its part
    of an index, however many runs match."""
    if connection.vendor != "postgresql":
        yield
        return
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")
        yield


def _outcome(word: str) -> str:
    if word not in OUTCOMES:
        raise BadCondition(f"'{word}' is no outcome of assertions; write assertions:holds, assertions:fails or assertions:unjudged")
    return OUTCOMES[word]


def matches(word: str) -> Q:
    """Match a search word: part of the name, the run number, or a prefix of the hash or digest."""
    query = Q(name__icontains=word) | Q(hash__startswith=word.lower()) | Q(digest__startswith=word.lower())
    number = word.removeprefix("#")
    return query | Q(number=int(number)) if number.isascii() and number.isdecimal() and len(number) < 10 else query

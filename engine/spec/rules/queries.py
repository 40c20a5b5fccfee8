"""Checks of named queries: their names, operators, copies and starts."""

from __future__ import annotations

from collections.abc import Iterator

from ..base.problems import Problem, pointer, suggestion
from ..experiment.queries import NamedQuery, numbered
from ..experiment.scaling.base import Scaling
from .draft import Draft

AT = ("query", "queries")


def query_problems(draft: Draft) -> Iterator[Problem]:
    yield from _names(draft)
    yield from _operators(draft)
    yield from _edges(draft)
    yield from _starts(draft)
    yield from _ids_of_copies(draft)
    yield from _plans(draft)


def _query_by_operator(draft: Draft) -> dict[str, NamedQuery]:
    """The query of each operator, by id; of several, the first."""
    found: dict[str, NamedQuery] = {}
    for query in draft.queries.values():
        for id in query.operators:
            found.setdefault(id, query)
    return found


def _names(draft: Draft) -> Iterator[Problem]:
    owners: dict[str, int] = {}
    for n, query in draft.queries.items():
        for name in dict.fromkeys([query.name, *(query.named(k) for k in range(query.copy_count))]):
            first = owners.setdefault(name, n)
            if first != n:
                message = f"the name '{name}' is already used by query {first + 1} of the list or one of its copies; choose another"
                yield Problem(pointer(*AT, n, "name"), "duplicate_name", message, query.name)
                break


def _operators(draft: Draft) -> Iterator[Problem]:
    owners: dict[str, tuple[int, int]] = {}
    for n, query in draft.queries.items():
        for k, id in enumerate(query.operators):
            place = pointer(*AT, n, "operators", k)
            if id not in draft.ids:
                message = f"query '{query.name}' names the operator '{id}', which does not exist; name an operator's id"
                yield Problem(place, "unknown_operator", message, id, suggestion(id, draft.ids))
                continue
            first, _ = owners.setdefault(id, (n, k))
            if owners[id] != (n, k):
                whose = "twice" if first == n else f"by '{draft.queries[first].name}' and by '{query.name}'"
                message = f"operator '{id}' is named {whose}; it belongs to one query, so remove one of the two"
                yield Problem(place, "duplicate_operator", message, id)


def _edges(draft: Draft) -> Iterator[Problem]:
    query_by_id = _query_by_operator(draft)
    for wire in draft.wires:
        source, target = query_by_id.get(wire.source), query_by_id.get(wire.target)
        if source is not None and target is not None and source is not target:
            message = (
                f"the edge from '{wire.source}' to '{wire.target}' joins query '{source.name}' with query '{target.name}'; put both "
                "operators into one query, or one of them into none, which shares it among queries"
            )
            yield Problem(pointer("query", "edges", wire.index), "joins_queries", message, f"{wire.source} -> {wire.target}")


def _starts(draft: Draft) -> Iterator[Problem]:
    if draft.workload is None:
        return
    for n, query in draft.queries.items():
        if query.starts_by_ns >= draft.workload.horizon_ns:
            field = "start_within_s" if query.start_within_s else "start_s"
            message = f"{field} is {getattr(query, field):g}, but the horizon is {draft.workload.horizon_s:g} s"
            after = f" and the start {query.start_s:g} s" if query.start_within_s and query.start_s else ""
            message += f"{after}, so a query might never start; all must start before the horizon"
            yield Problem(pointer(*AT, n, field), "outside_run", message, getattr(query, field))


def _ids_of_copies(draft: Draft) -> Iterator[Problem]:
    for n, query in draft.queries.items():
        if query.copies is None:
            continue
        for id in query.operators:
            taken = next((name for k in range(query.copies) if (name := numbered(id, k)) in draft.ids), None)
            if taken is not None:
                message = f"copies is {query.copies}, but the copy '{taken}' of operator '{id}' has the id of another operator; rename one"
                yield Problem(pointer(*AT, n, "copies"), "duplicate_id", message, query.copies)
                break


def _plans(draft: Draft) -> Iterator[Problem]:
    """A plan rests on the load of one query from the start of the run."""
    scaling = draft.scaling
    if not isinstance(scaling, Scaling) or not scaling.plans_ahead:
        return
    for n, query in draft.queries.items():
        for field in ("copies", "start_s", "start_within_s"):
            if value := getattr(query, field):
                message = f"{field} is {value:g}, but scaling is {scaling.plan_name}, which plans for one query from the start of the run"
                yield Problem(pointer(*AT, n, field), "not_planned", f"{message}; omit it, or choose another scaling", value)

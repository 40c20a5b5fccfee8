"""Bad parameters of the operators: each gets a problem at its place that names field and value and says what would be right."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from engine.spec import load, validate

from .documents import CONTEXT, REMOVED, changed

Document = dict[str, Any]
PARAMS = "/query/operators/1/params"


def bids_through(kind: str, params: Document, parallelism: int = 1, source_port: str = "out") -> Document:
    """bids -> an operator of this kind -> sink."""
    partitioning = {"kind": "hash", "key": params["key"]} if params.get("key") else {"kind": "rebalance"}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "bids", "kind": "source"},
                {"id": "middle", "kind": kind, "parallelism": parallelism, "params": params},
                {"id": "sink", "kind": "sink"},
            ],
            "edges": [
                {"source": "bids", "target": "middle", "partitioning": partitioning},
                {"source": "middle", "source_port": source_port, "target": "sink", "partitioning": {"kind": "rebalance"}},
            ],
        },
        "cluster": {"hosts": [{"name": "w"}]},
        "workload": {
            "horizon_s": 1,
            "sources": {
                "bids": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1000}, "watermarks": {"kind": "bounded"}}
            },
        },
    }


def split() -> Document:
    return bids_through("split", {"routes": [{"predicate": "price > 100"}, {"predicate": "bidder == 1"}]}, source_port="out1")


def project() -> Document:
    return bids_through("project", {"fields": [{"field": "auction"}, {"field": "price", "name": "cents"}]})


def union() -> Document:
    return bids_through("union", {})


COUNTED = {"name": "n"}


def panes() -> Document:
    window = {"kind": "sliding", "size_s": 2, "slide_s": 1}
    return bids_through("aggregate", {"key": "auction", "window": window, "emit": "on_close", "lateness_ms": 5}, parallelism=2)


def marked() -> Document:
    return bids_through("aggregate", {"window": {"kind": "marked", "field": "auction"}, "emit": "on_close"})


def sessions() -> Document:
    return bids_through("session_aggregate", {"key": "auction", "gap_s": 2, "aggregates": [COUNTED]}, parallelism=2)


def windows_of_records() -> Document:
    return bids_through("count_window_aggregate", {"key": "auction", "size": 10, "aggregates": [COUNTED]}, parallelism=2)


# document, changes, pointer, code, what the message or the hint must hold
CASES = {
    "split by something that is no condition": (
        split,
        {f"{PARAMS}/routes/1/predicate": "bidder + 1"},
        f"{PARAMS}/routes/1/predicate",
        "type_mismatch",
        ["predicate", "'bidder + 1'", "int", "condition"],
    ),
    "split by an unknown field": (
        split,
        {f"{PARAMS}/routes/0/predicate": "prise > 3"},
        f"{PARAMS}/routes/0/predicate",
        "unknown_field",
        ["'prise'", "did you mean 'price'"],
    ),
    "split without routes": (split, {f"{PARAMS}/routes": []}, f"{PARAMS}/routes", "too_short", ["routes", "0", "at least 1"]),
    "split with too many routes": (
        split,
        {f"{PARAMS}/routes": [{"predicate": "True"}] * 5},
        f"{PARAMS}/routes",
        "too_long",
        ["routes", "5", "at most 4"],
    ),
    "edge from a route that is not there": (
        split,
        {"/query/edges/1/source_port": "out3"},
        "/query/edges/1/source_port",
        "unused_port",
        ["source_port", "'out3'", "'middle'", "out1 or out2 or rest"],
    ),
    "edge from a port that no split has": (
        split,
        {"/query/edges/1/source_port": "out9"},
        "/query/edges/1/source_port",
        "unknown_port",
        ["source_port", "'out9'", "did you mean 'out"],
    ),
    "unknown mode of a split": (
        split,
        {f"{PARAMS}/mode": "all"},
        f"{PARAMS}/mode",
        "unknown_value",
        ["mode", "'all'", "'first' or 'copy'"],
    ),
    "project an unknown field": (
        project,
        {f"{PARAMS}/fields/0/field": "auktion"},
        f"{PARAMS}/fields/0/field",
        "unknown_field",
        ["'auktion'", "did you mean 'auction'"],
    ),
    "project a field twice": (
        project,
        {f"{PARAMS}/fields/1": {"field": "auction"}},
        f"{PARAMS}/fields/1/field",
        "duplicate_name",
        ["'auction'", "twice"],
    ),
    "project to a taken name": (
        project,
        {f"{PARAMS}/fields/1/name": "auction"},
        f"{PARAMS}/fields/1/name",
        "duplicate_name",
        ["'auction'", "twice"],
    ),
    "project to a bad name": (
        project,
        {f"{PARAMS}/fields/1/name": "the price"},
        f"{PARAMS}/fields/1/name",
        "wrong_form",
        ["name", "'the price'", "must match"],
    ),
    "window until an unknown field": (
        panes,
        {f"{PARAMS}/window": {"kind": "until", "field": "tyme"}},
        f"{PARAMS}/window/field",
        "unknown_field",
        ["'tyme'", "did you mean 'time'"],
    ),
    "unknown aggregate": (
        panes,
        {f"{PARAMS}/aggregates": [{"name": "m", "function": "median", "field": "price"}]},
        f"{PARAMS}/aggregates/0/function",
        "unknown_value",
        ["function", "'median'", "'count_distinct'"],
    ),
    "misspelt aggregate": (
        sessions,
        {f"{PARAMS}/aggregates": [{"name": "m", "function": "count_distinkt", "field": "price"}]},
        f"{PARAMS}/aggregates/0/function",
        "unknown_value",
        ["did you mean 'count_distinct'"],
    ),
    "aggregate of an unknown field": (
        sessions,
        {f"{PARAMS}/aggregates": [{"name": "m", "function": "max", "field": "prise"}]},
        f"{PARAMS}/aggregates/0/field",
        "unknown_field",
        ["'prise'", "did you mean 'price'"],
    ),
    "aggregate without a field": (
        windows_of_records,
        {f"{PARAMS}/aggregates": [{"name": "m", "function": "count_distinct"}]},
        f"{PARAMS}/aggregates/0/field",
        "missing",
        ["count_distinct needs a field", "price"],
    ),
    "sum of times": (
        panes,
        {f"{PARAMS}/aggregates": [COUNTED, {"name": "m", "function": "sum", "field": "time"}]},
        f"{PARAMS}/aggregates/1/field",
        "type_mismatch",
        ["sum of 'time'", "timestamp", "int or float"],
    ),
    "two aggregates of one name": (
        sessions,
        {f"{PARAMS}/aggregates": [COUNTED, COUNTED]},
        f"{PARAMS}/aggregates/1/name",
        "duplicate_name",
        ["'n'", "choose another"],
    ),
    "aggregate with the name of a bound": (
        sessions,
        {f"{PARAMS}/aggregates": [{"name": "window_end"}]},
        f"{PARAMS}/aggregates/0/name",
        "duplicate_name",
        ["'window_end'", "choose another"],
    ),
    "unknown key of sessions": (
        sessions,
        {f"{PARAMS}/key": "auktion", "/query/operators/1/parallelism": 1},
        f"{PARAMS}/key",
        "unknown_field",
        ["key", "'auktion'", "did you mean 'auction'"],
    ),
    "window shorter than a nanosecond": (
        panes,
        {f"{PARAMS}/window": {"kind": "tumbling", "size_s": 1e-10}},
        f"{PARAMS}/window/size_s",
        "out_of_range",
        ["size_s", "1e-10", "at least 1e-9"],
    ),
    "slide shorter than a nanosecond": (
        panes,
        {f"{PARAMS}/window": {"kind": "sliding", "size_s": 1e-9, "slide_s": 4e-10}},
        f"{PARAMS}/window/slide_s",
        "out_of_range",
        ["slide_s", "4e-10", "at least 1e-9"],
    ),
    "slide longer than the window": (
        panes,
        {f"{PARAMS}/window/slide_s": 3},
        f"{PARAMS}/window/slide_s",
        "slide_too_long",
        ["slide_s", "3", "records would be lost", "at most 2"],
    ),
    "too many panes": (
        panes,
        {f"{PARAMS}/window/slide_s": 0.001},
        f"{PARAMS}/window/slide_s",
        "too_many_panes",
        ["2000", "at most 1000"],
    ),
    "lateness by the processing clock": (
        panes,
        {f"{PARAMS}/window/clock": "processing"},
        f"{PARAMS}/lateness_ms",
        "no_lateness",
        ["lateness_ms", "5", "processing", "set it to 0"],
    ),
    "lateness without a window": (
        panes,
        {f"{PARAMS}/window": {"kind": "none"}, f"{PARAMS}/emit": "on_update"},
        f"{PARAMS}/lateness_ms",
        "no_lateness",
        ["lateness_ms", "5", "none", "set it to 0"],
    ),
    "negative lateness": (
        panes,
        {f"{PARAMS}/lateness_ms": -1},
        f"{PARAMS}/lateness_ms",
        "out_of_range",
        ["lateness_ms", "-1", "at least 0"],
    ),
    "a pane for ever that shall close": (
        panes,
        {f"{PARAMS}/window": {"kind": "none"}, f"{PARAMS}/lateness_ms": 0},
        f"{PARAMS}/emit",
        "invalid",
        ["emit", "on_close", "never closes", "on_update"],
    ),
    "a row after no records": (panes, {f"{PARAMS}/every": 0}, f"{PARAMS}/every", "out_of_range", ["every", "0", "at least 1"]),
    "unknown evaluation": (
        panes,
        {f"{PARAMS}/evaluation": "lazy"},
        f"{PARAMS}/evaluation",
        "unknown_value",
        ["evaluation", "'lazy'", "'at_firing'"],
    ),
    "late port of windows by the processing clock": (
        panes,
        {f"{PARAMS}/window/clock": "processing", f"{PARAMS}/lateness_ms": 0, "/query/edges/1/source_port": "late"},
        "/query/edges/1/source_port",
        "unused_port",
        ["source_port", "'late'", "'middle'", "use out"],
    ),
    "gap of nothing": (sessions, {f"{PARAMS}/gap_s": 0}, f"{PARAMS}/gap_s", "out_of_range", ["gap_s", "0", "above 0"]),
    "gap shorter than a nanosecond": (
        sessions,
        {f"{PARAMS}/gap_s": 1e-10},
        f"{PARAMS}/gap_s",
        "out_of_range",
        ["gap_s", "1e-10", "at least 1e-9"],
    ),
    "sessions without a gap": (sessions, {f"{PARAMS}/gap_s": REMOVED}, f"{PARAMS}/gap_s", "missing", ["gap_s", "add it"]),
    "lateness of sessions by the processing clock": (
        sessions,
        {f"{PARAMS}/clock": "processing", f"{PARAMS}/lateness_ms": 3},
        f"{PARAMS}/lateness_ms",
        "no_lateness",
        ["lateness_ms", "3", "processing"],
    ),
    "sessions of all records in parallel": (
        sessions,
        {f"{PARAMS}/key": None},
        "/query/operators/1/parallelism",
        "out_of_range",
        ["parallelism", "2", "at most 1"],
    ),
    "windows of all records in parallel": (
        windows_of_records,
        {f"{PARAMS}/key": None},
        "/query/operators/1/parallelism",
        "out_of_range",
        ["parallelism", "2", "at most 1"],
    ),
    "windows of no records": (windows_of_records, {f"{PARAMS}/size": 0}, f"{PARAMS}/size", "out_of_range", ["size", "0", "at least 1"]),
    "half a record": (windows_of_records, {f"{PARAMS}/size": 1.5}, f"{PARAMS}/size", "wrong_type", ["size", "1.5", "whole number"]),
    "slide of more records than the window": (
        windows_of_records,
        {f"{PARAMS}/slide": 11},
        f"{PARAMS}/slide",
        "slide_too_long",
        ["slide", "11", "records would be lost", "at most 10"],
    ),
    "a window that no condition ends": (
        marked,
        {},
        f"{PARAMS}/window/field",
        "type_mismatch",
        ["window.field", "'auction'", "int", "bool"],
    ),
    "a window that an unknown field ends": (
        marked,
        {f"{PARAMS}/window/field": "prise"},
        f"{PARAMS}/window/field",
        "unknown_field",
        ["window.field", "'prise'", "'price'"],
    ),
    "all records counted by two instances": (
        windows_of_records,
        {f"{PARAMS}/counts": "all"},
        PARAMS.replace("params", "parallelism"),
        "out_of_range",
        ["parallelism", "2", "at most 1"],
    ),
    "something else that is counted": (
        windows_of_records,
        {f"{PARAMS}/counts": "any"},
        f"{PARAMS}/counts",
        "unknown_value",
        ["counts", "any", "each_key"],
    ),
    "too many windows of a record": (
        windows_of_records,
        {f"{PARAMS}/size": 5000, f"{PARAMS}/slide": 1},
        f"{PARAMS}/slide",
        "too_many_panes",
        ["5000", "at most 1000"],
    ),
    "late port of windows of records": (
        windows_of_records,
        {"/query/edges/1/source_port": "late"},
        "/query/edges/1/source_port",
        "unknown_port",
        ["source_port", "'late'", "out"],
    ),
    "keyed sessions behind rebalance": (
        sessions,
        {"/query/edges/0/partitioning": {"kind": "rebalance"}},
        "/query/edges/0/partitioning/kind",
        "wrong_key",
        ["rebalance", "'middle'", "hash by 'auction'"],
    ),
    "union of different streams": (
        union,
        {
            "/query/operators/-": {"id": "people", "kind": "source"},
            "/query/edges/-": {"source": "people", "target": "middle", "partitioning": {"kind": "rebalance"}},
            "/workload/sources/people": {"stream": {"kind": "nexmark_person"}, "rate": {"kind": "constant", "per_s": 1}},
        },
        "/query/edges/2",
        "type_mismatch",
        ["'in'", "'middle'", "'people'", "the same fields"],
    ),
}


@pytest.mark.parametrize("document", [split, project, union, panes, sessions, windows_of_records])
def test_what_the_cases_start_from_is_sound(document):
    assert validate(document(), CONTEXT) == []


@pytest.mark.parametrize(("document", "changes", "place", "code", "words"), CASES.values(), ids=CASES.keys())
def test_a_bad_operator_gets_one_problem_where_it_is(document, changes, place, code, words):
    problems = validate(changed(document(), changes), CONTEXT)
    assert [(problem.pointer, problem.code) for problem in problems] == [(place, code)]
    for word in words:
        assert word in f"{problems[0].message} {problems[0].hint}", problems[0]


def test_several_edges_may_lead_to_one_port():
    """Of one schema, from different operators or different ports of one."""
    document = changed(
        split(),
        {
            "/query/operators/-": {"id": "more", "kind": "source"},
            "/query/edges/-": {"source": "middle", "source_port": "rest", "target": "sink", "partitioning": {"kind": "rebalance"}},
            "/workload/sources/more": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1}},
        },
    )
    document["query"]["edges"].append({"source": "more", "target": "middle", "partitioning": {"kind": "rebalance"}})
    assert validate(document, CONTEXT) == []
    into = Counter((edge.target, edge.target_port) for edge in load(document, CONTEXT).query.edges)
    assert into == {("middle", "in"): 2, ("sink", "in"): 2}

"""Bad parameters of the operators: each gets a problem at its place that names field and value and says what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec import load, validate

from .documents import CONTEXT, changed

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
            "sources": {"bids": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1000}}},
        },
    }


def split() -> Document:
    return bids_through("split", {"routes": [{"predicate": "price > 100"}, {"predicate": "bidder == 1"}]}, source_port="out1")


def project() -> Document:
    return bids_through("project", {"fields": [{"field": "auction"}, {"field": "price", "name": "cents"}]})


def union() -> Document:
    return bids_through("union", {})


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


@pytest.mark.parametrize("document", [split, project, union])
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
    load(document, CONTEXT)

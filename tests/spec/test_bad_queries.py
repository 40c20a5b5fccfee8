"""Named queries that cannot be: where, what, and what would be right."""

from __future__ import annotations

import itertools

import pytest

from engine.spec import Budgets, Context, load, validate

from .documents import CONTEXT, assert_one_problem, changed, errors_in, q3

QUERIES = "/query/queries"
ALL = ["persons", "auctions", "filter", "join", "sink"]


def named(*queries, **others):
    return {QUERIES: [{"name": "q3", "operators": ALL, **query} for query in queries], **others}


ORACLE = {"kind": "oracle", "per_input": dict.fromkeys(ALL, 1.0)}

# changes to Q3 over 30 s, pointer, code, what the message or the hint must hold
CASES = {
    "no name": (named({"name": ""}), f"{QUERIES}/0/name", "wrong_form", ["''"]),
    "a name in capitals": (named({"name": "Q3"}), f"{QUERIES}/0/name", "wrong_form", ["'Q3'"]),
    "two of one name": (named({"operators": ALL[:1]}, {"operators": ALL[1:]}), f"{QUERIES}/1/name", "duplicate_name", ["'q3'", "query 1"]),
    "a name that a copy has": (
        named({"operators": ["persons", "filter", "join", "sink"], "copies": 2}, {"name": "q3-2", "operators": ["auctions"]}),
        f"{QUERIES}/1/name",
        "duplicate_name",
        ["'q3-2'", "one of its copies"],
    ),
    "no operators": (named({"operators": []}), f"{QUERIES}/0/operators", "too_short", ["at least 1"]),
    "an unknown operator": (named({"operators": ["joint"]}), f"{QUERIES}/0/operators/0", "unknown_operator", ["'joint'", "'join'"]),
    "an operator twice": (named({"operators": ["join", "join"]}), f"{QUERIES}/0/operators/1", "duplicate_operator", ["'join'", "twice"]),
    "an operator in two queries": (
        named({"operators": ALL}, {"name": "other", "operators": ["sink"]}),
        f"{QUERIES}/1/operators/0",
        "duplicate_operator",
        ["'sink'", "'q3'", "'other'", "one query"],
    ),
    "an edge between two queries": (
        named({"operators": ["persons"]}, {"name": "rest", "operators": ["filter"]}),
        "/query/edges/0",
        "joins_queries",
        ["'persons'", "'filter'", "'q3'", "'rest'"],
    ),
    "no copies": (named({"copies": 0}), f"{QUERIES}/0/copies", "out_of_range", ["copies", "0", "at least 1"]),
    "half a copy": (named({"copies": 1.5}), f"{QUERIES}/0/copies", "wrong_type", ["1.5", "whole number"]),
    "a copy with the id of another operator": (
        {
            "/query/operators/0/id": "join-2",
            "/query/edges/0/source": "join-2",
            "/workload/sources/join-2": q3()["workload"]["sources"]["persons"],
        }
        | named({"operators": ["join", "sink"], "copies": 2}),
        f"{QUERIES}/0/copies",
        "duplicate_id",
        ["'join-2'", "'join'", "rename"],
    ),
    "a start after the horizon": (named({"start_s": 30}), f"{QUERIES}/0/start_s", "outside_run", ["30", "before the horizon"]),
    "a start that may come after the horizon": (
        named({"start_s": 20, "start_within_s": 10}),
        f"{QUERIES}/0/start_within_s",
        "outside_run",
        ["10", "20 s", "30 s"],
    ),
    "a start before the run": (named({"start_s": -1}), f"{QUERIES}/0/start_s", "out_of_range", ["-1", "at least 0"]),
    "a plan for copies": (named({"copies": 2}, **{"/policies/scaling": ORACLE}), f"{QUERIES}/0/copies", "not_planned", ["2", "oracle"]),
}


@pytest.mark.parametrize(("changes", "place", "code", "held"), CASES.values(), ids=CASES)
def test_queries_that_cannot_be(changes, place, code, held) -> None:
    document = changed(q3(), changes)
    if "join-2" in document["workload"]["sources"]:
        del document["workload"]["sources"]["persons"]
    assert_one_problem(document, place, code, held)


def test_copies_beyond_the_budget_are_counted() -> None:
    document = changed(q3(), named({"copies": 1000}))
    found = errors_in(document)
    assert {(problem.pointer, problem.code) for problem in found} == {("/workload/horizon_s", "budget")}
    assert "60,000,000 records" in found[0].message
    more = validate(document, Context(budgets=Budgets(instances_max=19_999, records_max=10**9)))
    assert [problem.message.split(",")[0] for problem in more] == ["operators has 20"]
    assert "copies counted" in more[0].message
    channels = validate(document, Context(budgets=Budgets(channels_max=39_999, records_max=10**9)))
    assert "40,000 channels in total, copies counted" in channels[0].message


def test_dedicated_cores_are_counted_over_all_copies() -> None:
    document = changed(q3(), named({"copies": 3}, **{"/cluster/hosts/0/processor": {"kind": "dedicated"}, "/cluster/hosts/0/cores": 14}))
    (problem,) = errors_in(document)
    assert problem.pointer == "/cluster/hosts/0/cores"
    assert "15 instances" in problem.message


def test_eighty_copies_of_eighteen_operators_are_valid() -> None:
    ids = [f"m{n}" for n in range(16)]
    chain = ["in", *ids, "out"]
    document = {
        "format": 1,
        "query": {
            "operators": [{"id": "in", "kind": "source"}, *({"id": id, "kind": "union"} for id in ids), {"id": "out", "kind": "sink"}],
            "edges": [{"source": a, "target": b} for a, b in itertools.pairwise(chain)],
            "queries": [{"name": "linear-road", "operators": chain, "copies": 80, "start_within_s": 20}],
        },
        "cluster": {"hosts": [{"name": "w", "cores": 24, "processor": {"kind": "pool"}}]},
        "workload": {"horizon_s": 30, "sources": {"in": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1000}}}},
    }
    assert load(document, CONTEXT).query.queries[0].copy_count == 80

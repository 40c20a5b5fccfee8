"""Sound documents for tests to break, and small tools to break them."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import pytest

from engine.spec import Context, DatasetInfo, InvalidExperiment, Problem, RecordSchema, load, validate

REMOVED = object()

TRIPS = DatasetInfo(
    schema=RecordSchema.of(pickup="timestamp", distance="float", passengers="int", zone="string", epoch="int"),
    timestamps=("pickup", "epoch"),
    rows=50_000,
    firsts_ns={"pickup": 1_357_000_000 * 10**9, "epoch": 1_357_000_000 * 10**9},
)
CONTEXT = Context(datasets={"trips": TRIPS}.get)


def q3() -> dict[str, Any]:
    """NexMark Q3 on four workers: the example of docs/experiment-document.md."""
    return {
        "format": 1,
        "name": "Q3",
        "query": {
            "operators": [
                {"id": "persons", "kind": "source", "parallelism": 4},
                {"id": "auctions", "kind": "source", "parallelism": 4},
                {"id": "filter", "kind": "filter", "parallelism": 4, "params": {"predicate": "state in ('OR', 'ID', 'CA')"}},
                {
                    "id": "join",
                    "kind": "join",
                    "parallelism": 4,
                    "params": {
                        "left_key": "id",
                        "right_key": "seller",
                        "window": {"kind": "full_history"},
                        "select": ["name", "city", "state", "right_id"],
                    },
                },
                {"id": "sink", "kind": "sink", "parallelism": 4},
            ],
            "edges": [
                {"source": "persons", "target": "filter", "partitioning": {"kind": "hash", "key": "id", "scheme": "modulo"}},
                {"source": "filter", "target": "join", "target_port": "left", "partitioning": {"kind": "forward"}},
                {
                    "source": "auctions",
                    "target": "join",
                    "target_port": "right",
                    "partitioning": {"kind": "hash", "key": "seller", "scheme": "modulo"},
                },
                {"source": "join", "target": "sink", "partitioning": {"kind": "forward"}},
            ],
        },
        "cluster": {"hosts": [{"name": "w", "count": 4, "processor": {"kind": "shared_fifo"}}]},
        "placement": {"kind": "spread"},
        "workload": {
            "horizon_s": 30.0,
            "warmup_s": 5.0,
            "sources": {
                "persons": {"stream": {"kind": "nexmark_person"}, "rate": {"kind": "constant", "per_s": 1000}},
                "auctions": {"stream": {"kind": "nexmark_auction"}, "rate": {"kind": "constant", "per_s": 1000}},
            },
        },
    }


def looped() -> dict[str, Any]:
    """Q3 without auctions: what the join puts out comes back as its right side, over an edge that declares its fields."""
    document = q3()
    fields = [{"name": "seller", "expression": "right_id"}, {"name": "id", "expression": "right_id + 1"}]
    document["query"]["operators"][1] = {"id": "back", "kind": "map", "parallelism": 4, "params": {"fields": fields}}
    document["query"]["edges"][2] = {"source": "join", "target": "back"}
    document["query"]["edges"].append(
        {
            "source": "back",
            "target": "join",
            "target_port": "right",
            "partitioning": {"kind": "hash", "key": "seller", "scheme": "modulo"},
            "feedback": True,
            "fields": [{"name": "seller", "type": "int"}, {"name": "id", "type": "int"}],
        }
    )
    del document["workload"]["sources"]["auctions"]
    return document


def trips() -> dict[str, Any]:
    """An uploaded file through a sliding window, on one host with dedicated cores."""
    window = {"kind": "sliding", "size_s": 60, "slide_s": 10}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "trips", "kind": "source"},
                {"id": "mean", "kind": "aggregate", "params": {"key": "zone", "window": window, "emit": "on_close"}},
                {"id": "sink", "kind": "sink"},
            ],
            "edges": [
                {"source": "trips", "target": "mean", "partitioning": {"kind": "rebalance"}},
                {"source": "mean", "target": "sink"},
            ],
        },
        "cluster": {"hosts": [{"name": "laptop", "processor": {"kind": "dedicated"}, "cores": 3}]},
        "workload": {
            "horizon_s": 600,
            "sources": {
                "trips": {
                    "stream": {"kind": "file", "dataset": "trips", "timestamp": "pickup"},
                    "rate": {"kind": "recorded", "speed": 60},
                    "watermarks": {"kind": "bounded", "lag_ms": 1000, "period_ms": 1000},
                }
            },
        },
    }


def changed(document: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """A copy with values put at JSON pointers; "-" appends to a list, REMOVED takes away."""
    document = copy.deepcopy(document)
    for place, value in changes.items():
        *path, last = place.removeprefix("/").split("/")
        here: Any = document
        for part in path:
            here = here[int(part)] if isinstance(here, list) else here.setdefault(part, {})
        if isinstance(here, list):
            if last == "-":
                here.append(value)
            elif value is REMOVED:
                del here[int(last)]
            else:
                here[int(last)] = value
        elif value is REMOVED:
            del here[last]
        else:
            here[last] = value
    return document


def steps_of(function: Callable[[], Any]) -> int:
    """How many lines of Python a call takes, with calls and returns: a measure of its work that no clock has a part in."""
    count = 0

    def count_one(*_: Any) -> Any:
        nonlocal count
        count += 1
        return count_one

    before = sys.gettrace()
    sys.settrace(count_one)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


def errors_in(document: dict[str, Any]) -> list[Problem]:
    """The problems that keep a document from running. (The topics of `q3` do not stay in step, which is a warning.)"""
    return [problem for problem in validate(document, CONTEXT) if problem.severity == "error"]


def assert_one_problem(document: dict[str, Any], pointer: str, code: str, words: list[str]) -> None:
    """One error at this place, whose message or hint holds all of `words`; nearly nothing else is reported; the document does not load."""
    problems = validate(document, CONTEXT)
    found = [problem for problem in problems if (problem.pointer, problem.code) == (pointer, code)]
    assert len(found) == 1, problems
    assert len(problems) <= 2, "consequences are not reported"
    text = f"{found[0].message} {found[0].hint}"
    assert [word for word in words if word not in text] == [], text
    assert found[0].severity == "error"
    with pytest.raises(InvalidExperiment):
        load(document, CONTEXT)

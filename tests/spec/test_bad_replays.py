"""Output logs and upstream backups that cannot be: where, what, and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec import validate

from ..support.stored import losing, replayed

REVENUE = "/query/operators/1"


def state(**given: Any) -> dict[str, Any]:
    document = replayed()
    document["policies"]["state"] |= given
    return document


def revenue(**params: Any) -> dict[str, Any]:
    document = replayed()
    document["query"]["operators"][1]["params"] |= params
    return document


def bounded(**flow: Any) -> dict[str, Any]:
    document = replayed()
    document["policies"]["flow_control"] = {"kind": "credits", **flow}
    return document


def with_capacity() -> dict[str, Any]:
    document = replayed()
    document["query"]["edges"][0]["capacity"] = 10
    return document


def two_inputs() -> dict[str, Any]:
    document = replayed()
    more = {**document["query"]["operators"][0], "id": "more"}
    document["query"]["operators"].append(more)
    document["query"]["edges"].append({**document["query"]["edges"][0], "source": "more"})
    document["workload"]["sources"]["more"] = document["workload"]["sources"]["purchases"]
    document["placement"]["hosts"]["more"] = ["in"]
    return document


def lost(host: str, **fault: Any) -> dict[str, Any]:
    document = losing(replayed(), 1)
    document["faults"][0] |= {"host": host, **fault}
    return document


def all_on_one() -> dict[str, Any]:
    document = losing(replayed(), 1)
    document["placement"]["hosts"]["purchases"] = ["work"]
    return document


def both_lost() -> dict[str, Any]:
    """A second aggregate on the lost host, whose sender is on another lost one."""
    document = losing(replayed(), 1)
    document["faults"].append({**document["faults"][0], "host": "out"})
    query = document["query"]
    query["operators"].append({**query["operators"][1], "id": "again"})
    query["operators"][3]["params"] = {**query["operators"][1]["params"], "key": "key"}
    query["operators"][3]["params"]["aggregates"] = [{"name": "revenue", "function": "sum", "field": "revenue"}]
    query["edges"] = [
        query["edges"][0],
        {"source": "revenue", "target": "again", "partitioning": {"kind": "hash", "key": "key"}},
        {"source": "again", "target": "output"},
    ]
    document["placement"]["hosts"]["again"] = ["out"]
    return document


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("a replay of none", state(replay_max=0), "/policies/state/replay_max", "it must be at least 1"),
    ("an extent of none", state(records_max=0), "/policies/state/records_max", "it must be at least 1"),
    ("no bound", state(replay_max=None), "/policies/state/replay_max", "neither records_max nor replay_max is given"),
    ("an operator without state", state(operators=["output"]), "/policies/state/operators/0", "keeps no state by key"),
    ("processing time", revenue(window={"kind": "tumbling", "size_s": 1, "clock": "processing"}), f"{REVENUE}/kind", "choose clock event"),
    ("late results", revenue(lateness_ms=100), f"{REVENUE}/kind", "without lateness_ms"),
    ("early results", revenue(emit="on_update"), f"{REVENUE}/kind", "emit on_close"),
    ("retained records", revenue(evaluation="at_firing"), f"{REVENUE}/kind", "evaluation incremental"),
    ("no windows", revenue(window={"kind": "none"}, emit="on_update"), f"{REVENUE}/kind", "tumbling or sliding"),
    ("credits", bounded(), "/policies/flow_control/kind", "waits for no credit; choose unbounded"),
    ("a bounded edge", with_capacity(), "/query/edges/0/capacity", "leave out capacity"),
    ("two inputs", two_inputs(), REVENUE, "has 2 inbound edges"),
    ("a lost source", lost("in"), "/faults/0/host", "'purchases' on it has no output log"),
    ("a source beside the windows", all_on_one(), "/faults/0/host", "operators with windows and sinks only"),
    ("never back", lost("work", kind="host_loss", restart_after_s=None), "/faults/0/restart_after_s", "nobody reads its output log"),
    ("a sender that is lost, too", both_lost(), "/faults/1/host", "which may be lost, too"),
]


@pytest.mark.parametrize(("document", "path", "said"), [pytest.param(*case[1:], id=case[0]) for case in WRONG])
def test_it_is_refused_at_its_place(document: dict[str, Any], path: str, said: str) -> None:
    problems = [problem for problem in validate(document) if problem.severity == "error"]
    assert [problem.pointer for problem in problems if said in problem.message] == [path], [(p.pointer, p.message) for p in problems]


def test_a_sink_may_be_lost() -> None:
    assert not [problem for problem in validate(lost("out")) if problem.severity == "error"]

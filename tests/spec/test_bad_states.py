"""Local stores that cannot be: where, what, and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec import validate

from ..support.stored import crashing, in_memory, stored

AT = "/policies/state"


def hosts(**host: Any) -> dict[str, Any]:
    document = stored()
    document["cluster"]["hosts"][0] |= host
    return document


def policies(**others: Any) -> dict[str, Any]:
    document = stored()
    document["policies"] |= others
    return document


def revenue(**params: Any) -> dict[str, Any]:
    document = stored()
    document["query"]["operators"][1]["params"] |= params
    return document


def scaled() -> dict[str, Any]:
    document = stored()
    document["workload"]["scale"] = 10
    return document


def with_fault(**fault: Any) -> dict[str, Any]:
    return stored() | {"faults": [fault]}


def keeping_all() -> dict[str, Any]:
    document = stored("join")
    document["query"]["operators"][2]["params"] |= {"keep_left": "all", "keep_right": "all"}
    return document


def without_state() -> dict[str, Any]:
    document = stored()
    document["query"]["operators"].pop(1)
    document["query"]["edges"] = [{"source": "purchases", "target": "output"}]
    return document


def crash(**when: Any) -> dict[str, Any]:
    """A crash amid a commit."""
    document = crashing(stored(), 1)
    document["faults"][0]["when"] = {"kind": "in_commit", **when}
    return document


def crossing(**state: Any) -> dict[str, Any]:
    document = crashing(stored(**state), 1)
    document["placement"]["hosts"]["purchases"] = ["node02", "out"]
    return document


def two_aggregates() -> dict[str, Any]:
    """The state of the second one is in memory only."""
    document = crashing(stored(operators=["revenue"]), 1)
    revenue, query = document["query"]["operators"][1], document["query"]
    query["operators"].insert(2, {**revenue, "id": "counts"})
    query["edges"] += [{**query["edges"][0], "target": "counts"}, {**query["edges"][1], "source": "counts"}]
    document["placement"]["hosts"]["counts"] = ["node02"] * 2
    return document


CASES: dict[str, tuple[dict[str, Any], str, str]] = {
    "a dirty ratio above 1": (stored(changelog={"dirty_ratio": 1.2}), f"{AT}/changelog/dirty_ratio", "at most 1"),
    "a dirty ratio below 0": (stored(changelog={"dirty_ratio": -0.1}), f"{AT}/changelog/dirty_ratio", "at least 0"),
    "segments of 0 ms": (stored(changelog={"segment_ms": 0}), f"{AT}/changelog/segment_ms", "must be above 0"),
    "segments smaller than a record": (stored(changelog={"segment_mb": 0.0001}), f"{AT}/changelog/segment_mb", "smaller than a record"),
    "no commits": (stored(commit_s=0), f"{AT}/commit_s", "must be above 0"),
    "commits beyond the run": (stored(commit_s=60), f"{AT}/commit_s", "not before the end of the run"),
    "two spellings of one setting": (
        stored(changelog={"segment.ms": 100, "segment_ms": 100}),
        f"{AT}/changelog/segment_ms",
        "'segment.ms' and 'segment_ms' are one setting",
    ),
    "fewer objects than a batch": (stored(cache={"batch": 100, "objects": 50}), f"{AT}/cache/objects", "fewer than a batch of 100"),
    "one buffer": (stored(tree={"buffers": 1}), f"{AT}/tree/buffers", "at least 2"),
    "a tree in memory": (stored(kind="changelog_memory", tree={}), f"{AT}/tree", "tree"),
    "an unknown field in records": (stored(record_text="{user}"), f"{AT}/record_text", "only the key"),
    "an operator that is not there": (stored(operators=["revenues"]), f"{AT}/operators/0", "did you mean 'revenue'"),
    "an operator without state": (stored(operators=["purchases"]), f"{AT}/operators/0", "keeps no state by key"),
    "no state at all": (without_state(), f"{AT}/kind", "no operator of the query keeps state"),
    "all records of a join": (keeping_all(), "/query/operators/2/kind", "keep the latest of both sides"),
    "a distinct count": (
        revenue(aggregates=[{"name": "n", "function": "count_distinct", "field": "price"}]),
        "/query/operators/1/kind",
        "a distinct count keeps its values",
    ),
    "dedicated processors": (hosts(processor={"kind": "dedicated"}), "/cluster/hosts/0/processor", "choose pool"),
    "checkpoints": (policies(checkpointing={"kind": "coordinated"}), "/policies/checkpointing/kind", "choose none, or state memory"),
    "an engine": (policies(engine={"kind": "flink"}), "/policies/engine/kind", "choose none, or state memory"),
    "a scaled run": (scaled(), "/workload/scale", "use 1"),
    "a host that never comes back": (
        with_fault(kind="host_loss", host="node02", when={"kind": "at", "at_s": 1}),
        "/faults/0/restart_after_s",
        "the host never comes back",
    ),
    "input from another host": (
        crossing(),
        "/faults/0/host",
        "node02 receives records of 'purchases' from out",
    ),
    "state that no changelog has": (two_aggregates(), f"{AT}/operators", "the state of 'counts' with it"),
    "an unknown step of a commit": (crash(before="commit"), "/faults/0/when/before", "flush"),
    "commit 0": (crash(commit=0), "/faults/0/when/commit", "at least 1"),
    "a commit without stores": (in_memory(crash()), "/faults/0/when/kind", "only local stores commit"),
    "a commit that a pause meets": (
        with_fault(kind="pause", host="node02", when={"kind": "in_commit"}, for_ms=10),
        "/faults/0/when/kind",
        "pause does not end the process that commits",
    ),
    "exactly once without transactions": (stored(guarantee="exactly_once"), f"{AT}/guarantee", "the broker knows none"),
    "an order of what is atomic": (
        stored(guarantee="exactly_once", commit_order="offset_then_flush", changelog={"transactions": True}),
        f"{AT}/commit_order",
        "a transaction makes both durable at once",
    ),
    "exactly once with input from another host": (
        crossing(guarantee="exactly_once", changelog={"transactions": True}),
        f"{AT}/guarantee",
        "node02 receives records of 'purchases' from out",
    ),
    "a broker without a disk": (stored(broker={"disk_mb": 0}), f"{AT}/broker/disk_mb", "it must be above 0 MB"),
    "an unknown order": (stored(commit_order="offset_first"), f"{AT}/commit_order", "flush_then_offset"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_where_it_is_wrong(case: str) -> None:
    document, place, words = CASES[case]
    problems = [problem for problem in validate(document) if problem.severity == "error"]
    assert place in [problem.pointer for problem in problems], problems
    said = next(problem for problem in problems if problem.pointer == place)
    assert words in f"{said.message} {said.hint}"


def test_a_store_whose_records_expire_is_warned_of() -> None:
    problems = validate(stored("join"))
    assert [(problem.severity, problem.pointer) for problem in problems] == [("warning", "/query/operators/2/params/ttl_s")]


def test_more_containers_than_partitions_are_warned_of() -> None:
    document = stored()
    document["cluster"]["hosts"].append({**document["cluster"]["hosts"][0], "name": "idle", "count": 3})
    (problem,) = validate(document)
    assert (problem.severity, problem.pointer) == ("warning", "/cluster/hosts/1")
    assert problem.message.startswith("idle2 and 1 more would have no task: there are more containers than partitions")
    assert validate(in_memory(document)) == []


def test_names_of_kafka_mean_the_same() -> None:
    names = {"segment.ms": 100, "min.cleanable.dirty.ratio": 0.01, "delete.retention.ms": 50}
    assert validate(stored(changelog=names)) == []

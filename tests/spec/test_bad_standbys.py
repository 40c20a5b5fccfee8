"""Active standbys that cannot be: where, what, and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec import validate

from ..support.stored import losing, mirrored

PAIR = "/policies/state/pairs/0"


def pairs(*given: tuple[str, str]) -> dict[str, Any]:
    document = mirrored()
    document["policies"]["state"]["pairs"] = [{"operator": operator, "standby": standby} for operator, standby in given]
    return document


def state(**given: Any) -> dict[str, Any]:
    document = mirrored()
    document["policies"]["state"] |= given
    return document


def operator(number: int, **given: Any) -> dict[str, Any]:
    document = mirrored()
    document["query"]["operators"][number] |= given
    return document


def both(**params: Any) -> dict[str, Any]:
    document = mirrored()
    for one in document["query"]["operators"][1:4:2]:
        one["params"] = {**one["params"], **params}
    return document


def edge(number: int, **given: Any) -> dict[str, Any]:
    document = mirrored()
    document["query"]["edges"][number] |= given
    return document


def with_policy(name: str, policy: dict[str, Any]) -> dict[str, Any]:
    document = mirrored()
    document["policies"][name] = policy
    return document


def placed(**hosts: list[str]) -> dict[str, Any]:
    document = mirrored()
    document["placement"]["hosts"] |= hosts
    return document


def two_senders() -> dict[str, Any]:
    document = mirrored()
    document["query"]["operators"][0]["parallelism"] = 2
    document["placement"]["hosts"]["purchases"] = ["in"] * 2
    return document


def to_an_operator() -> dict[str, Any]:
    """The results of both go through a filter."""
    document = mirrored()
    query = document["query"]
    query["operators"].append({"id": "large", "kind": "filter", "params": {"predicate": "revenue > 0"}})
    for wire in query["edges"][1:4:2]:
        wire["target"] = "large"
    query["edges"][2]["target"] = "standby"
    query["edges"].append({"source": "large", "target": "output"})
    document["placement"]["hosts"]["large"] = ["out"]
    return document


def two_inputs() -> dict[str, Any]:
    document = mirrored()
    document["query"]["operators"].append({**document["query"]["operators"][0], "id": "more"})
    document["workload"]["sources"]["more"] = document["workload"]["sources"]["purchases"]
    document["query"]["edges"] += [{**document["query"]["edges"][0], "source": "more", "target": one} for one in ("revenue", "standby")]
    document["placement"]["hosts"]["more"] = ["in"]
    return document


def with_memory() -> dict[str, Any]:
    document = mirrored()
    document["cluster"]["hosts"][1]["memory"] = {"kind": "budget", "budget_mb": 100, "restart_after_s": 1}
    return document


def lost(*hosts: str) -> dict[str, Any]:
    document = losing(mirrored(), *[1.0] * len(hosts))
    for fault, host in zip(document["faults"], hosts, strict=True):
        fault["host"] = host
    return document


WRONG: list[tuple[str, dict[str, Any], str, str]] = [
    ("no pair", state(pairs=[]), "/policies/state/pairs", "at least 1"),
    ("a takeover before the loss", state(takeover_ms=-1), "/policies/state/takeover_ms", "at least 0"),
    ("an unknown operator", pairs(("revenu", "standby")), f"{PAIR}/operator", "did you mean 'revenue'?"),
    ("an unknown standby", pairs(("revenue", "standbye")), f"{PAIR}/standby", "did you mean 'standby'?"),
    ("its own standby", pairs(("revenue", "revenue")), f"{PAIR}/standby", "each operator once"),
    (
        "one standby of two",
        pairs(("revenue", "standby"), ("output", "standby")),
        "/policies/state/pairs/1/standby",
        "each operator once",
    ),
    ("another kind", pairs(("revenue", "output")), f"{PAIR}/standby", "kind of 'output' is not that of 'revenue'"),
    (
        "another size",
        operator(3, params={**mirrored()["query"]["operators"][3]["params"], "key": "gem_pack"}),
        f"{PAIR}/standby",
        "params of",
    ),
    (
        "more instances",
        placed(standby=["spare", "spare"]) | {"query": operator(3, parallelism=2)["query"]},
        f"{PAIR}/standby",
        "parallelism of",
    ),
    (
        "processing time",
        both(window={"kind": "tumbling", "size_s": 1, "clock": "processing"}),
        f"{PAIR}/operator",
        "choose clock event",
    ),
    ("two senders", two_senders(), "/query/operators/0/parallelism", "give it one"),
    ("two inputs", two_inputs(), f"{PAIR}/operator", "has 2 inbound edges"),
    ("not to a sink", to_an_operator(), f"{PAIR}/operator", "only sinks take results"),
    ("another partitioning", edge(2, partitioning={"kind": "rebalance"}), f"{PAIR}/standby", "has other edges than 'revenue'"),
    ("a bounded edge", edge(0, capacity=10), "/query/edges/0/capacity", "leave out capacity"),
    ("credits", with_policy("flow_control", {"kind": "credits"}), "/policies/flow_control/kind", "choose unbounded"),
    ("rounds", with_policy("checkpointing", {"kind": "coordinated"}), "/policies/checkpointing/kind", "knows nothing of standbys"),
    ("a host that dies of its memory", with_memory(), "/cluster/hosts/1/memory/restart_after_s", "leave out restart_after_s"),
    ("on one host", placed(standby=["work"]), f"{PAIR}/standby", "revenue[0] and standby[0] are both on work"),
    ("a lost source", lost("in"), "/faults/0/host", "'purchases' on it has no standby"),
    ("a lost sink", lost("out"), "/faults/0/host", "'output' on it has no standby"),
    ("both lost", lost("work", "spare"), "/faults/1/host", "a standby has no standby of its own"),
]


@pytest.mark.parametrize(("document", "path", "said"), [pytest.param(*case[1:], id=case[0]) for case in WRONG])
def test_it_is_refused_at_its_place(document: dict[str, Any], path: str, said: str) -> None:
    problems = [problem for problem in validate(document) if problem.severity == "error"]
    assert [problem.pointer for problem in problems if said in problem.message] == [path], [(p.pointer, p.message) for p in problems]


def test_either_host_may_be_lost_for_good() -> None:
    for host in ("work", "spare"):
        document = lost(host, host)
        document["faults"][1] |= {"kind": "host_loss", "restart_after_s": None}
        assert not [problem for problem in validate(document) if problem.severity == "error"]


def test_a_standby_may_cost_more() -> None:
    assert not [problem for problem in validate(operator(3, cost={"record_us": 99})) if problem.severity == "error"]

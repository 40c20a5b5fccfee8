"""Checkpointing that cannot be: where, what, and what would be right."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.spec import validate
from tests.support.corner_cases import a_cycle_drains_when_nothing_goes_round

from .documents import assert_one_problem, changed, errors_in, q3

AT = "/policies/checkpointing"


def protocol(kind: str, **given: Any) -> dict[str, Any]:
    return {AT: {"kind": kind, **given}}


def losses(*hosts: str, **given: Any) -> dict[str, Any]:
    return {
        "/faults": [{"kind": "host_loss", "host": host, "when": {"kind": "at", "at_s": 1 + n}, **given} for n, host in enumerate(hosts)]
    }


def region(*operators: str, **given: Any) -> dict[str, Any]:
    return {"name": operators[0] if operators else "none", "operators": list(operators), **given}


def regions(*found: dict[str, Any], **given: Any) -> dict[str, Any]:
    return protocol("hybrid", regions=list(found), **given)


CREDITS = {"/policies/flow_control": {"kind": "credits"}}

# changes to Q3 on four hosts over 30 s, pointer, code, what the message or the hint must hold
CASES = {
    "unknown protocol": (protocol("coordinate"), f"{AT}/kind", "unknown_kind", ["'coordinate'", "coordinated"]),
    "interval 0": (protocol("coordinated", interval_s=0), f"{AT}/interval_s", "out_of_range", ["interval_s", "0", "at least 0.001"]),
    "no number": (protocol("uncoordinated", interval_s=math.nan), f"{AT}/interval_s", "not_finite", ["interval_s"]),
    "longer than the run": (protocol("coordinated", interval_s=1e6), f"{AT}/interval_s", "outside_run", ["1e+06", "30 s", "shorter"]),
    "as long as the run": (protocol("uncoordinated", interval_s=30), f"{AT}/interval_s", "outside_run", ["no checkpoint"]),
    "no log": (
        protocol("uncoordinated", log=False),
        f"{AT}/semantics",
        "invalid",
        ["exactly_once", "not logged", "at_most_once"],
    ),
    "no log, at least once": (
        protocol("uncoordinated", log=False, semantics="at_least_once"),
        f"{AT}/semantics",
        "invalid",
        ["at_least_once", "log them"],
    ),
    "a span of nothing": (protocol("uncoordinated", jitter_s=5), f"{AT}/jitter_s", "out_of_range", ["jitter_s is 5", "interval_s"]),
    "a store without a disk": (protocol("coordinated", store={"write_mb_per_s": 0}), f"{AT}/store/write_mb_per_s", "out_of_range", ["0.1"]),
    "a region of an unknown operator": (
        regions(region("filter", "joins")),
        f"{AT}/regions/0/operators/1",
        "unknown_operator",
        ["'filter'", "'joins'", "did you mean 'join'?"],
    ),
    "a region of nothing": (regions(region()), f"{AT}/regions/0/operators", "too_short", ["operators"]),
    "regions that overlap": (
        regions(region("filter", "join"), region("join", "sink", name="end")),
        f"{AT}/regions/1/operators/0",
        "duplicate_operator",
        ["'end'", "'join'", "'filter'", "one of them"],
    ),
    "an operator twice": (regions(region("join", "join")), f"{AT}/regions/0/operators/1", "duplicate_operator", ["'join'"]),
    "a name twice": (
        regions(region("filter", name="a"), region("sink", name="a")),
        f"{AT}/regions/1/name",
        "duplicate_name",
        ["'a'", "different"],
    ),
    "an unknown mode": (regions(region("join", mode="aligned")), f"{AT}/regions/0/mode", "unknown_value", ["'aligned'", "uncoordinated"]),
    "a region's interval 0": (regions(region("join", interval_s=0)), f"{AT}/regions/0/interval_s", "out_of_range", ["at least 0.001"]),
    "a region without a round": (
        regions(region("filter"), region("join", interval_s=30)),
        f"{AT}/regions/1/interval_s",
        "outside_run",
        ["'join'", "30 s", "no checkpoint", "shorter"],
    ),
    "a region's span of nothing": (
        regions(region("join", mode="uncoordinated", interval_s=0.5)),
        f"{AT}/regions/0/interval_s",
        "out_of_range",
        ["'join'", "0.5", "jitter_s (1)"],
    ),
    "a way around with credits": (
        regions(region("persons", "auctions", "join")) | CREDITS,
        f"{AT}/regions",
        "cycle",
        ["'persons'", "from 'filter' to 'join'", "add the operators on the path", "unbounded"],
    ),
    "a source that waits": (
        protocol("coordinated") | {"/workload/sources/auctions/generation": {"kind": "coordinated"}},
        "/workload/sources/auctions/generation",
        "no_replay",
        ["'auctions'", "replayed", "open"],
    ),
    "a log that forgets": (
        protocol("uncoordinated") | {"/workload/sources/auctions/retention": {"kind": "time", "keep_s": 20}},
        "/workload/sources/auctions/retention",
        "no_replay",
        ["'auctions'", "20 s", "replayed", "all"],
    ),
    "more losses than spares": (
        protocol("coordinated", spares=1) | losses("w1", "w2"),
        "/faults/1/restart_after_s",
        "no_spare",
        ["'w2'", "1 spare", "2 or more spare hosts under Checkpointing"],
    ),
    "a loss without spares": (protocol("uncoordinated") | losses("w1"), "/faults/0/restart_after_s", "no_spare", ["0 spare"]),
    "an unknown host": (protocol("coordinated", spares=1) | losses("w9"), "/faults/0/host", "unknown_host", ["'w9'"]),
    "after the end": (
        protocol("coordinated")
        | {"/faults": [{"kind": "host_loss", "host": "w1", "when": {"kind": "at", "at_s": 30}, "restart_after_s": 1}]},
        "/faults/0/when/at_s",
        "outside_run",
        ["30", "earlier"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_checkpointing(name: str) -> None:
    changes, pointer, code, words = CASES[name]
    assert_one_problem(changed(q3(), changes), pointer, code, words)


def test_a_cycle_is_refused_or_run_anyway() -> None:
    document = a_cycle_drains_when_nothing_goes_round()
    protocol = {"kind": "coordinated", "interval_s": 0.001}
    (problem,) = validate(document | {"policies": {"checkpointing": protocol}})
    assert (problem.pointer, problem.code) == (f"{AT}/on_cycle", "cycle")
    assert "closes a cycle" in problem.message
    assert validate(document | {"policies": {"checkpointing": protocol | {"on_cycle": "run"}}}) == []
    assert validate(document | {"policies": {"checkpointing": {"kind": "uncoordinated", "interval_s": 0.001, "jitter_s": 0}}}) == []


def test_a_region_with_a_cycle_inside_is_refused() -> None:
    document = a_cycle_drains_when_nothing_goes_round()
    wires = document["query"]["edges"]
    back = next(wire for wire in wires if wire.get("feedback"))
    ids = [operator["id"] for operator in document["query"]["operators"]]

    def found(*given: dict[str, Any]) -> list[Any]:
        return validate(document | {"policies": {"checkpointing": regions(*given, interval_s=0.001, jitter_s=0)[AT]}})

    (problem,) = found(region(*ids))
    assert (problem.pointer, problem.code) == (f"{AT}/regions/0/operators", "cycle")
    assert "is on a cycle inside it" in problem.message
    assert found(region(*ids, mode="uncoordinated")) == []
    assert found(region(*(id for id in ids if id != back["source"]))) == []  # the cycle runs through what is outside
    assert validate(document | {"policies": {"checkpointing": protocol("hybrid", interval_s=0.001, jitter_s=0)[AT]}}) == []


@pytest.mark.parametrize(
    "changes",
    [
        protocol("hybrid"),
        protocol("hybrid") | CREDITS,
        regions(),
        regions(region("persons", "auctions", "join")),
        regions(region("persons", "auctions", "filter", "join")) | CREDITS,
        regions(region("filter", "join", interval_s=2), region("auctions", mode="uncoordinated", interval_s=3))
        | losses("w1", restart_after_s=1),
        protocol("none"),
        protocol("none") | losses("w1", "w2"),
        protocol("coordinated"),
        protocol("coordinated", spares=2) | losses("w1", "w1"),
        protocol("coordinated") | losses("w1", "w1", restart_after_s=0.5),
        protocol("uncoordinated", log=False, semantics="at_most_once"),
    ],
)
def test_what_can_be_is_accepted(changes: dict[str, Any]) -> None:
    assert errors_in(changed(q3(), changes)) == []

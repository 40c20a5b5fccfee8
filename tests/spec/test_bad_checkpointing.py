"""Checkpointing that cannot be: where, what, and what would be right."""

from __future__ import annotations

import math
from typing import Any

import pytest

from engine.spec import validate
from tests.corner_cases import a_cycle_drains_when_nothing_goes_round

from .documents import CONTEXT, assert_one_problem, changed, q3

AT = "/policies/checkpointing"


def protocol(kind: str, **given: Any) -> dict[str, Any]:
    return {AT: {"kind": kind, **given}}


def losses(*hosts: str, **given: Any) -> dict[str, Any]:
    return {
        "/faults": [{"kind": "host_loss", "host": host, "when": {"kind": "at", "at_s": 1 + n}, **given} for n, host in enumerate(hosts)]
    }


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
    "a source that waits": (
        protocol("coordinated") | {"/workload/sources/auctions/generation": {"kind": "coordinated"}},
        "/workload/sources/auctions/generation",
        "no_replay",
        ["'auctions'", "read again", "open"],
    ),
    "a log that forgets": (
        protocol("uncoordinated") | {"/workload/sources/auctions/retention": {"kind": "time", "keep_s": 20}},
        "/workload/sources/auctions/retention",
        "no_replay",
        ["'auctions'", "20 s", "read again", "all"],
    ),
    "more losses than spares": (
        protocol("coordinated", spares=1) | losses("w1", "w2"),
        "/faults/1/restart_after_s",
        "no_spare",
        ["'w2'", "1 spare", "at least 2"],
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


@pytest.mark.parametrize(
    "changes",
    [
        protocol("none"),
        protocol("none") | losses("w1", "w2"),
        protocol("coordinated"),
        protocol("coordinated", spares=2) | losses("w1", "w1"),
        protocol("coordinated") | losses("w1", "w1", restart_after_s=0.5),
        protocol("uncoordinated", log=False, semantics="at_most_once"),
    ],
)
def test_what_can_be_is_accepted(changes: dict[str, Any]) -> None:
    assert validate(changed(q3(), changes), CONTEXT) == []

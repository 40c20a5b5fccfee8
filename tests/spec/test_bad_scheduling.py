"""Scheduling that cannot be: where, what, and what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec import Budgets, Context, validate

from ..support.scheduled_examples import contended

AT = "/policies/scheduling"


def made(kind: str = "klink", host: dict[str, Any] | None = None, source: dict[str, Any] | None = None, **params: Any) -> dict[str, Any]:
    document = contended(kind, **params)
    document["cluster"]["hosts"][0] |= host or {}
    document["workload"]["sources"]["bids"] |= source or {}
    return document


def two_hosts() -> dict[str, Any]:
    document = made("streambox")
    document["cluster"]["hosts"][0]["count"] = 2
    del document["query"]["queries"][0]["copies"]
    document["placement"] = {"kind": "explicit", "hosts": {"bids": ["w1"], "count": ["w2"], "sink": ["w2"]}}
    return document


def without_windows(**window: Any) -> dict[str, Any]:
    document = made()
    document["query"]["operators"][1]["params"]["window"] = {"kind": "tumbling", "size_s": 1, **window}
    return document


def rescaled() -> dict[str, Any]:
    document = made("streambox")
    for copies in ("copies", "start_within_s"):
        document["query"]["queries"][0].pop(copies, None)
    document["cluster"]["hosts"][0]["count"] = 3
    document["policies"]["scaling"] = {"kind": "ds2", "start_s": 0, "every_s": 5}
    return document


def switched(**params: Any) -> dict[str, Any]:
    return made("switched", **{"before": {"kind": "fcfs"}, "at_s": 2, "after": {"kind": "klink"}} | params)


def attainable(kind: str, **params: Any) -> dict[str, Any]:
    document = switched(**params) if kind == "switched" else made(kind, **params)
    document["query"]["operators"][1].setdefault("cost", {})["attainable"] = 0.5
    return document


CASES = {
    "no cycle": (made(cycle_ms=0), f"{AT}/cycle_ms", "out_of_range", ["cycle_ms", "0"]),
    "a cycle longer than the run": (made(cycle_ms=6000), f"{AT}/cycle_ms", "outside_run", ["6000", "6 s", "no cycle would begin"]),
    "a confidence of 0": (made(confidence=0), f"{AT}/confidence", "out_of_range", ["confidence"]),
    "a confidence of 1": (made(confidence=1), f"{AT}/confidence", "out_of_range", ["confidence"]),
    "no history": (made(history=0), f"{AT}/history", "out_of_range", ["history", "at least 1"]),
    "a threshold of 0": (made(memory_threshold=0), f"{AT}/memory_threshold", "out_of_range", ["memory_threshold"]),
    "a threshold above 1": (made(memory_threshold=1.1), f"{AT}/memory_threshold", "out_of_range", ["1.1"]),
    "a threshold of no memory": (made(memory_threshold=0.8), f"{AT}/memory_threshold", "no_memory_budget", ["0.8", "cluster.hosts.memory"]),
    "dedicated cores": (
        made("fcfs", host={"processor": {"kind": "dedicated"}, "cores": 64}),
        "/cluster/hosts/0/processor",
        "needs_pool",
        ["'dedicated'", "First come, first served", "choose pool"],
    ),
    "shared cores": (
        made(host={"processor": {"kind": "processor_sharing"}}),
        "/cluster/hosts/0/processor",
        "needs_pool",
        ["'processor_sharing'", "Klink", "choose pool"],
    ),
    "fair threads instead of threads": (
        made("default", host={"processor": {"kind": "dedicated"}, "cores": 64}),
        "/cluster/hosts/0/processor",
        "needs_pool",
        ["'dedicated'", "choose pool"],
    ),
    "StreamBox on two hosts": (two_hosts(), f"{AT}/kind", "on_several_hosts", ["StreamBox", "'count-bids'", "2"]),
    "StreamBox, rescaled to several hosts": (rescaled(), f"{AT}/kind", "on_several_hosts", ["StreamBox", "DS2", "all 3", "another policy"]),
    "an unknown estimator": (made(estimator="oracle"), f"{AT}/estimator", "unknown_value", ["estimator", "'oracle'", "regression"]),
    "windows by processing time": (without_windows(clock="processing"), f"{AT}/kind", "no_deadlines", ["'bids'", "'count-bids'", "Klink"]),
    "a source without watermarks": (
        made(source={"watermarks": {"kind": "none"}}),
        "/workload/sources/bids/watermarks",
        "no_watermarks",
        ["'bids'", "'count-bids'", "Klink"],
    ),
    "a switch after the end": (switched(at_s=6), f"{AT}/at_s", "outside_run", ["at_s is 6", "6 s"]),
    "a policy after fair threads": (
        switched(before={"kind": "default"}),
        f"{AT}/before",
        "not_switched",
        ["'default'", "more operators may be in service", "choose another"],
    ),
    "a policy after a switch to fair threads": (
        switched(before={"kind": "switched", "before": {"kind": "fcfs"}, "at_s": 1, "after": {"kind": "default"}}),
        f"{AT}/before",
        "not_switched",
        ["'default'"],
    ),
    "an attainable share under fair threads": (
        attainable("default"),
        "/query/operators/1/cost/attainable",
        "shared_cores",
        ["'count'", "omit attainable"],
    ),
    "an attainable share before a switch to fair threads": (
        attainable("switched", after={"kind": "default"}),
        "/query/operators/1/cost/attainable",
        "shared_cores",
        ["'count'", "omit attainable"],
    ),
    "a cycle of the second policy": (switched(after={"kind": "klink", "cycle_ms": 9000}), f"{AT}/after/cycle_ms", "outside_run", ["9000"]),
    "an unknown policy": (made("clink"), f"{AT}/kind", "unknown_kind", ["'clink'", "klink"]),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_where_it_stands(case: str) -> None:
    document, at, code, said = CASES[case]
    (problem,) = [problem for problem in validate(document) if problem.severity == "error"]
    assert (problem.pointer, problem.code) == (at, code), problem
    for text in said:
        assert text in f"{problem.message} {problem.hint or ''}", problem


def test_too_many_cycles_are_refused() -> None:
    context = Context(budgets=Budgets(scheduling_cycles_max=100))
    document = made(cycle_ms=1)
    (problem,) = validate(document, context)
    assert (problem.pointer, problem.code) == (f"{AT}/cycle_ms", "budget")


@pytest.mark.parametrize("kind", ["none", "default", "klink", "fcfs", "round_robin", "highest_rate", "srpt", "streambox", "switched"])
def test_every_policy_has_sound_defaults(kind: str) -> None:
    assert not [problem for problem in validate(made(kind, **({"at_s": 1} if kind == "switched" else {}))) if problem.severity == "error"]

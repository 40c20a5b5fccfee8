"""Memory models, ingress policies and channels in bytes that cannot be: where, what, and what would be right."""

from __future__ import annotations

import math

import pytest

from .documents import assert_one_problem, changed, errors_in, q3

MEMORY, FLOW, INGRESS = "/cluster/hosts/0/memory", "/policies/flow_control", "/policies/ingress"


def memory(**given):
    return {MEMORY: {"kind": "budget", **given}}


def points(*pairs):
    return memory(slow_down={"kind": "points", "points": [{"share": share, "factor": factor} for share, factor in pairs]})


def flow(**given):
    return {FLOW: {"kind": "credits", **given}}


def ingress(kind, **given):
    return {INGRESS: {"kind": kind, **given}}


# changes to Q3 on hosts of 4,096 MB, pointer, code, what the message or the hint must hold
CASES = {
    "unknown model": ({MEMORY: {"kind": "klink"}}, f"{MEMORY}/kind", "unknown_kind", ["'klink'", "klink_2020"]),
    "no budget": (memory(budget_mb=0), f"{MEMORY}/budget_mb", "out_of_range", ["budget_mb", "0", "above 0 MB"]),
    "a negative budget": (memory(budget_mb=-1), f"{MEMORY}/budget_mb", "out_of_range", ["budget_mb", "-1", "above 0"]),
    "a budget that is no number": (memory(budget_mb=math.nan), f"{MEMORY}/budget_mb", "not_finite", ["budget_mb", "nan"]),
    "an endless budget": (memory(budget_mb=math.inf), f"{MEMORY}/budget_mb", "not_finite", ["budget_mb", "inf"]),
    "a budget in words": (memory(budget_mb="1 GB"), f"{MEMORY}/budget_mb", "wrong_type", ["'1 GB'", "a number"]),
    "a budget below a byte": (memory(budget_mb=1e-9), f"{MEMORY}/budget_mb", "out_of_range", ["1e-09", "less than one byte"]),
    "a budget above the machine": (memory(budget_mb=5000), f"{MEMORY}/budget_mb", "out_of_range", ["5000", "4096", "more memory"]),
    "a preset above the machine": ({MEMORY: {"kind": "klink_2020"}}, f"{MEMORY}/budget_mb", "out_of_range", ["23622.3", "4096"]),
    "a footprint as large as the budget": (
        memory(budget_mb=1, base_mb=1),
        f"{MEMORY}/base_mb",
        "out_of_range",
        ["base_mb", "1 MB", "smaller"],
    ),
    "a footprint above the machine": (memory(base_mb=5000), f"{MEMORY}/base_mb", "out_of_range", ["5000", "4096"]),
    "a negative footprint": (memory(base_mb=-1), f"{MEMORY}/base_mb", "out_of_range", ["-1", "at least 0"]),
    "a limit below the budget": (
        memory(budget_mb=2, limit_mb=1),
        f"{MEMORY}/limit_mb",
        "out_of_range",
        ["limit_mb", "2 MB", "omit it"],
    ),
    "a negative overhead": (memory(per_record_bytes=-1), f"{MEMORY}/per_record_bytes", "out_of_range", ["-1", "at least 0"]),
    "a fraction of a byte": (memory(per_record_bytes=0.5), f"{MEMORY}/per_record_bytes", "wrong_type", ["0.5", "whole number"]),
    "a negative price of bytes": (memory(per_byte=-0.1), f"{MEMORY}/per_byte", "out_of_range", ["-0.1", "at least 0"]),
    "a price of state that is no number": (memory(state_factor=math.nan), f"{MEMORY}/state_factor", "not_finite", ["state_factor"]),
    "another end": (memory(on_full="spill"), f"{MEMORY}/on_full", "unknown_value", ["'spill'", "'die'"]),
    "a restart without a death": (
        memory(on_full="nothing", restart_after_s=5),
        f"{MEMORY}/restart_after_s",
        "never_dies",
        ["restart_after_s", "5", "'nothing'", "omit restart_after_s"],
    ),
    "a restart at once": (memory(restart_after_s=0), f"{MEMORY}/restart_after_s", "out_of_range", ["0", "1e-09"]),
    "a misspelt field": (memory(budget=1), f"{MEMORY}/budget", "unexpected", ["did you mean 'budget_mb'"]),
    "a field of another preset": (memory(swap_mb=1), f"{MEMORY}/swap_mb", "unexpected", ["swap_mb"]),
    "no points": (points(), f"{MEMORY}/slow_down/points", "too_short", ["points", "at least 1"]),
    "points out of order": (
        points((0.5, 1), (0.2, 2)),
        f"{MEMORY}/slow_down/points/1/share",
        "out_of_order",
        ["share", "0.2", "0.5", "order the points"],
    ),
    "a point twice": (points((0.5, 1), (0.5, 2)), f"{MEMORY}/slow_down/points/1/share", "out_of_order", ["0.5", "without duplicates"]),
    "a factor that speeds up": (points((0.5, 0.9)), f"{MEMORY}/slow_down/points/0/factor", "out_of_range", ["0.9", "at least 1"]),
    "a share below nothing": (points((-0.1, 1)), f"{MEMORY}/slow_down/points/0/share", "out_of_range", ["-0.1", "at least 0"]),
    "a factor that is no number": (points((0.1, math.nan)), f"{MEMORY}/slow_down/points/0/factor", "not_finite", ["factor"]),
    "too much memory to be modelled": (
        memory() | {"/cluster/hosts/0/memory_mb": 2e7},
        MEMORY,
        "out_of_range",
        ["memory_mb", "2e+07", "10,000,000 MB"],
    ),
    "no mark": (ingress("throttle"), f"{INGRESS}/queued_max", "missing", ["limit", "queued_max or memory_max"]),
    "a negative mark": (ingress("drop", queued_max=-1), f"{INGRESS}/queued_max", "out_of_range", ["-1", "at least 0"]),
    "a mark at nothing": (ingress("drop", memory_max=0), f"{INGRESS}/memory_max", "out_of_range", ["memory_max", "above 0"]),
    "a mark that is no number": (ingress("drop", memory_max=math.nan), f"{INGRESS}/memory_max", "not_finite", ["memory_max"]),
    "going on above the mark": (ingress("drop", queued_max=5, resume=1.1), f"{INGRESS}/resume", "out_of_range", ["1.1", "at most 1"]),
    "a mark on memory without a budget": (
        ingress("throttle", memory_max=0.8),
        f"{INGRESS}/memory_max",
        "no_budget",
        ["'w1'", "'persons'", "memory model", "queued_max"],
    ),
    "an unknown policy": (ingress("shed", queued_max=5), f"{INGRESS}/kind", "unknown_kind", ["'shed'", "drop"]),
    "a channel smaller than a record": (
        flow(per_channel_bytes=499),
        f"{FLOW}/per_channel_bytes",
        "too_small",
        ["499", "'auctions' to 'join'", "500 bytes", "at least 500"],
    ),
    "a channel smaller than a record of the run": (
        flow(per_channel_bytes=4999, per_channel=100) | {"/workload/scale": 10},
        f"{FLOW}/per_channel_bytes",
        "too_small",
        ["4,999", "at least 5,000"],
    ),
    "channels that share too little": (
        flow(per_instance_bytes=2499),
        f"{FLOW}/per_instance_bytes",
        "too_small",
        ["2,499", "500 bytes", "5 channels", "at least 2,500"],
    ),
    "an operator whose parameters are none": (
        flow(per_channel=2) | {"/query/operators/3/params/window/kind": "session"},
        "/query/operators/3/params/window/kind",
        "unknown_kind",
        ["'session'", "full_history"],
    ),
    "no bytes": (flow(per_channel_bytes=0), f"{FLOW}/per_channel_bytes", "out_of_range", ["0", "at least 1 bytes"]),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_memory(name):
    changes, pointer, code, words = CASES[name]
    assert_one_problem(changed(q3(), changes), pointer, code, words)


@pytest.mark.parametrize(
    "changes",
    [
        memory(),
        memory(budget_mb=1e-6),
        memory(budget_mb=4096, limit_mb=1e9),
        points((0, 1), (10, 1000)),
        {MEMORY: {"kind": "klink_2020"}, "/cluster/hosts/0/memory_mb": 32_000},
        {MEMORY: {"kind": "costream_2024"}},
        {MEMORY: {"kind": "costream_2024"}, **ingress("throttle", memory_max=0.9, resume=0)},
        ingress("drop", queued_max=0),
        flow(per_channel_bytes=500, per_instance_bytes=2500),
    ],
)
def test_what_can_be_is_accepted(changes):
    assert errors_in(changed(q3(), changes)) == []

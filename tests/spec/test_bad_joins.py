"""Bad parameters of the joins: each gets a problem at its place that names field and value and says what would be right."""

from __future__ import annotations

from typing import Any

import pytest

from engine.spec import validate

from .documents import CONTEXT, REMOVED, changed

Document = dict[str, Any]
PARAMS = "/query/operators/2/params"
SECOND = {"kind": "tumbling", "size_s": 1}


def joined(kind: str, **params: Any) -> Document:
    """auctions and bids -> a join of this kind -> sink."""
    rate = {"kind": "constant", "per_s": 100}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "auctions", "kind": "source"},
                {"id": "bids", "kind": "source"},
                {"id": "join", "kind": kind, "params": {"left_key": "id", "right_key": "auction", **params}},
                {"id": "sink", "kind": "sink"},
            ],
            "edges": [
                {"source": "auctions", "target": "join", "target_port": "left"},
                {"source": "bids", "target": "join", "target_port": "right"},
                {"source": "join", "target": "sink"},
            ],
        },
        "cluster": {"hosts": [{"name": "w"}]},
        "workload": {
            "horizon_s": 1,
            "sources": {
                "auctions": {"stream": {"kind": "nexmark_auction"}, "rate": rate, "watermarks": {"kind": "bounded"}},
                "bids": {"stream": {"kind": "nexmark_bid"}, "rate": rate, "watermarks": {"kind": "bounded"}},
            },
        },
    }


def full() -> Document:
    return joined("join")


def tumbling() -> Document:
    return joined("join", window=SECOND, lateness_ms=3, left_window_end="expires", select=["id", "window_end", "price"])


def clocked() -> Document:
    return joined("join", window=SECOND | {"clock": "processing"})


def firing() -> Document:
    return joined("window_join", window={"kind": "sliding", "size_s": 1, "slide_s": 0.3}, event_time="window")


def of_records() -> Document:
    return joined("window_join", window={"kind": "count", "size": 10, "slide": 5})


def interval() -> Document:
    return joined("interval_join", lower_s=-1, upper_s=2.5)


def until() -> Document:
    return joined("interval_join", until="expires")


def expiring() -> Document:
    return joined("expiring_join", ttl_s=300, keep_right="unmatched")


# document, changes, pointer, code, what the message or the hint must hold
CASES = {
    "windows of records that leave some out": (
        of_records,
        {f"{PARAMS}/window/slide": 11},
        f"{PARAMS}/window/slide",
        "slide_too_long",
        ["slide", "11", "records would be lost", "at most 10"],
    ),
    "lateness where no record is late": (
        of_records,
        {f"{PARAMS}/lateness_ms": 5},
        f"{PARAMS}/lateness_ms",
        "no_lateness",
        ["lateness_ms", "5", "no panes of time", "leave it out"],
    ),
    "bounds of windows of records": (
        of_records,
        {f"{PARAMS}/select": ["price", "window_end"]},
        f"{PARAMS}/select/1",
        "unknown_field",
        ["window_end", "neither input"],
    ),
    "no left key": (full, {f"{PARAMS}/left_key": REMOVED}, f"{PARAMS}/left_key", "missing", ["left_key", "add it", "left input"]),
    "no right key": (expiring, {f"{PARAMS}/right_key": REMOVED}, f"{PARAMS}/right_key", "missing", ["right_key", "add it"]),
    "an unknown key": (firing, {f"{PARAMS}/left_key": "idd"}, f"{PARAMS}/left_key", "unknown_field", ["'idd'", "did you mean 'id'"]),
    "keys of two types": (
        interval,
        {f"{PARAMS}/left_key": "item"},
        f"{PARAMS}/right_key",
        "type_mismatch",
        ["'item' is string", "'auction' is int", "the same type"],
    ),
    "an unknown output field": (
        expiring,
        {f"{PARAMS}/select": ["id", "prize"]},
        f"{PARAMS}/select/1",
        "unknown_field",
        ["'prize'", "did you mean 'price'"],
    ),
    "bounds of a pane without panes": (full, {f"{PARAMS}/select": ["window_end"]}, f"{PARAMS}/select/0", "unknown_field", ["'window_end'"]),
    "an unknown rule for event time": (
        full,
        {f"{PARAMS}/event_time": "window"},
        f"{PARAMS}/event_time",
        "unknown_value",
        ["event_time", "'window'", "'newest', 'trigger' or 'oldest'"],
    ),
    "lateness on the processing clock": (
        clocked,
        {f"{PARAMS}/lateness_ms": 20},
        f"{PARAMS}/lateness_ms",
        "no_lateness",
        ["lateness_ms", "20", "processing clock", "leave it out"],
    ),
    "lateness without panes": (
        full,
        {f"{PARAMS}/lateness_ms": 20},
        f"{PARAMS}/lateness_ms",
        "no_lateness",
        ["lateness_ms", "20", "no panes", "leave it out"],
    ),
    "negative lateness": (
        tumbling,
        {f"{PARAMS}/lateness_ms": -1},
        f"{PARAMS}/lateness_ms",
        "out_of_range",
        ["lateness_ms", "-1", "at least 0 ms"],
    ),
    "a late port where nothing is late": (
        clocked,
        {
            "/query/operators/-": {"id": "late", "kind": "sink"},
            "/query/edges/-": {"source": "join", "source_port": "late_left", "target": "late"},
        },
        "/query/edges/3/source_port",
        "unused_port",
        ["source_port", "'late_left'", "'join'", "use out"],
    ),
    "ends of panes on the processing clock": (
        clocked,
        {f"{PARAMS}/right_window_end": "time"},
        f"{PARAMS}/right_window_end",
        "no_panes",
        ["right_window_end", "'time'", "event clock"],
    ),
    "ends of panes that are texts": (
        tumbling,
        {f"{PARAMS}/left_window_end": "item"},
        f"{PARAMS}/left_window_end",
        "type_mismatch",
        ["left_window_end", "'item'", "string", "timestamp"],
    ),
    "ends of panes in an unknown field": (
        tumbling,
        {f"{PARAMS}/left_window_end": "expired"},
        f"{PARAMS}/left_window_end",
        "unknown_field",
        ["'expired'", "did you mean 'expires'"],
    ),
    "full history that never fires": (
        firing,
        {f"{PARAMS}/window": {"kind": "full_history"}},
        f"{PARAMS}/window/kind",
        "unknown_kind",
        ["'full_history'", "tumbling, sliding"],
    ),
    "a firing without window": (firing, {f"{PARAMS}/window": REMOVED}, f"{PARAMS}/window", "missing", ["window", "add it"]),
    "a slide longer than the window": (
        firing,
        {f"{PARAMS}/window/slide_s": 2},
        f"{PARAMS}/window/slide_s",
        "slide_too_long",
        ["slide_s", "2", "at most 1"],
    ),
    "an empty interval": (
        interval,
        {f"{PARAMS}/lower_s": 2.6},
        f"{PARAMS}/lower_s",
        "empty_interval",
        ["lower_s", "2.6", "above upper_s (2.5)", "at most"],
    ),
    "an interval without end": (interval, {f"{PARAMS}/upper_s": REMOVED}, f"{PARAMS}/upper_s", "missing", ["upper_s", "until", "give one"]),
    "an interval with two ends": (until, {f"{PARAMS}/upper_s": 4}, f"{PARAMS}/upper_s", "invalid", ["4", "'expires'", "give one"]),
    "an interval until a text": (until, {f"{PARAMS}/until": "item"}, f"{PARAMS}/until", "type_mismatch", ["'item'", "string", "timestamp"]),
    "an interval until nothing": (until, {f"{PARAMS}/until": "expiry"}, f"{PARAMS}/until", "unknown_field", ["'expiry'", "left input"]),
    "no time to live": (expiring, {f"{PARAMS}/ttl_s": 0}, f"{PARAMS}/ttl_s", "out_of_range", ["ttl_s", "0", "above 0 s"]),
    "a negative time to live": (expiring, {f"{PARAMS}/ttl_s": -300}, f"{PARAMS}/ttl_s", "out_of_range", ["ttl_s", "-300", "above 0 s"]),
    "an unknown rule for what is kept": (
        expiring,
        {f"{PARAMS}/keep_left": "matched"},
        f"{PARAMS}/keep_left",
        "unknown_value",
        ["keep_left", "'matched'", "'all', 'unmatched' or 'latest'"],
    ),
}


@pytest.mark.parametrize("document", [full, tumbling, clocked, firing, of_records, interval, until, expiring])
def test_what_the_cases_start_from_is_sound(document):
    assert validate(document(), CONTEXT) == []


@pytest.mark.parametrize(("document", "changes", "place", "code", "words"), CASES.values(), ids=CASES.keys())
def test_a_bad_join_gets_one_problem_where_it_is(document, changes, place, code, words):
    problems = validate(changed(document(), changes), CONTEXT)
    assert [(problem.pointer, problem.code) for problem in problems] == [(place, code)]
    for word in words:
        assert word in f"{problems[0].message} {problems[0].hint}", problems[0]


@pytest.mark.parametrize("kind", ["join", "window_join", "interval_join", "expiring_join"])
def test_a_join_with_several_instances_needs_its_keys_on_both_sides(kind):
    params: Document = {"window_join": {"window": SECOND}, "interval_join": {"upper_s": 1}, "expiring_join": {"ttl_s": 1}}.get(kind, {})
    document = changed(joined(kind, **params), {"/query/operators/2/parallelism": 2})
    for edge in document["query"]["edges"]:
        edge["partitioning"] = {"kind": "rebalance"}
    problems = validate(document, CONTEXT)
    assert [(problem.pointer, problem.code) for problem in problems] == [
        ("/query/edges/0/partitioning/kind", "wrong_key"),
        ("/query/edges/1/partitioning/kind", "wrong_key"),
    ]
    for edge, key in zip(document["query"]["edges"], ("id", "auction"), strict=False):
        edge["partitioning"] = {"kind": "hash", "key": key}
    assert validate(document, CONTEXT) == []

"""Warnings: a document is valid, but cannot give what it seems to ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.spec import Context, validate
from engine.spec.experiment.streams.nexmark import NexmarkAuction, NexmarkBid, NexmarkPerson
from tests.support.agreement import DATASETS, EXPERIMENTS, template


def windowed(kind: str, **params: Any) -> dict[str, Any]:
    """Bids without watermarks, counted by bidder."""
    document = template("nexmark_q12")
    (counts,) = (operator for operator in document["query"]["operators"] if operator["kind"] == "aggregate")
    counts |= {"kind": kind, "params": {"key": "bidder", "aggregates": [{"name": "count"}], **params}}
    for source in document["workload"]["sources"].values():
        source.pop("watermarks", None)
    return document


def warnings_of(document: dict[str, Any]) -> list[tuple[str, str]]:
    problems = validate(document, Context(datasets=DATASETS))
    assert all(problem.severity == "warning" for problem in problems), problems
    return [(problem.pointer, problem.code) for problem in problems]


NEVER_CLOSES = [("/workload/sources/bids/watermarks", "never_closes")]
TUMBLING = {"kind": "tumbling", "size_s": 1}


@pytest.mark.parametrize(
    ("kind", "params", "expected"),
    [
        ("aggregate", {"window": TUMBLING, "emit": "on_close"}, NEVER_CLOSES),
        ("session_aggregate", {"gap_s": 1}, NEVER_CLOSES),
        ("aggregate", {"window": TUMBLING, "emit": "on_update"}, []),
        ("aggregate", {"window": TUMBLING | {"clock": "processing"}, "emit": "on_close"}, []),
        ("session_aggregate", {"gap_s": 1, "clock": "processing"}, []),
    ],
)
def test_windows_that_no_watermark_closes(kind: str, params: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    document = windowed(kind, **params)
    assert warnings_of(document) == expected
    for source in document["workload"]["sources"].values():
        source["watermarks"] = {"kind": "bounded"}
    assert warnings_of(document) == []


def test_the_warning_names_source_and_operator() -> None:
    document = template("nexmark_q8_windows")
    document["workload"]["sources"]["auctions"].pop("watermarks")
    (problem,) = validate(document, Context(datasets=DATASETS))
    assert problem.pointer == "/workload/sources/auctions/watermarks"
    assert problem.message.startswith("source 'auctions' sends no watermarks, so the windows of 'join' never close and give no output")


def joined(template_name: str, horizon_s: float = 30.0, **per_s: float) -> dict[str, Any]:
    """A template at constant rates of its sources."""
    document = template(template_name)
    document["workload"]["horizon_s"] = horizon_s
    for id, rate in per_s.items():
        document["workload"]["sources"][id]["rate"] = {"kind": "constant", "per_s": rate}
    return document


def drifts(source: str) -> list[tuple[str, str]]:
    return [(f"/workload/sources/{source}/rate", "drifts_apart")]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        (joined("nexmark_q3", persons=1000, auctions=1000), drifts("auctions")),
        (joined("nexmark_q3", persons=1000, auctions=3000), []),
        (joined("nexmark_q3", persons=1000, auctions=9000), drifts("auctions")),
        (joined("nexmark_q3", horizon_s=6, persons=200, auctions=700), []),  # 200 people apart at the end: references still hit
        (joined("nexmark_q4", auctions=600, bids=600), drifts("bids")),
        (joined("nexmark_q4", auctions=600, bids=9200), []),
    ],
)
def test_nexmark_topics_that_are_joined_and_drift_apart(document: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert warnings_of(document) == expected


def test_the_warning_about_drift_says_at_which_rate_the_topics_stay_in_step() -> None:
    (problem,) = validate(joined("nexmark_q3", persons=1000, auctions=1000), Context(datasets=DATASETS))
    assert problem.message == (
        "the records of 'auctions' and 'persons', which 'join' joins, do not stay in step: by the end of the run 'auctions' refers to "
        "records of 'persons' that are long past, so fewer and fewer match; give 'auctions' 3 times the rate of 'persons'"
    )
    ahead = validate(joined("nexmark_q4", auctions=60, bids=9200), Context(datasets=DATASETS))[0].message
    assert "that do not exist yet" in ahead
    assert ahead.endswith("give 'bids' 46/3 times the rate of 'auctions'")


def test_new_nexmark_sources_are_in_step() -> None:
    """Of 50 events 1 is a person, 3 are auctions and 46 are bids: so are the rates of sources from the palette."""
    usual = [stream.usual_per_s for stream in (NexmarkPerson, NexmarkAuction, NexmarkBid)]
    assert [rate / usual[0] for rate in usual] == [1, 3, 46]


def test_topics_that_are_not_joined_may_drift_apart() -> None:
    document = joined("nexmark_q3", persons=1000, auctions=1000)
    query = document["query"]
    query["operators"] = [one for one in query["operators"] if one["kind"] != "join"] + [{"id": "other", "kind": "sink"}]
    names = {one["id"] for one in query["operators"]}
    query["edges"] = [edge for edge in query["edges"] if {edge["source"], edge["target"]} <= names]
    senders = {edge["source"] for edge in query["edges"]}
    ends = [one["id"] for one in query["operators"] if one["kind"] != "sink" and one["id"] not in senders]
    for end, sink in zip(ends, ("sink", "other"), strict=True):
        query["edges"].append({"source": end, "target": sink, "partitioning": {"kind": "rebalance"}})
    assert warnings_of(document) == []


@pytest.mark.parametrize("file", sorted(EXPERIMENTS.glob("*.yaml")), ids=lambda file: file.stem)
def test_no_template_has_a_warning(file: Path) -> None:
    assert warnings_of(yaml.safe_load(file.read_text())) == []

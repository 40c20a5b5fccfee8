"""Warnings: a document is valid, but cannot give what it seems to ask for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.spec import Context, validate
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


@pytest.mark.parametrize("file", sorted(EXPERIMENTS.glob("*.yaml")), ids=lambda file: file.stem)
def test_no_template_has_a_warning(file: Path) -> None:
    assert warnings_of(yaml.safe_load(file.read_text())) == []

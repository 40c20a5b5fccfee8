"""Small figures in place of those that come with Millrace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.spec.figure.files import FigureFiles
from webapp.lab import figures

TITLE = "How many come out"


def write(files: FigureFiles, id: str, check: str, **parts: Any) -> None:
    path = files.root / "figures" / f"{id}.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    query = {
        "operators": [{"id": "bids", "kind": "source"}, {"id": "sink", "kind": "sink"}],
        "edges": [{"source": "bids", "target": "sink"}],
    }
    workload = {"horizon_s": 2, "sources": {"bids": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 100}}}}
    experiment = {"query": query, "cluster": {"hosts": [{"name": "a"}]}, "workload": workload}
    document = {
        "format": 1,
        "id": id,
        "title": TITLE,
        "source": {"paper": "None"},
        "claim": "All of them.",
        "differs": "Nothing.",
        "studies": {"one": {"experiment": {"format": 1, **experiment}}},
        "values": {
            "out": {"kind": "metric", "study": "one", "metric": "records_out"},
            "rate": {"kind": "setting", "study": "one", "field": "/workload/sources/bids/rate/per_s"},
        },
        "assertions": [{"id": "M-1", "text": "As many as went in", "check": check}, {"id": "M-2", "text": "Some", "check": "out > 0"}],
        "drawing": {"panels": [{"series": [{"value": "out", "mark": "bars"}]}]},
    }
    path.write_text(yaml.safe_dump(document | parts))


def in_place_of_ours(folder: Path, monkeypatch: pytest.MonkeyPatch, checks: dict[str, str]) -> Iterator[FigureFiles]:
    """Files with one figure for each of these checks; the lab knows no others meanwhile."""
    files = FigureFiles(folder / "fixtures")
    for id, check in checks.items():
        write(files, id, check)
    monkeypatch.setattr(figures, "FILES", files)
    figures.read_again()
    yield files
    figures.read_again()

"""Experiments whose operators keep their state in a local store with a changelog."""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Literal

import yaml

from tests.support.agreement import ROOT

Layout = Literal["fold", "retain", "join"]
SECOND = 1_000_000_000


def stored(
    layout: Layout = "fold", horizon_s: float = 4.0, per_s: float = 500.0, cores: int = 8, commit_s: float = 1.5, **state: Any
) -> dict[str, Any]:
    """The windowed revenue, with one value for each key and window, or with all purchases retained; or purchases joined with ads."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "fixtures" / "experiments" / "incremental_fold.yaml").read_text())
    document["workload"]["horizon_s"] = horizon_s
    document["workload"]["sources"]["purchases"]["rate"] = {"kind": "constant", "per_s": per_s}
    document["cluster"]["hosts"][0]["cores"] = cores
    document["policies"]["state"] = {**document["policies"]["state"], "commit_s": commit_s, **state}
    params = document["query"]["operators"][1]["params"]
    if layout == "retain":
        params["evaluation"], params["aggregates"] = "at_firing", [{"name": "revenue", "function": "count"}]
    if layout == "join":
        _join(document)
    return document


def in_memory(document: dict[str, Any]) -> dict[str, Any]:
    """The same experiment without stores."""
    plain = deepcopy(document)
    del plain["policies"]["state"]
    return plain


def _join(document: dict[str, Any]) -> None:
    """Purchases and ads of a gem pack, the latest of each, for a second."""
    join = {"id": "pairs", "kind": "expiring_join", "parallelism": 2, "params": {"left_key": "gem_pack", "right_key": "gem_pack"}}
    join["params"] |= {"ttl_s": 1, "keep_left": "latest", "keep_right": "latest"}  # type: ignore[operator]
    document["query"] = {
        "operators": [
            {"id": "purchases", "kind": "source", "parallelism": 2},
            {"id": "ads", "kind": "source", "parallelism": 2},
            join,
            {"id": "output", "kind": "sink", "parallelism": 2},
        ],
        "edges": [
            {"source": "purchases", "target": "pairs", "target_port": "left", "partitioning": {"kind": "hash", "key": "gem_pack"}},
            {"source": "ads", "target": "pairs", "target_port": "right", "partitioning": {"kind": "hash", "key": "gem_pack"}},
            {"source": "pairs", "target": "output", "partitioning": {"kind": "forward"}},
        ],
    }
    sources = document["workload"]["sources"]
    sources["ads"] = {"stream": {"kind": "ad_shown", "gem_packs": 10}, "rate": sources["purchases"]["rate"]}

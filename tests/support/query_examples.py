"""Documents with named queries: a windowed count on a pool of cores, and the same with its copies written by hand."""

from __future__ import annotations

import copy
from typing import Any

Document = dict[str, Any]

OPERATORS = ("bids", "count", "sink")


def counting(horizon_s: float = 4.0, per_s: float = 200, cores: int = 2, **named: Any) -> Document:
    """Bids counted by auction over windows of a second. named: of the query `count-bids`, besides its name and operators."""
    window = {"kind": "tumbling", "size_s": 1}
    params = {"key": "auction", "window": window, "aggregates": [{"name": "n", "function": "count"}], "emit": "on_close"}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "bids", "kind": "source", "cost": {"record_us": 100}},
                {"id": "count", "kind": "aggregate", "params": params, "cost": {"record_us": 300, "output_us": 50}},
                {"id": "sink", "kind": "sink"},
            ],
            "edges": [
                {"source": "bids", "target": "count", "partitioning": {"kind": "hash", "key": "auction"}},
                {"source": "count", "target": "sink", "partitioning": {"kind": "forward"}},
            ],
            "queries": [{"name": "count-bids", "operators": list(OPERATORS), **named}],
        },
        "cluster": {"hosts": [{"name": "w", "cores": cores, "processor": {"kind": "pool"}}]},
        "workload": {
            "horizon_s": horizon_s,
            "drain": True,
            "sources": {
                "bids": {
                    "stream": {"kind": "nexmark_bid"},
                    "rate": {"kind": "constant", "per_s": per_s},
                    "watermarks": {"kind": "bounded", "period_ms": 200},
                }
            },
        },
    }


def by_hand(document: Document, starts_s: list[float]) -> Document:
    """The document of `counting` with one query for each start, each with operators of its own."""
    written = copy.deepcopy(document)
    query, sources = written["query"], written["workload"]["sources"]
    names = range(1, len(starts_s) + 1)
    query["operators"] = [{**operator, "id": f"{operator['id']}-{n}"} for operator in query["operators"] for n in names]
    query["edges"] = [{**edge, **{end: f"{edge[end]}-{n}" for end in ("source", "target")}} for edge in query["edges"] for n in names]
    query["queries"] = [
        {"name": f"count-bids-{n}", "operators": [f"{id}-{n}" for id in OPERATORS], "start_s": start_s}
        for n, start_s in zip(names, starts_s, strict=True)
    ]
    written["workload"]["sources"] = {f"bids-{n}": sources["bids"] for n in names}
    return written

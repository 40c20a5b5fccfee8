"""Small experiments under engines: windowed sums of purchases, fed by a driver."""

from __future__ import annotations

from typing import Any

Document = dict[str, Any]


def windowed_sum(
    per_s: float,
    hosts: int = 2,
    sources: int = 8,
    slots: int = 16,
    horizon_s: float = 40.0,
    size_s: float = 8.0,
    slide_s: float = 4.0,
    engine: str = "flink",
    scale: int = 1000,
) -> Document:
    """The sum of the prices of each gem pack, under an engine. Rates are of real records."""
    window = {"kind": "sliding", "size_s": size_s, "slide_s": slide_s, "clock": "event"}
    total = {"name": "price", "function": "sum", "field": "price"}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "purchases", "kind": "source", "parallelism": sources},
                {
                    "id": "sum",
                    "kind": "aggregate",
                    "parallelism": slots,
                    "params": {"key": "gem_pack", "window": window, "aggregates": [total], "emit": "on_close"},
                },
                {"id": "sink", "kind": "sink"},
            ],
            "edges": [
                {"source": "purchases", "target": "sum", "partitioning": {"kind": "hash", "key": "gem_pack"}},
                {"source": "sum", "target": "sink", "partitioning": {"kind": "rebalance"}},
            ],
        },
        "cluster": {"hosts": [{"name": "w", "count": hosts, "cores": 16, "processor": {"kind": "pool"}}]},
        "workload": {
            "horizon_s": horizon_s,
            "drain": False,
            "scale": scale,
            "sources": {
                "purchases": {
                    "stream": {"kind": "purchase", "gem_packs": 64},
                    "rate": {"kind": "constant", "per_s": per_s},
                    "watermarks": {"kind": "device", "lag_ms": 0, "period_ms": 20},
                }
            },
        },
        "policies": {"engine": {"kind": engine}},
        "measurement": {
            "frame_ms": 500,
            "latency": {"from": "event", "anchor": "newest"},
            "also": [{"name": "processing", "from": "ingest", "anchor": "newest"}],
        },
    }

"""Small documents whose services can be reckoned by hand."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

import engine
from engine.core import layout as L


def chains_on_a_host(
    processor: dict[str, Any], cores: float, chains: int, *, gap_ms: float = 1000.0, service_ms: float = 10.0
) -> dict[str, Any]:
    """Chains of a source and a sink on one host. Each source gets a record every `gap_ms`; only the source's service takes time."""
    cost = {"record_us": service_ms * 1000, "output_us": 0.0, "control_us": 0.0}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": f"{kind}{n}", "kind": kind, "cost": cost if kind == "source" else {**cost, "record_us": 0.0}}
                for n in range(chains)
                for kind in ("source", "sink")
            ],
            "edges": [{"source": f"source{n}", "target": f"sink{n}", "partitioning": {"kind": "forward"}} for n in range(chains)],
        },
        "cluster": {"hosts": [{"name": "h", "processor": processor, "cores": cores}]},
        "workload": {
            "horizon_s": 2.0,
            "drain": True,
            "sources": {
                f"source{n}": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 1000.0 / gap_ms}}
                for n in range(chains)
            },
        },
        "policies": {"flow_control": {"kind": "unbounded"}},
    }


def first_services(simulation: engine.Simulation, after_ns: int = -1) -> list[tuple[int, int]]:
    """(start, end) of each source's first service that starts after a time."""
    rows = simulation.service_trace()
    inst = simulation._world.arrays.inst
    rows = rows[rows[:, 1] > after_ns]
    return [tuple(rows[rows[:, 0] == i][0, 1:3].tolist()) for i in np.flatnonzero(inst[:, L.I_SOURCE] == 1)]


def with_memory(document: dict[str, Any], **memory: Any) -> dict[str, Any]:
    """A copy of the document whose hosts all have this budget."""
    changed = copy.deepcopy(document)
    for host in changed["cluster"]["hosts"]:
        host["memory"] = {"kind": "budget", **memory}
    return changed


def line(per_s: float = 1000.0, horizon_s: float = 0.1, sink_us: float = 3000.0, **host: Any) -> dict[str, Any]:
    """A source of 100-byte bids and a sink, each with a core of its own on one host; the source takes 10 us, the sink 3 ms."""
    source = {"stream": {"kind": "nexmark_bid", "hot_ratio": 0.0}, "rate": {"kind": "constant", "per_s": per_s}}
    free = {"output_us": 0.0, "control_us": 0.0}
    return {
        "format": 1,
        "query": {
            "operators": [
                {"id": "source", "kind": "source", "parallelism": 1, "params": {}, "cost": {"record_us": 10.0, **free}},
                {"id": "sink", "kind": "sink", "parallelism": 1, "params": {}, "cost": {"record_us": sink_us, **free}},
            ],
            "edges": [{"source": "source", "target": "sink", "partitioning": {"kind": "forward"}}],
        },
        "cluster": {"local_latency_ns": 1000, "hosts": [{"name": "h", "cores": 2, "processor": {"kind": "dedicated"}, **host}]},
        "workload": {"seed": 1, "horizon_s": horizon_s, "sources": {"source": source}},
        "measurement": {"frame_ms": 10},
    }

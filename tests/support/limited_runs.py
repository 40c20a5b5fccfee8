"""Runs whose limit was put in on purpose, with what a diagnosis ought to say of them.

Each is the same small query, four sources of bids, a map, a count by bidder and a sink, on roomy hosts with one thing in short supply.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, NamedTuple

from engine.diagnosis.limit import LimitKind

PER_S = 4000
ROOMY = {"processor": {"kind": "dedicated"}, "cores": 16, "egress_mbit_per_s": 1000, "egress_latency_ms": 0.5}
SLOWER = {"kind": "points", "points": [{"share": 0.8, "factor": 1}, {"share": 0.9, "factor": 8}]}
CHEAP = {"record_us": 1, "output_us": 0, "control_us": 1}


def plain() -> dict[str, Any]:
    """The run that nothing limits."""
    return {
        "format": 1,
        "name": "Limits",
        "query": {
            "operators": [
                {"id": "bids", "kind": "source", "parallelism": 4, "cost": CHEAP},
                {
                    "id": "price",
                    "kind": "project",
                    "parallelism": 2,
                    "params": {"fields": [{"field": "bidder"}, {"field": "price"}]},
                    "cost": CHEAP,
                },
                {
                    "id": "count",
                    "kind": "aggregate",
                    "parallelism": 4,
                    "params": {
                        "key": "bidder",
                        "window": {"kind": "tumbling", "size_s": 1},
                        "aggregates": [{"name": "n", "function": "count"}],
                        "emit": "on_close",
                    },
                    "cost": CHEAP,
                },
                {"id": "sink", "kind": "sink", "parallelism": 1, "cost": CHEAP},
            ],
            "edges": [
                {"source": "bids", "target": "price", "partitioning": {"kind": "rebalance"}},
                {"source": "price", "target": "count", "partitioning": {"kind": "hash", "key": "bidder"}},
                {"source": "count", "target": "sink", "partitioning": {"kind": "rebalance"}},
            ],
        },
        "cluster": {"hosts": [{"name": "reader", **ROOMY}, {"name": "worker", **ROOMY}, {"name": "other", **ROOMY}]},
        "placement": {"kind": "explicit", "hosts": {"bids": ["reader"], "price": ["worker"], "count": ["worker"], "sink": ["other"]}},
        "workload": {
            "seed": 3,
            "horizon_s": 6.0,
            "warmup_s": 0.0,
            "sources": {
                "bids": {
                    "stream": {"kind": "nexmark_bid", "hot_ratio": 0.0},
                    "rate": {"kind": "constant", "per_s": PER_S},
                    "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 100},
                }
            },
        },
        "policies": {"flow_control": {"kind": "unbounded"}},
        "measurement": {"frame_ms": 250},
    }


class Limited(NamedTuple):
    """kind: what a diagnosis ought to say. operator, host, link: where. relieved_by: name of a remedy after which something else limits
    the run, or more records pass."""

    document: dict[str, Any]
    kind: LimitKind
    operator: str | None = None
    host: str | None = None
    link: tuple[str, ...] = ()
    relieved_by: str | None = None


def _costing(document: dict[str, Any], operator: str, record_us: float) -> None:
    for spec in document["query"]["operators"]:
        if spec["id"] == operator:
            spec["cost"] = {**CHEAP, "record_us": record_us}


def _host(document: dict[str, Any], name: str, **values: Any) -> None:
    next(host for host in document["cluster"]["hosts"] if host["name"] == name).update(values)


def _operator(document: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(spec for spec in document["query"]["operators"] if spec["id"] == name)
    return found


def _credits(document: dict[str, Any], per_channel: int) -> None:
    document["policies"]["flow_control"] = {"kind": "credits", "per_channel": per_channel}


def limited_runs() -> dict[str, Limited]:
    """Return the runs by name."""
    runs: dict[str, Limited] = {}

    runs["nothing"] = Limited(plain(), LimitKind.NOTHING)

    document = plain()
    _costing(document, "price", 400)
    runs["nothing, though instances are busy 80 %"] = Limited(document, LimitKind.NOTHING)

    document = plain()
    _operator(document, "price")["parallelism"] = 1
    _costing(document, "price", 400)
    runs["the only instance"] = Limited(document, LimitKind.INSTANCES, "price", "worker", relieved_by="instances")

    document = plain()
    _costing(document, "count", 1500)
    runs["all instances"] = Limited(document, LimitKind.INSTANCES, "count", "worker", relieved_by="instances")

    document = deepcopy(document)
    document["query"]["edges"][1]["partitioning"]["scheme"] = "modulo"
    _credits(document, 32)
    runs["all instances, with backpressure"] = Limited(document, LimitKind.INSTANCES, "count", "worker", relieved_by="instances")

    document = plain()
    _costing(document, "price", 600)
    _costing(document, "count", 1400)
    runs["two in a row, the second slower"] = Limited(document, LimitKind.INSTANCES, "count", "worker")

    document = plain()
    _costing(document, "price", 1000)
    _costing(document, "count", 1000)
    runs["two in a row, the second as fast"] = Limited(document, LimitKind.INSTANCES, "price", "worker", relieved_by="instances")

    document = plain()
    document["workload"]["sources"]["bids"]["stream"]["hot_ratio"] = 0.9
    _costing(document, "count", 400)
    runs["one instance by skew"] = Limited(document, LimitKind.SKEW, "count", "worker", relieved_by="speed")

    document = deepcopy(document)
    _credits(document, 16)
    runs["one instance by skew, with backpressure"] = Limited(document, LimitKind.SKEW, "count", "worker", relieved_by="speed")

    document = plain()
    _host(document, "worker", processor={"kind": "shared_fifo"}, cores=1)
    _costing(document, "price", 150)
    _costing(document, "count", 150)
    runs["a shared core"] = Limited(document, LimitKind.CORES, None, "worker", relieved_by="cores")

    document = deepcopy(document)
    _host(document, "worker", processor={"kind": "pool"}, cores=2, speed=0.5)
    runs["a pool of cores"] = Limited(document, LimitKind.CORES, None, "worker", relieved_by="cores")

    document = deepcopy(document)
    _host(document, "worker", processor={"kind": "processor_sharing"}, cores=1.1, speed=0.9)
    runs["cores shared by threads"] = Limited(document, LimitKind.CORES, None, "worker", relieved_by="cores")

    document = plain()
    document["placement"]["hosts"]["count"] = ["worker", "other"]
    _host(document, "other", speed=0.2)
    _costing(document, "count", 300)
    runs["a slow host"] = Limited(document, LimitKind.CORES, "count", "other", relieved_by="speed")

    document = plain()
    _costing(document, "bids", 1200)
    runs["the source"] = Limited(document, LimitKind.SOURCE, "bids", "reader", relieved_by="instances")

    document = plain()
    _host(document, "reader", egress_mbit_per_s=1)
    runs["an outgoing link"] = Limited(document, LimitKind.LINK, "bids", None, ("reader",))

    document = plain()
    document["cluster"]["links"] = [{"source": "reader", "target": "worker", "mbit_per_s": 1}]
    runs["a link"] = Limited(document, LimitKind.LINK, "bids", None, ("reader", "worker"))

    document = plain()
    document["cluster"]["trunks"] = [{"name": "uplink", "mbit_per_s": 1, "sources": ["reader"], "targets": ["worker"]}]
    runs["a trunk"] = Limited(document, LimitKind.LINK, "bids", None, ("uplink",))

    document = plain()
    _host(document, "reader", egress_latency_ms=20)
    _host(document, "worker", egress_latency_ms=20)
    _credits(document, 4)
    runs["credits"] = Limited(document, LimitKind.CREDITS, "bids", None, relieved_by="credits")

    document = plain()
    _host(
        document,
        "worker",
        memory_mb=10,
        memory={"kind": "budget", "base_mb": 9, "on_full": "nothing", "slow_down": SLOWER},
    )
    _costing(document, "count", 300)
    runs["the collector"] = Limited(document, LimitKind.COLLECTOR, None, "worker", relieved_by="memory")

    document = plain()
    document["policies"]["checkpointing"] = {"kind": "coordinated", "interval_s": 0.5, "capture_ms": 400}
    _costing(document, "count", 700)
    runs["checkpoints"] = Limited(document, LimitKind.PROTOCOL, None, "worker", relieved_by="interval")

    document = plain()
    document["faults"] = [{"kind": "pause", "host": "worker", "when": {"kind": "at", "at_s": 1}, "for_ms": 10_000}]
    runs["a paused host"] = Limited(document, LimitKind.FAULT, None, "worker", relieved_by="no-faults")

    document = plain()
    document["faults"] = [{"kind": "partition", "sources": ["reader"], "targets": ["worker"], "from_s": 1}]
    runs["a cut link"] = Limited(document, LimitKind.FAULT, relieved_by="no-faults")

    document = plain()
    document["placement"]["hosts"]["bids"] = ["reader", "other"]
    _host(document, "other", egress_latency_ms=1500)
    document["policies"]["checkpointing"] = {"kind": "coordinated", "interval_s": 1.6}
    runs["barriers on a long way"] = Limited(document, LimitKind.PROTOCOL, "price", "worker", relieved_by="unaligned")

    document = plain()
    document["policies"]["checkpointing"] = {"kind": "coordinated", "interval_s": 1, "restart_ms": 5000}
    document["faults"] = [{"kind": "host_loss", "host": "worker", "when": {"kind": "at", "at_s": 1.5}, "restart_after_s": 0.1}]
    runs["a recovery"] = Limited(document, LimitKind.RECOVERY, relieved_by="no-faults")

    document = plain()
    document["policies"]["scaling"] = {
        "kind": "manual",
        "workers_max": 20,
        "rescaling": {"kind": "stop_and_restart", "restart_s": 20},
        "orders": [{"at_s": 1, "parallelism": {"price": 4}}],
    }
    runs["a rescale"] = Limited(document, LimitKind.RESCALE)

    document = plain()
    for operator in document["query"]["operators"]:
        operator["parallelism"] = 1
    document["policies"]["scaling"] = {"kind": "move", "moves": [{"at_s": 1, "hosts": {"price": "other"}}]}
    runs["a move"] = Limited(document, LimitKind.RESCALE)

    document = plain()
    _operator(document, "price")["parallelism"] = 1
    _costing(document, "price", 400)
    document["workload"]["sources"]["bids"]["rate"] = {"kind": "steps", "steps": [{"at_s": 0, "per_s": 100}, {"at_s": 5.5, "per_s": 8000}]}
    runs["a burst at the end"] = Limited(document, LimitKind.UNCLEAR)
    return runs

"""Jobs whose outputs tell whether each record counted just once, whatever was lost on the way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tests import corner_cases

Document = dict[str, Any]
KEYS = 4


def counting(horizon_s: float = 0.3, per_s: float = 8000.0, protocol: Document | None = None, hosts: int = 4) -> Document:
    """Counts by key, each count hashed on to a sink (Siachamis 2024, artifact: the job *count*)."""
    narrow = [{"name": "bidder", "expression": f"bidder % {KEYS}"}]
    operators = [
        {"id": "bids", "kind": "source", "parallelism": hosts},
        {"id": "keys", "kind": "map", "parallelism": hosts, "params": {"fields": narrow}},
        {"id": "counts", "kind": "aggregate", "parallelism": hosts, "params": {"key": "bidder", "aggregates": [{"name": "count"}]}},
        {"id": "sink", "kind": "sink", "parallelism": hosts},
    ]
    edges = [
        {"source": "bids", "target": "keys"},
        {"source": "keys", "target": "counts", "partitioning": {"kind": "hash", "key": "bidder", "scheme": "modulo"}},
        {"source": "counts", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    made = corner_cases.document(
        operators, edges, [corner_cases.host("w", count=hosts)], {"bids": corner_cases.bids(per_s)}, horizon_s=horizon_s
    )
    made["workload"] |= {"drain": True}
    return with_protocol(made, protocol or coordinated())


def joining(horizon_s: float = 0.3, per_s: float = 3000.0, protocol: Document | None = None, hosts: int = 3) -> Document:
    """All pairs of auctions and bids of one auction, by way of a union and a rebalanced edge."""
    operators = [
        {"id": "auctions", "kind": "source", "parallelism": hosts},
        {"id": "bids", "kind": "source", "parallelism": 2},
        {"id": "some", "kind": "filter", "parallelism": hosts, "params": {"predicate": "price % 3 != 0"}},
        {"id": "pairs", "kind": "join", "parallelism": hosts, "params": {"left_key": "id", "right_key": "auction"}},
        {"id": "sink", "kind": "sink"},
    ]
    edges = [
        {"source": "bids", "target": "some", "partitioning": {"kind": "rebalance"}},
        {"source": "auctions", "target": "pairs", "target_port": "left", "partitioning": {"kind": "hash", "key": "id"}},
        {"source": "some", "target": "pairs", "target_port": "right", "partitioning": {"kind": "hash", "key": "auction"}},
        {"source": "pairs", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    auctions = corner_cases.bids(per_s) | {"stream": {"kind": "nexmark_auction"}}
    sources = {"auctions": auctions, "bids": corner_cases.bids(per_s)}
    made = corner_cases.document(operators, edges, [corner_cases.host("w", count=hosts)], sources, horizon_s=horizon_s)
    made["workload"] |= {"drain": True}
    return with_protocol(made, protocol or coordinated())


def circling(horizon_s: float = 0.3, per_s: float = 1500.0, protocol: Document | None = None, hosts: int = 3) -> Document:
    """Counts by key of records that go round twice or four times, by changing keys."""
    enter = [{"name": "key", "expression": "bidder"}, {"name": "hops", "expression": "bidder % 2 * 2 + 2"}]
    step = [{"name": "key", "expression": "key * 7 + 3"}, {"name": "hops", "expression": "hops - 1"}]
    operators = [
        {"id": "bids", "kind": "source", "parallelism": 2},
        {"id": "enter", "kind": "map", "parallelism": 2, "params": {"fields": enter}},
        {"id": "step", "kind": "map", "parallelism": hosts, "params": {"fields": step}},
        {"id": "counts", "kind": "aggregate", "parallelism": hosts, "params": {"key": "hops", "aggregates": [{"name": "count"}]}},
        {"id": "again", "kind": "filter", "parallelism": hosts, "params": {"predicate": "hops > 0"}},
        {"id": "sink", "kind": "sink"},
    ]
    hashed = {"kind": "hash", "key": "key"}
    edges = [
        {"source": "bids", "target": "enter"},
        {"source": "enter", "target": "step", "partitioning": hashed},
        {"source": "step", "target": "again"},
        {"source": "again", "target": "step", "partitioning": hashed, "feedback": True},
        {"source": "step", "target": "counts", "partitioning": {"kind": "hash", "key": "hops"}},
        {"source": "counts", "target": "sink", "partitioning": {"kind": "rebalance"}},
    ]
    sources = {"bids": corner_cases.bids(per_s)}
    made = corner_cases.document(operators, edges, [corner_cases.host("w", count=hosts)], sources, horizon_s=horizon_s)
    made["workload"] |= {"drain": True}
    return with_protocol(made, protocol or uncoordinated())


def coordinated(**more: Any) -> Document:
    """Rounds every 40 ms, quick to restart."""
    return {"kind": "coordinated", "interval_s": 0.04, "restart_ms": 3, "capture_ms": 0.05, "store": {"request_ms": 1.0}} | more


def coordinated_unaligned(**more: Any) -> Document:
    """The same, unaligned."""
    return coordinated(**more) | {"kind": "coordinated_unaligned", "replay_us": 0.5}


def uncoordinated(**more: Any) -> Document:
    """Each worker every 30, 40 or 50 ms, quick to restart."""
    interval_s = more.get("interval_s", 0.04)
    quick = {"open_log_ms": 0.01, "replay_us": 0.5, "jitter_s": interval_s / 4, "capture_ms": 0.05, "restart_ms": 3}
    return {"kind": "uncoordinated", "interval_s": interval_s, "store": {"request_ms": 1.0}} | quick | more


def communication_induced(**more: Any) -> Document:
    """The same, with forced checkpoints."""
    return uncoordinated(**more) | {"kind": "communication_induced"}


def hybrid(*regions: Sequence[str], **more: Any) -> Document:
    """As uncoordinated, but these operators take rounds together; without any: the default."""
    written = [{"name": operators[0], "operators": list(operators)} for operators in regions]
    return uncoordinated(**more) | {"kind": "hybrid"} | ({"regions": written} if regions else {})


def with_protocol(document: Document, protocol: Document) -> Document:
    return document | {"policies": {**document.get("policies", {}), "checkpointing": protocol}}


def loss(host: str, at_s: float, restart_after_s: float | None = 0.02) -> Document:
    return {"kind": "host_loss", "host": host, "when": {"kind": "at", "at_s": at_s}, "restart_after_s": restart_after_s}


def with_losses(document: Document, losses: Sequence[Document]) -> Document:
    return document | {"faults": [*document.get("faults", []), *losses]}


def without_losses(document: Document) -> Document:
    return document | {"faults": [fault for fault in document.get("faults", []) if fault["kind"] != "host_loss"]}

"""Rows of queues whose capacity is known, and searches for it."""

from __future__ import annotations

import itertools
from typing import Any

from tests.support.corner_cases import bids, document, host

FREE = {"record_us": 0, "output_us": 0, "control_us": 0}
SOURCE = {"id": "bids", "kind": "source", "cost": FREE}


def sink(record_us: float, **more: Any) -> dict[str, Any]:
    return {"id": "sink", "kind": "sink", "cost": {**FREE, "record_us": record_us, **more}}


def queue(*operators: dict[str, Any], machine: dict[str, Any], horizon_s: float = 160.0, **parts: Any) -> dict[str, Any]:
    """A source and operators in a row, each by itself or on the same cores."""
    row = [SOURCE, *operators]
    edges = [{"source": one["id"], "target": other["id"], "partitioning": {"kind": "rebalance"}} for one, other in itertools.pairwise(row)]
    made = document(row, edges, [machine], {"bids": bids(100.0)}, horizon_s=horizon_s, measurement={"frame_ms": 500}, **parts)
    made["workload"]["drain"] = False
    return made


def searched(experiment: dict[str, Any], least: float, most: float, **parts: Any) -> dict[str, Any]:
    values = {"kind": "between", "from": least, "to": most}
    load = {"name": "load", "fields": ["/workload/sources/bids/rate/per_s"], "values": values}
    return {"experiment": experiment, "search": {"kind": "sustainable", "load": load, **parts}}


SMALL = queue(sink(2000), machine=host("a"), horizon_s=40.0)

"""Experiments whose operators keep their state in a local store with a changelog."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any, Literal

import yaml

ROOT = Path(__file__).parents[2]
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


def apart(document: dict[str, Any]) -> dict[str, Any]:
    """The same with its results going to another host."""
    changed = deepcopy(document)
    hosts = changed["cluster"]["hosts"]
    hosts.append({**hosts[0], "name": "out"})
    operators = [(one["id"], one.get("parallelism", 1)) for one in changed["query"]["operators"]]
    placed = {id: ["out" if id == "output" else "node02"] * count for id, count in operators}
    changed["placement"] = {"kind": "explicit", "hosts": placed}
    return changed


def crashing(document: dict[str, Any], at_s: float, kind: str = "process_crash", restart_after_s: float = 0.3) -> dict[str, Any]:
    """The same, and a loss of the first host. Nothing comes in the last two seconds, so that all windows end."""
    changed = apart(document)
    for source in changed["workload"]["sources"].values():
        per_s, until_s = source["rate"]["per_s"], changed["workload"]["horizon_s"] - 2
        source["rate"] = {"kind": "steps", "steps": [{"at_s": 0, "per_s": per_s}, {"at_s": until_s, "per_s": 0}]}
    changed["faults"] = [{"kind": kind, "host": "node02", "when": {"kind": "at", "at_s": at_s}, "restart_after_s": restart_after_s}]
    return changed


def replayed(
    horizon_s: float = 5.0, per_s: float = 400.0, senders: int = 1, tasks: int = 1, until_s: float | None = None, **state: Any
) -> dict[str, Any]:
    """The windowed revenue by event time, on three hosts: purchases come from the first, windows are on the second, which keeps them in an
    output log, and results go to the third. Purchases end two seconds before the run, or at another time."""
    document = stored(horizon_s=horizon_s)
    source, revenue, sink = document["query"]["operators"]
    source["parallelism"], revenue["parallelism"], sink["parallelism"] = senders, tasks, 1
    revenue["params"]["window"] = {"kind": "tumbling", "size_s": 1, "clock": "event"}
    document["query"]["edges"][1]["partitioning"] = {"kind": "rebalance"}
    host = document["cluster"]["hosts"][0]
    document["cluster"]["hosts"] = [{**host, "name": name} for name in ("in", "work", "out")]
    hosts = {"purchases": ["in"] * senders, "revenue": ["work"] * tasks, "output": ["out"]}
    document["placement"] = {"kind": "explicit", "hosts": hosts}
    purchases = document["workload"]["sources"]["purchases"]
    until_s = horizon_s - 2 if until_s is None else until_s
    purchases["rate"] = {"kind": "steps", "steps": [{"at_s": 0, "per_s": per_s}, {"at_s": until_s, "per_s": 0}]}
    purchases["watermarks"] = {"kind": "bounded", "lag_ms": 0, "period_ms": 100}
    document["policies"]["state"] = {"kind": "continuous_eventual", "key_text": "gemPackID", "value_bytes": 4, **state}
    return document


def losing(document: dict[str, Any], *at_s: float, restart_after_s: float = 0.2) -> dict[str, Any]:
    """The same, and losses of the host with the windows."""
    fault = {"kind": "process_crash", "host": "work", "restart_after_s": restart_after_s}
    return {**document, "faults": [{**fault, "when": {"kind": "at", "at_s": round(at, 6)}} for at in at_s]}


def mirrored(horizon_s: float = 5.0, per_s: float = 400.0, tasks: int = 1, until_s: float | None = None, **state: Any) -> dict[str, Any]:
    """The same windows in memory, and with a standby on a fourth host."""
    document = replayed(horizon_s, per_s, 1, tasks, until_s)
    operators, edges = document["query"]["operators"], document["query"]["edges"]
    operators.append({**operators[1], "id": "standby"})
    edges += [{**edges[0], "target": "standby"}, {**edges[1], "source": "standby"}]
    document["cluster"]["hosts"].append({**document["cluster"]["hosts"][0], "name": "spare"})
    document["placement"]["hosts"]["standby"] = ["spare"] * tasks
    pairs = [{"operator": "revenue", "standby": "standby"}]
    document["policies"]["state"] = {"kind": "active_standby", "pairs": pairs, "takeover_ms": 200, **state}
    return document


def one_task(document: dict[str, Any]) -> dict[str, Any]:
    """The same with one instance of each operator."""
    changed = deepcopy(document)
    for operator in changed["query"]["operators"]:
        operator["parallelism"] = 1
    return changed


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

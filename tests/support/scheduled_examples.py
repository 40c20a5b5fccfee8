"""Statistics of hosts as a scheduler would see them, and experiments with several queries for few cores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from engine.core import layout as L
from engine.scheduling.statistics import History, InputStatistics, Statistics
from engine.scheduling.tasks import Input, Tasks

from .query_examples import counting

S = 1_000_000_000
Chain = Sequence[tuple[float, float, int]]
"""Of each task behind the source its cost in s, selectivity, and items that wait."""


def told(
    chains: Sequence[Chain],
    deadlines_s: Sequence[float],
    now_s: float = 0,
    cycle_s: float = 1,
    cores: int = 1,
    heads_s: Sequence[float] = (),
    used_bytes: int = 0,
    budget_bytes: int | None = None,
    fires: bool = True,
    windows: Sequence[str] = (),
) -> Statistics:
    """Queries `a`, `b`, ... of one source and a chain of tasks each, the last of which fires if it keeps everything. Their watermarks come
    just at their deadlines. heads_s: since when the oldest item of each query waits. windows: further tasks that fire."""
    query, level, ids, sent = [], [], [], []
    for q, chain in enumerate(chains):
        for k in range(len(chain) + 1):
            if k:
                sent.append(len(ids) - 1)
            ids.append(f"{'abcdefgh'[q]}{k}")
            query.append(q)
            level.append(k)
    rows = [row for chain in chains for row in [(0.0, 1.0, 0), *chain]]
    cost, selectivity, queued = (np.array(column) for column in zip(*rows, strict=True))
    is_source = np.array(level) == 0
    last = np.array([k + 1 == len(level) or level[k + 1] == 0 for k in range(len(level))])
    count = len(ids)
    inputs = tuple(Input(q, q, 0, ((round(at_s * S), 1 << 60),), 0, 0, np.zeros(0, np.int64)) for q, at_s in enumerate(deadlines_s))
    tasks = Tasks(
        host=0,
        name="w",
        cores=cores,
        budget_bytes=budget_bytes,
        names=tuple("abcdefgh"[: len(chains)]),
        ids=tuple(ids),
        query=np.array(query),
        level=np.array(level),
        is_source=is_source,
        fires=last & (selectivity == 0) & fires | np.isin(ids, windows),
        parallelism=np.ones(count, np.int64),
        instances=np.arange(count),
        task_of=np.arange(count),
        sent=np.array(sent),
        received=np.array(sent) + 1,
        inputs=inputs,
    )
    heads = np.array([heads_s[q] * S if heads_s else 0 for q in query]).astype(np.int64)
    return Statistics(
        now_ns=round(now_s * S),
        cycle_ns=round(cycle_s * S),
        tasks=tasks,
        cost_ns=cost * S,
        selectivity=selectivity.astype(np.float64),
        queued=queued.astype(np.int64),
        queued_bytes=queued.astype(np.int64),
        head_ns=np.where((queued > 0) & ~is_source, heads, L.FAR),
        watermark_ns=np.full(count, -L.FAR),
        fired=np.zeros(count),
        firing_ns=np.zeros(count),
        used_bytes=used_bytes,
        inputs=[
            InputStatistics(q, 0, -L.FAR, History(-1, -1, 0, 0.0, 0.0, 0.0), 0.0, 0.0, round(at_s * S), 0, -1, 0, 0)
            for q, at_s in enumerate(deadlines_s)
        ],
        elsewhere_ns=np.zeros(len(chains)),
    )


def contended(
    kind: str = "klink", copies: int = 6, per_s: float = 800, horizon_s: float = 6, cores: int = 2, window_s: float = 1, **params: Any
) -> dict[str, Any]:
    """Queries that need 2.6 cores of two: windows of a second, watermarks of the devices that overtake one another."""
    document = counting(horizon_s=horizon_s, per_s=per_s, copies=copies, cores=cores, start_within_s=0.9 * window_s)
    document["query"]["operators"][1]["params"]["window"]["size_s"] = window_s
    document["query"]["operators"][1]["cost"]["record_us"] = 450
    document["workload"]["sources"]["bids"] |= {
        "disorder": {"kind": "uniform", "max_ms": 200},
        "watermarks": {"kind": "device", "lag_ms": 200, "period_ms": 100},
    }
    document["policies"] = {"scheduling": {"kind": kind, **params}}
    document["measurement"] = {
        "also": [{"name": "swept", "from": "ingest", "to": "watermark"}, {"name": "behind", "from": "event", "to": "watermark"}]
    }
    return document


def chained(hosts: int = 2, **params: Any) -> dict[str, Any]:
    """The queries of `contended` with their operators on hosts `w1`, `w2`, ... in turn: sources on the first one, sinks on the last."""
    document = contended(**params)
    (machine,) = document["cluster"]["hosts"]
    document["cluster"]["hosts"] = [machine | {"name": f"w{n + 1}"} for n in range(hosts)]
    names = {"bids": "w1", "count": "w2", "sink": f"w{hosts}"}
    document["placement"] = {"kind": "explicit", "hosts": {id: [name] for id, name in names.items()}}
    return document

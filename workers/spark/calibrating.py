"""Measures what micro-batches of Structured Streaming take on this machine: `manage.py calibrate`.

Small queries over Bids of NEXMark, each at two sizes of its micro-batches. What a record takes is the difference, over the difference of
the records; what is left without records are overheads, which queries with one, two and eight partitions of state tell apart. All come
from medians over micro-batches, once Java has compiled the query.
"""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from engine.export import write
from engine.export.calibration import Calibration
from engine.export.files import PYSPARK
from engine.spec.rules.validation import Context, load

from .streaming import BatchLog, drained, stream

Document = dict[str, Any]
Told = Callable[[str], None]

BATCHES, FIRST = 16, 5
"""Micro-batches of a measurement, and how many of them do not count: Java still compiles the query."""
FEW, MANY, MANY_WITH_STATE = 500, 300_000, 30_000
"""Records of a micro-batch, of all sources."""
PARTITIONS = 4
KEYS = 1_000
PLANNING = ("latestOffset", "getBatch", "queryPlanning", "walCommit")
COMMIT = "commitOffsets"
WORK = "addBatch"


@dataclass(frozen=True)
class Measured:
    """Medians over micro-batches, in ms: planning, the work on records, and the commit. spread: of the work, interquartile range over
    median. records: of a micro-batch."""

    planning_ms: float
    work_ms: float
    commit_ms: float
    spread: float
    records: float


def calibrate(spark: Any, told: Told) -> Calibration:
    """Measure, for some minutes. told: called with what is measured next. Raises Spark's errors, OSError."""
    began = busy_time()
    found: dict[str, Measured] = {}

    def measure(name: str, query: Document, partitions: int = PARTITIONS) -> Measured:
        told(name)
        found[name] = _measured(spark, query, partitions)
        return found[name]

    warm_up(spark, told)
    nothing, read = measure("reading, few records", reading(FEW)), measure("reading, many records", reading(MANY))
    written = measure("writing, many records", writing(MANY))
    mapped = measure("mapping, many records", mapping(MANY))
    counts = {n: measure(f"counting, few records, {n} partitions", counting(FEW), n) for n in (1, 2, 8)}
    few, counted = measure("counting, few records", counting(FEW)), measure("counting, many records", counting(MANY))
    grouped = measure("counting, a group for each record", counting(MANY_WITH_STATE, keys=None))
    sessions = [measure(f"sessions, {size} records", sessionising(size)) for size in (FEW, MANY_WITH_STATE)]
    joins = [measure(f"join, {size} records", joining(size)) for size in (FEW, MANY_WITH_STATE)]
    windows = [measure(f"join of windows, {size} records", joining(size, "window_join")) for size in (FEW, MANY_WITH_STATE)]
    spans = [measure(f"join of a span of time, {size} records", joining(size, "interval_join")) for size in (FEW, MANY_WITH_STATE)]

    def each_us(of: Measured, less: Measured) -> float:
        return max(0.0, 1000 * (of.work_ms - less.work_ms) / (of.records - less.records))

    read_us = each_us(read, nothing)
    task_ms = max(0.0, counts[2].work_ms - counts[1].work_ms)
    commits_ms = max(0.0, (counts[8].work_ms - counts[2].work_ms - 6 * task_ms) / 3)  # eight tasks on two cores, four after another
    stage_ms = max(0.0, counts[1].work_ms - nothing.work_ms - task_ms - commits_ms)
    plan_ms = statistics.median(one.planning_ms for one in found.values())
    commit_ms = max(0.0, nothing.work_ms - stage_ms - task_ms) + statistics.median(one.commit_ms for one in found.values())

    def price(record_us: float, output_us: float = 0.0, control_us: float = 0.0) -> dict[str, float]:
        return {"record_us": round(record_us, 4), "output_us": round(output_us, 4), "control_us": round(control_us, 1)}

    state_us = 1000 * commits_ms
    count_us = max(0.0, each_us(counted, few) - read_us)
    write_us = max(0.0, each_us(written, nothing) - read_us)

    def stateful(pair: Sequence[Measured], sides: int) -> dict[str, float]:
        """Work on a record beyond reading it, by all tasks at once; and what the state of all sides takes to commit."""
        cores = min(os.cpu_count() or 1, PARTITIONS)
        commits_us = state_us + max(0.0, 1000 * (pair[0].work_ms - few.work_ms) * cores / PARTITIONS)
        return price(max(0.0, each_us(pair[1], pair[0]) - read_us) * cores, 0.0, commits_us if sides > 1 else state_us)

    mapped_us = max(0.0, each_us(mapped, nothing) - read_us)
    prices = {
        "source": price(read_us),
        "filter": price(mapped_us / 2),
        "map": price(mapped_us / 2),
        "project": price(0.0),
        "split": price(mapped_us / 2),
        "union": price(0.0),
        "aggregate": price(
            count_us, max(0.0, (each_us(grouped, few) - read_us - count_us)) * min(os.cpu_count() or 1, PARTITIONS), state_us
        ),
        "session_aggregate": stateful(sessions, 1),
        "join": stateful(joins, 2),
        "window_join": stateful(windows, 2),
        "interval_join": stateful(spans, 2),
        "sink": price(write_us),
    }
    overheads = {"plan_ms": plan_ms, "stage_ms": stage_ms, "task_ms": task_ms, "commit_ms": commit_ms}
    return Calibration(
        made=time.strftime("%Y-%m-%d"),
        machine=machine(),
        cores=os.cpu_count() or 1,
        spark=PYSPARK,
        busy=round(busy_share(began), 3),
        overheads_ms={name: round(value, 2) for name, value in overheads.items()},
        prices_us=prices,
        spread={name: round(one.spread, 3) for name, one in found.items()},
    )


def warm_up(spark: Any, told: Told) -> None:
    """Let Java compile what all queries have in common: a Spark that has just started takes twice as long."""
    for n, query in enumerate((writing(FEW), counting(FEW), joining(FEW), counting(FEW), joining(FEW)), 1):
        told(f"warming up, {n} of 5")
        _measured(spark, query, PARTITIONS)


def machine() -> str:
    """Cores, processor and architecture."""
    models = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return ", ".join([f"{os.cpu_count()} cores", *models[:1], platform.machine()])


# --- the machine's other load -------------------------------------------------------------------------------------------------------------


def busy_time() -> tuple[float, float, float]:
    """Seconds of a clock, of all processes on all cores, and of this one with its children."""
    ticks = os.sysconf("SC_CLK_TCK")
    first = next(iter(_lines("/proc/stat")), "cpu 0 0 0 0").split()[1:]
    idle = sum(int(word) for word in first[3:5])
    mine = sum(_ticks_of(process) for process in _mine())
    return time.monotonic(), (sum(map(int, first[:8])) - idle) / ticks, mine / ticks


def busy_share(since: tuple[float, float, float]) -> float:
    """Share of the machine's time that other processes have had since then."""
    now = busy_time()
    took_s = max(1e-9, now[0] - since[0]) * (os.cpu_count() or 1)
    return max(0.0, (now[1] - since[1] - (now[2] - since[2])) / took_s)


def _mine() -> list[int]:
    """This process and all below it."""
    below: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        words = _after_name(path)
        if words:
            below.setdefault(int(words[1]), []).append(int(path.parent.name))
    found = [os.getpid()]
    for process in found:
        found += below.get(process, [])
    return found


def _ticks_of(process: int) -> int:
    words = _after_name(Path("/proc") / str(process) / "stat")
    return sum(map(int, words[11:15])) if words else 0


def _after_name(path: Path) -> list[str]:
    """The words of a process's state behind its name, which may have spaces: state, parent, ...; none if it has ended."""
    return next(iter(_lines(path)), "").rpartition(")")[2].split()


def _lines(path: Path | str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


# --- queries ------------------------------------------------------------------------------------------------------------------------------


def _measured(spark: Any, query: Document, partitions: int) -> Measured:
    context = Context()
    with tempfile.TemporaryDirectory() as temporary:
        directory = Path(temporary) / "query"
        write(drained(load(query, context), context), directory, context, batches=BATCHES, partitions=partitions)
        log = BatchLog(Path(temporary) / "batches")
        stream(spark, directory, log, lambda: None)
    batches = [one for one in log.batches if one["records_in"] > 1][FIRST:]
    work = [one["operations_ms"][WORK] for one in batches]
    low, middle, high = statistics.quantiles(work, n=4)
    return Measured(
        planning_ms=statistics.median(sum(one["operations_ms"].get(name, 0.0) for name in PLANNING) for one in batches),
        work_ms=middle,
        commit_ms=statistics.median(one["operations_ms"].get(COMMIT, 0.0) for one in batches),
        spread=(high - low) / middle if middle else 0.0,
        records=statistics.median(one["records_in"] for one in batches),
    )


def reading(records: int) -> Document:
    return _of_bids(records, [_dropping()], [])


def writing(records: int) -> Document:
    return _of_bids(records, [], [])


def mapping(records: int) -> Document:
    """Two operators for each record, one of which computes two fields."""
    fields = [{"name": "price", "expression": "price * 9 / 10 + 1"}, {"name": "key", "expression": "auction % 100 + bidder"}]
    return _of_bids(records, [{"id": "map", "kind": "map", "params": {"fields": fields}}, _dropping()], [])


def counting(records: int, keys: int | None = KEYS) -> Document:
    """keys: of the groups; None: a group for each record."""
    key = "bidder * 1000003 + price * 17 + auction" if keys is None else f"auction % {keys}"
    fields = [{"name": "key", "expression": key}]
    count = {
        "id": "count",
        "kind": "aggregate",
        "parallelism": PARTITIONS,
        "params": {
            "key": "key",
            "window": {"kind": "tumbling", "size_s": 1e5},
            "emit": "on_close",
            "aggregates": [{"name": "count", "function": "count"}],
        },
    }
    return _of_bids(records, [{"id": "map", "kind": "map", "params": {"fields": fields}}], [count])


def sessionising(records: int) -> Document:
    sessions = {
        "id": "sessions",
        "kind": "session_aggregate",
        "parallelism": PARTITIONS,
        "params": {"key": "bidder", "gap_s": 5, "aggregates": [{"name": "count", "function": "count"}]},
    }
    return _of_bids(records, [], [sessions], key="bidder")


def joining(records: int, kind: str = "join") -> Document:
    """Two streams, half of the records each, that seldom match."""
    params: dict[str, Any] = {"left_key": "bidder", "right_key": "bidder"}
    if kind == "window_join":
        params["window"] = {"kind": "tumbling", "size_s": 10}
    if kind == "interval_join":
        params |= {"lower_s": 0, "upper_s": 5}
    join = {"id": "join", "kind": kind, "parallelism": PARTITIONS, "params": params}
    edges = [
        {"source": side, "target": "join", "target_port": port, "partitioning": {"kind": "hash", "key": "bidder"}}
        for side, port in (("bids", "left"), ("others", "right"))
    ]
    edges.append({"source": "join", "target": "sink", "partitioning": {"kind": "rebalance"}})
    operators = [_source("bids"), _source("others"), join, {"id": "sink", "kind": "sink"}]
    return _document(operators, edges, {"bids": _bids(records // 2), "others": _bids(records // 2)})


def _of_bids(records: int, on_the_way: Sequence[Document], stateful: Sequence[Document], key: str = "key") -> Document:
    operators = [_source("bids"), *on_the_way, *stateful, {"id": "sink", "kind": "sink"}]
    edges = []
    for before, after in pairwise(operators):
        by = {"kind": "hash", "key": key} if after in stateful else {"kind": "rebalance"}
        edges.append({"source": before["id"], "target": after["id"], "partitioning": by})
    return _document(operators, edges, {"bids": _bids(records)})


def _document(operators: Sequence[Document], edges: Sequence[Document], sources: dict[str, Any]) -> Document:
    return {
        "format": 1,
        "query": {"operators": list(operators), "edges": list(edges)},
        "cluster": {"hosts": [{"name": "here", "cores": 2}]},
        "workload": {"horizon_s": 10, "sources": sources},
    }


def _source(id: str) -> Document:
    return {"id": id, "kind": "source"}


def _dropping() -> Document:
    return {"id": "drop", "kind": "filter", "params": {"predicate": "price < 0"}}


def _bids(records: int) -> Document:
    """So many in each micro-batch."""
    return {
        "stream": {"kind": "nexmark_bid", "hot_ratio": 0.0},
        "rate": {"kind": "constant", "per_s": records * BATCHES / 10},
        "watermarks": {"kind": "bounded", "lag_ms": 0, "period_ms": 100},
    }

"""Measures what micro-batches of Structured Streaming take on this machine: `manage.py calibrate`.

Small queries over Bids of NEXMark, each at two sizes of its micro-batches. What a record takes is the difference, over the difference of
the records; what is left without records are overheads, which queries with one, two and eight partitions of state tell apart. All come
from medians over micro-batches, once Java has compiled the query.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from engine.export import write
from engine.export.calibration import Calibration
from engine.export.files import PYSPARK
from engine.spec import Refusal
from engine.spec.rules.validation import Context, load

from .session import LOCAL, master
from .streaming import BatchLog, drained, scratch, stream

Document = dict[str, Any]
Told = Callable[[str], None]
Check = Callable[[], None]

BATCHES, FIRST = 12, 4
"""Micro-batches of a measurement, and how many of them do not count: Java still compiles the query."""
FEW, MANY, MANY_WITH_STATE = 500, 300_000, 30_000
"""Records of a micro-batch, of all sources."""
PARTITIONS = 4
"""... of state."""
KEYS = 1_000
WARM_ROUNDS = 2
"""How often a query of each kind runs before anything is measured."""
BUSY_MAX = 0.1
"""Share of the machine's time that others may have before it is measured."""
LOOK_S, LOOKS = 2.0, 5
"""How long they are watched, and how often at most until the machine is found quiet: a page that opens is no load."""
PLANNING = ("latestOffset", "getBatch", "queryPlanning", "walCommit")
COMMIT = "commitOffsets"
WORK = "addBatch"
UNIQUE = "bidder * 1000003 + price * 17 + auction"
"""A key that next to no two Bids share."""


@dataclass(frozen=True)
class Measured:
    """Medians over micro-batches, in ms: planning, the work on records, and the commit. spread: of the work, interquartile range over
    median. records: of a micro-batch."""

    planning_ms: float
    work_ms: float
    commit_ms: float
    spread: float
    records: float


def never() -> None:
    """Nothing interrupts it."""


def calibrate(spark: Any, told: Told, check: Check = never) -> Calibration:
    """Measure, for some minutes. told: called with what is measured next, `steps()` times. check: called again and again; what it raises
    ends the measurement. Raises Spark's errors, OSError."""
    cores = os.cpu_count() or 1
    warm_up(spark, told, check, WARM_ROUNDS)
    began, found, pieces_ms = busy_time(), {}, [piece_ms()]
    for name, (query, partitions) in queries(cores).items():
        told(name)
        found[name] = _measured(spark, query, partitions, check)
        pieces_ms.append(piece_ms())
    overheads_ms, prices_us = derived(found, cores)
    return Calibration(
        made=time.strftime("%Y-%m-%d"),
        machine=machine(),
        cores=cores,
        spark=PYSPARK,
        busy=round(busy_share(began), 3),
        overheads_ms=overheads_ms,
        prices_us=prices_us,
        measured={name: asdict(one) for name, one in found.items()},
        piece_ms=round(statistics.median(pieces_ms), 3),
    )


def refuse_a_cluster() -> None:
    """Raises Refusal."""
    if (where := master()) != LOCAL:
        raise Refusal(f"Spark is a cluster here ({where}), and a calibration measures one machine; unset SPARK_MASTER")


def steps() -> int:
    """How often `calibrate` tells what it measures next."""
    return WARM_ROUNDS * len(kinds()) + len(queries(os.cpu_count() or 1))


def kinds() -> list[Callable[[int], Document]]:
    """A query of each kind, by the records of a micro-batch."""
    return [writing, counting, *WITH_STATE.values(), mapping]


def queries(cores: int) -> dict[str, tuple[Document, int]]:
    """What is measured, by name, and with how many partitions of state.

    Few records come right after many: Java becomes faster for minutes, and what few records take is to be of the same moment.
    """
    found = {
        "reading": (reading(MANY), PARTITIONS),
        "reading, few": (reading(FEW), PARTITIONS),
        "mapping": (mapping(MANY), PARTITIONS),
        "writing": (writing(MANY), PARTITIONS),
        "counting": (counting(MANY), PARTITIONS),
        "grouping": (counting(MANY_WITH_STATE, keys=None), PARTITIONS),
    }
    found |= {f"counting, few, {n} partitions": (counting(FEW), n) for n in counted_with(cores)}
    for name, make in WITH_STATE.items():
        found |= {name: (make(MANY_WITH_STATE), PARTITIONS), f"{name}, few": (make(FEW), PARTITIONS)}
    return found


def counted_with(cores: int) -> list[int]:
    """With how many partitions of state little is counted: up to four tasks on each core, one after another."""
    return sorted({1, PARTITIONS, cores, 2 * cores, 4 * cores})


def derived(found: Mapping[str, Measured], cores: int) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Overheads of the engine in ms, and prices in us by operator kind, from medians.

    A query without state has a stage, one that counts has two, and a commit of state for each task, as many at a time as there are cores.
    What the driver takes to start a task is in the commit.
    """
    few = {n: found[f"counting, few, {n} partitions"].work_ms for n in counted_with(cores)}
    rounds = {n: -(-n // cores) for n in counted_with(cores)}
    commit_of_state_ms, without_ms = _line([(rounds[n], few[n]) for n in counted_with(cores)])
    nothing = found["reading, few"]
    stage_ms = min(max(0.0, without_ms - nothing.work_ms), nothing.work_ms)
    overheads_ms = {
        "plan_ms": statistics.median(one.planning_ms / (2 if name.startswith(TWO_SOURCES) else 1) for name, one in found.items()),
        "stage_ms": stage_ms,
        "task_ms": 0.0,
        "commit_ms": nothing.work_ms - stage_ms + statistics.median(one.commit_ms for one in found.values()),
    }

    def each_us(name: str, less: Measured) -> float:
        return max(0.0, 1000 * (found[name].work_ms - less.work_ms) / (found[name].records - less.records))

    read_us = each_us("reading", nothing)
    at_once = min(cores, PARTITIONS)
    counting_few = found[f"counting, few, {PARTITIONS} partitions"]
    count_us = max(0.0, each_us("counting", counting_few) - read_us)
    map_us = max(0.0, each_us("mapping", nothing) - read_us) / 2
    on_the_way = {"source": read_us, "filter": map_us, "map": map_us, "project": 0.0, "split": map_us, "union": 0.0}
    prices = {kind: _price(record_us=each) for kind, each in on_the_way.items()}
    prices["sink"] = _price(record_us=max(0.0, each_us("writing", nothing) - read_us))
    of_group_us = at_once * max(0.0, each_us("grouping", counting_few) - read_us - count_us)
    prices["aggregate"] = _price(record_us=count_us, output_us=of_group_us, control_us=1000 * commit_of_state_ms)
    for name in WITH_STATE:
        few_of_it = found[f"{name}, few"]
        more_ms = max(0.0, few_of_it.work_ms - counting_few.work_ms) / rounds[PARTITIONS]
        record_us = at_once * max(0.0, each_us(name, few_of_it) - read_us)
        prices[name] = _price(record_us=record_us, control_us=1000 * (commit_of_state_ms + more_ms))
    return {name: round(ms, 2) for name, ms in overheads_ms.items()}, prices


def _line(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Slope, at least 0, and intercept of least squares."""
    slope, intercept = statistics.linear_regression([x for x, _ in points], [y for _, y in points])
    return (slope, intercept) if slope >= 0 else (0.0, statistics.fmean(y for _, y in points))


def _price(record_us: float = 0.0, output_us: float = 0.0, control_us: float = 0.0) -> dict[str, float]:
    return {"record_us": round(record_us, 4), "output_us": round(output_us, 4), "control_us": round(control_us, 1)}


def warm_up(spark: Any, told: Told, check: Check = never, rounds: int = 1) -> None:
    """Let Java compile what queries of each kind have in common: a Spark that has just started takes twice as long."""
    warm = rounds * kinds()
    for n, make in enumerate(warm, 1):
        told(f"warming up, {n} of {len(warm)}")
        _measured(spark, make(FEW), PARTITIONS, check)


def machine() -> str:
    """Cores, processor and architecture."""
    models = [line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    return ", ".join([f"{os.cpu_count()} cores", *models[:1], platform.machine()])


def piece_ms() -> float:
    """How long a core takes for a piece of work that is always the same: virtual machines are not always as fast."""
    took = []
    for _ in range(9):
        began_s = time.perf_counter()
        sum(n * n % 7 for n in range(40_000))
        took.append(1000 * (time.perf_counter() - began_s))
    return statistics.median(took)


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


def work_of_others(check: Check = never) -> float:
    """The least share of the machine's time that others have had in several looks."""
    least = 1.0
    for _ in range(LOOKS):
        before = busy_time()
        time.sleep(LOOK_S)
        check()
        least = min(least, busy_share(before))
        if least <= BUSY_MAX:
            break
    return least


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


def _measured(spark: Any, query: Document, partitions: int, check: Check) -> Measured:
    context = Context()
    with scratch() as temporary:
        directory = Path(temporary) / "query"
        write(drained(load(query, context), context), directory, context, batches=BATCHES, partitions=partitions)
        log = BatchLog(Path(temporary) / "batches")
        stream(spark, directory, log, check)
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
    key = UNIQUE if keys is None else f"auction % {keys}"
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
    """Two streams, half of the records each, of which next to none match: pairs would count as work of the join."""
    params: dict[str, Any] = {"left_key": "key", "right_key": "key"}
    if kind == "window_join":
        params["window"] = {"kind": "tumbling", "size_s": 10}
    if kind == "interval_join":
        params |= {"lower_s": 0, "upper_s": 5}
    fields = [{"name": "key", "expression": UNIQUE}]
    sides = (("bids", "left"), ("others", "right"))
    operators = [*(_source(side) for side, _ in sides)]
    operators += [{"id": port, "kind": "map", "params": {"fields": fields}} for _, port in sides]
    operators += [{"id": "join", "kind": kind, "parallelism": PARTITIONS, "params": params}, {"id": "sink", "kind": "sink"}]
    edges: list[Document] = [{"source": side, "target": port} for side, port in sides]
    edges += [{"source": port, "target": "join", "target_port": port, "partitioning": {"kind": "hash", "key": "key"}} for _, port in sides]
    edges.append({"source": "join", "target": "sink", "partitioning": {"kind": "rebalance"}})
    return _document(operators, edges, {"bids": _bids(records // 2), "others": _bids(records // 2)})


WITH_STATE: dict[str, Callable[[int], Document]] = {
    "session_aggregate": sessionising,
    "join": joining,
    "window_join": partial(joining, kind="window_join"),
    "interval_join": partial(joining, kind="interval_join"),
}
"""By operator kind, how a query of so many records is made."""
TWO_SOURCES = ("join", "window_join", "interval_join")
"""Planning them takes twice as long: of each source Spark asks what it has."""


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

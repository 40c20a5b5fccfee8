"""Jobs with one operator of each kind that keeps state by key, and what moves that state."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.keeping import Keeping
from engine.core.world import World
from engine.operators import OPERATORS
from tests.support import corner_cases
from tests.support.corner_cases import bids, host, watermarks

from .agreement import simulated

Document = dict[str, Any]

AGGREGATES = [
    {"name": "n", "function": "count"},
    {"name": "total", "function": "sum", "field": "price"},
    {"name": "mean", "function": "avg", "field": "price"},
    {"name": "bidders", "function": "count_distinct", "field": "bidder"},
    {"name": "latest", "function": "max", "field": "time"},
]
SLIDING = {"kind": "sliding", "size_s": 0.012, "slide_s": 0.004, "clock": "event"}
PROCESSING = {"kind": "tumbling", "size_s": 0.007, "clock": "processing"}
JOIN = {"left_key": "auction", "right_key": "auction"}

KINDS: dict[str, dict[str, Any]] = {
    "aggregate": {"window": {"kind": "none"}, "emit": "on_update", "every": 3},
    "aggregate, sliding": {"window": SLIDING, "emit": "on_close", "lateness_ms": 2.0},
    "aggregate, at firing": {"window": SLIDING, "emit": "on_close", "evaluation": "at_firing", "every": 4},
    "aggregate, processing": {"window": PROCESSING, "emit": "on_close"},
    "session_aggregate": {"gap_s": 0.003, "lateness_ms": 1.0},
    "session_aggregate, at firing": {"gap_s": 0.003, "evaluation": "at_firing", "every": 2},
    "session_aggregate, processing": {"gap_s": 0.003, "clock": "processing"},
    "count_window_aggregate": {"size": 5},
    "count_window_aggregate, sliding": {"size": 7, "slide": 2},
    "count_window_aggregate, at firing": {"size": 7, "slide": 3, "evaluation": "at_firing"},
    "join": {"window": {"kind": "full_history"}},
    "join, sliding": {"window": SLIDING},
    "join, processing": {"window": PROCESSING},
    "window_join": {"window": SLIDING, "event_time": "window", "lateness_ms": 2.0},
    "window_join, processing": {"window": PROCESSING},
    "interval_join": {"lower_s": -0.004, "upper_s": 0.006},
    "expiring_join": {"ttl_s": 0.011},
    "path_join": {"left_end": "bidder", "right_path": ["auction", "bidder"], "deleted_start": "auction", "deleted_end": "bidder"},
    "expiring_join, unmatched": {"ttl_s": 0.011, "keep_left": "unmatched", "keep_right": "unmatched"},
    "expiring_join, latest": {"ttl_s": 0.011, "keep_left": "latest", "keep_right": "latest"},
}


IN_ORDER = ("count_window_aggregate", "path_join", "expiring_join, unmatched", "expiring_join, latest")
"""Kinds whose rows depend on the order in which instances of a source are served."""

EVENT_TIME = [name for name in KINDS if "processing" not in name and name != "aggregate" and not name.startswith(IN_ORDER)]
PROCESSORS = ("dedicated", "shared_fifo", "pool", "processor_sharing")


def document(name: str) -> dict[str, Any]:
    """One operator of the kind on three instances, behind sources that never hurry, so that nothing waits for anything."""
    kind = name.split(",")[0]
    params = dict(KINDS[name])
    joins = "left" in OPERATORS[kind].inputs
    params |= JOIN if joins else {"key": "auction", "aggregates": AGGREGATES}
    free = {"record_us": 0.001, "output_us": 0, "control_us": 0.001}
    sides = OPERATORS[kind].inputs
    narrow = [{"name": name, "expression": of} for name, of in (("auction", "auction % 97"), ("price", "price"), ("bidder", "bidder % 5"))]
    narrow.append({"name": "time", "expression": "time"})
    operators = [{"id": side, "kind": "source", "cost": free} for side in sides]
    operators += [{"id": f"{side}_keys", "kind": "map", "params": {"fields": narrow}, "cost": free} for side in sides]
    operators += [
        {"id": "kept", "kind": kind, "parallelism": 3, "params": params, "cost": free},
        {"id": "sink", "kind": "sink", "cost": free},
    ]
    hashed = {"kind": "hash", "key": "auction", "key_groups": 16}
    edges = [{"source": side, "target": f"{side}_keys"} for side in sides]
    edges += [
        {
            "source": f"{side}_keys",
            "target": "kept",
            "target_port": side,
            "partitioning": {"kind": "broadcast"} if side == "deleted" else hashed,
        }
        for side in sides
    ]
    edges.append({"source": "kept", "target": "sink", "partitioning": {"kind": "rebalance"}})
    rates = {"in": 5_000, "left": 3_000, "right": 3_777, "deleted": 2_111}
    return corner_cases.document(
        operators,
        edges,
        [host("w", cores=32)],
        {side: bids(rates[side], watermarks=watermarks(1.37)) for side in sides},
        horizon_s=0.06,
        measurement={"latency": {"from": "event", "anchor": "newest"}, "also": [{"name": "processing", "from": "ingest"}]},
    )


def keeping_of(world: World, o: int) -> Keeping:
    """All kinds are woven in by the tests, in alphabetical order."""
    kinds = sorted(kind for kind, operator in OPERATORS.items() if any(hasattr(operator, at) for at in ("on_record", "on_close")))
    keeping = OPERATORS[kinds[int(world.arrays.op[o, L.O_CODE])]].keeping
    assert keeping is not None
    return keeping


class InAndOut:
    """Takes all state out of every instance that keeps some, and puts it back into the same."""

    def __init__(self, times_ns: list[int], kinds: dict[int, Keeping]):
        self.waiting, self.kinds, self.moved = sorted(times_ns), kinds, 0

    @property
    def next_ns(self) -> int:
        return self.waiting[0] if self.waiting else L.FAR

    def act(self, world: World, now_ns: int) -> None:
        self.waiting.pop(0)
        for i in range(len(world.arrays.inst)):
            o = int(world.arrays.inst[i, L.I_OP])
            if o not in self.kinds:
                continue
            _, groups = keyed_state.key_groups(world.arrays, o)
            cuts = (0, groups // 2, groups) if self.kinds[o].by_key_groups else (0, groups)
            try:
                states = [keyed_state.take(world, self.kinds[o], i, first, end) for first, end in pairwise(cuts)]
            except keyed_state.CannotMove:  # a tick waits
                continue
            assert world.arrays.inst[i, L.I_STATE_BYTES] == 0
            assert not len(keyed_state.entries_by_key(world.arrays, i))
            for state in states:
                keyed_state.put(world, self.kinds[o], i, state)
                self.moved += len(state.entries)

    def state(self) -> Any:
        return []

    def restore(self, state: Any) -> None: ...


def in_and_out(made: dict[str, Any], share: float = 0.5) -> int:
    """Run with and without; both have to be the same to the nanosecond. Returns how many entries went out and in."""
    plain = simulated(made, trace=False)
    plain.run_until(plain.end_ns)
    specs = plain.experiment.query.operators
    kinds = {o: OPERATORS[spec.kind].keeping for o, spec in enumerate(specs) if OPERATORS[spec.kind].keeping is not None}
    times_ns = [int(plain.horizon_ns * at * share) for at in (0.3, 0.9, 1.3, 1.9)]
    control = InAndOut(times_ns, kinds)  # type: ignore[arg-type]
    moved = simulated(made, trace=False, controls=[control])
    moved.run_until(moved.end_ns)
    assert moved.deliveries() == plain.deliveries()
    assert moved.summary() | {"wall_s": 0} == plain.summary() | {"wall_s": 0}
    assert moved._world.digest() == plain._world.digest()
    return control.moved


def moving_document(name: str, processor: str = "dedicated", bound: int | None = None) -> Document:
    """Two sources' instances with ten partitions each, which read faster than records come."""
    made = document(name)
    made["cluster"]["hosts"] = [host("w", count=3, cores=32 if processor == "dedicated" else 3, processor={"kind": processor})]
    for operator in made["query"]["operators"]:
        if operator["kind"] == "source":
            operator["parallelism"] = 2
        if operator["id"].endswith("_keys"):
            operator["parallelism"] = 2
        operator.pop("cost", None)
        params = operator.get("params", {})
        params.pop("every", None)  # rows that are put out early depend on the order, too, ...
        if "ttl_s" in params:
            params["ttl_s"] = 100  # ... and so does what has expired
    for source in made["workload"]["sources"].values():
        source["partitions"] = 10
    made["workload"] |= {"drain": True}
    if bound is not None:
        made["policies"] = {"flow_control": {"kind": "credits", "per_channel": bound}}
    return made

"""Jobs that are rescaled, by a stop and restart or in place, and what holds of each of them."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import engine
from engine.core import layout as L
from engine.core.control import keyed_state
from engine.core.control.active_instances import active
from engine.core.control.ranks import HELD
from engine.operators import OPERATORS
from engine.rescaling import Job
from engine.spec.rules.scalable import vertices
from tests.support import corner_cases

from .agreement import DATASETS, MS, finished, simulated
from .keyed_state_examples import moving_document
from .moments import hosts_of
from .recovery_examples import coordinated, counting, joining, values

Document = dict[str, Any]
QUICK = {"restart_s": 0.001, "pod_start_s": 0.0005, "timeout_s": 1.0, "store": {"request_ms": 0.1}}
MOST = 6
ORDERED_NS = 150 * MS
JOBS = (counting, joining)
AFTER = {"counting": {"bids": 6, "keys": 6, "counts": 2, "sink": 5}, "joining": {"auctions": 5, "some": 2, "pairs": 6, "sink": 2}}


def scaled(made: Document, orders: list[Document], rescaling: Document | None = None, **more: Any) -> Document:
    """The document with these orders, each operator up to six instances."""
    quick = {"kind": "stop_and_restart", **QUICK, **(rescaling or {})}
    bounds = {operator["id"]: {"max": MOST} for operator in made["query"]["operators"]}
    scaling = {"kind": "manual", "operators": bounds, "orders": orders, "rescaling": quick, "capture_ms": 0.01, **more}
    return made | {"policies": {**made.get("policies", {}), "scaling": scaling}}


def ordered(made: Document, times_s: list[float], seed: int) -> list[Document]:
    """Random parallelisms for all vertices, at these times."""
    chance = random.Random(f"orders {seed}")
    query = engine.Simulation(made, datasets=DATASETS).experiment.query
    orders = []
    for at_s in times_s:
        wanted: dict[str, int] = {}
        for vertex in vertices(query):
            wanted |= dict.fromkeys(vertex, chance.randint(1, MOST))
        orders.append({"at_s": at_s, "parallelism": wanted})
    return orders


def random_times(seed: int) -> list[float]:
    chance = random.Random(f"times {seed}")
    return [round(0.002 + 0.012 * n + chance.random() * 0.002, 7) for n in range(10)]


def running(name: str, processor: str = "dedicated", bound: int | None = None) -> Document:
    """Long enough for ten rescales."""
    made = moving_document(name, processor, bound)
    made["workload"]["horizon_s"] = 0.13
    return made


def job_of(simulation: engine.Simulation) -> Job:
    assert simulation.job is not None
    return simulation.job


def begins_anew(simulation: engine.Simulation) -> bool:
    action = job_of(simulation).under_way
    return action is not None and action.arranged_ns >= 0


def parallelism_of(simulation: engine.Simulation) -> dict[str, int]:
    return dict(zip(simulation._plan.operators, simulation._world.arrays.op[:, L.O_PARALLEL].tolist(), strict=True))


def assert_state_is_where_its_records_go(simulation: engine.Simulation) -> None:
    """Each entry is in the instance to which its key is routed, and bytes are those of the entries."""
    world = simulation._world
    w = world.arrays
    for i in range(len(w.inst)):
        o = int(w.inst[i, L.I_OP])
        keeping = world.keepings[o]
        if keeping is None:
            continue
        groups = keyed_state.key_groups(w, o)[1]
        state = keyed_state.capture(world, keeping, i, 0, groups)
        assert state.state_bytes == w.inst[i, L.I_STATE_BYTES]
        hash_edges = w.edge[(w.edge[:, L.E_TARGET] == o) & (w.edge[:, L.E_KIND] == L.HASH)]
        if not len(hash_edges):  # then it stays at its parallelism
            continue
        hashed = int(hash_edges[0, L.E_ROUTE])
        held = np.flatnonzero(keyed_state.bytes_by_group(state, w, o))
        assert (w.route[hashed + held] == w.inst[i, L.I_INDEX]).all()
        assert active(w)[i] or not len(held)


def assert_counts_add_up(simulation: engine.Simulation) -> None:
    """All that has been offered was read once, or waits."""
    w = simulation._world.arrays
    sources = w.inst[:, L.I_SOURCE] == 1
    read = int((w.inst[sources, L.I_IN] - w.inst[sources, L.I_AGAIN]).sum())
    now = simulation._counters(simulation.now_ns)
    plan, logs = simulation._plan, simulation._logs
    waiting = 0
    for id in plan.feeds:
        places = logs.places(w, id)
        chunk = plan.feeds[id].chunk(0, simulation.now_ns + 1)
        waiting += sum(
            1
            for partition, append_ns, event_ns, trigger in zip(
                chunk.partition.tolist(), chunk.append_ns.tolist(), chunk.event_ns.tolist(), chunk.trigger.tolist(), strict=True
            )
            if trigger >= 0 and not before((append_ns, event_ns, trigger), places[partition])
        )
    assert now.offered == (read + waiting) * simulation.experiment.workload.scale


def assert_stops_are_noted(simulation: engine.Simulation) -> None:
    """Of all machines' stops the first one counts, whichever machine the loop serves first."""
    done = [action for action in job_of(simulation).actions if action.outcome == "done"]
    noted = simulation._actors.agent.stopped  # type: ignore[union-attr]
    assert [noted[action.savepoint].at_ns for action in done] == [action.stopped_ns for action in done]


def run_with_looks(simulation: engine.Simulation, seed: int, also: Callable[[], None] = lambda: None) -> None:
    """To the end. At twenty random moments state has to be where its records go, and counts have to add up. also: what else is judged."""
    chance = random.Random(f"moments {seed}")
    for moment_ns in sorted(chance.randrange(1 * MS, 140 * MS) for _ in range(20)):
        simulation.run_until(moment_ns)
        if not begins_anew(simulation):  # one machine after the other
            assert_state_is_where_its_records_go(simulation)
        assert_counts_add_up(simulation)
        also()
    simulation.run_until(simulation.end_ns)


def assert_the_same_however_cut(whole: engine.Simulation, moments_ns: Sequence[int], made: Document, folder: Path) -> None:
    """Cut in a rescale, saved and resumed there, and forked there: the digest and the actions are those of the whole run."""
    for moment_ns in moments_ns:
        cut = simulated(made, trace=False)
        cut.run_until(moment_ns)
        assert job_of(cut).open is not None
        cut.save(folder / "saved")
        resumed = engine.Simulation.resume(made, folder / "saved", datasets=DATASETS, keep_outputs=True, kinds=OPERATORS)
        for simulation in (cut.fork(), resumed, cut):
            simulation.run_until(simulation.end_ns)
            assert simulation.digest() == whole.digest()
            assert job_of(simulation).actions == job_of(whole).actions


def before(entry: tuple[int, int, int], place: Any) -> bool:
    """Whether a log's entry lies before a place."""
    if place.trigger == L.LOG_AHEAD:
        return entry[0] < place.append_ns
    return (entry[0], entry[2]) < (place.append_ns, place.trigger if place.trigger >= 0 else L.FAR)


def order_of(at_s: float, **parallelism: int) -> Document:
    return {"at_s": at_s, "parallelism": parallelism}


def moments_of(simulation: engine.Simulation, number: int = 0) -> list[int]:
    """One in each part of a rescale."""
    action = job_of(simulation).actions[number]
    times = [action.begun_ns, action.stopped_ns, action.drained_ns, action.stored_ns, action.arranged_ns, action.restored_ns]
    assert times == sorted(times)
    assert len(set(times)) == len(times)
    return [(first + end) // 2 for first, end in itertools.pairwise(times)]


def in_place(made: Document, orders: list[Document], rescaling: Document | None = None) -> Document:
    found = scaled(made, orders)
    quick = {"kind": "in_place", "switch_s": 0.001, "pod_start_s": 0.0005, "timeout_s": 1.0, "store": {"request_ms": 0.1}}
    found["policies"]["scaling"]["rescaling"] = quick | (rescaling or {})
    return found


def some_ordered(made: Document, times_s: list[float], seed: int) -> list[Document]:
    """Of each order only one or two vertices are left."""
    query = simulated(made, trace=False).experiment.query
    chance = random.Random(f"some {seed}")
    orders = ordered(made, times_s, seed)
    for order in orders:
        left = {id for vertex in chance.sample(vertices(query), chance.randint(1, 2)) for id in vertex}
        order["parallelism"] = {id: p for id, p in order["parallelism"].items() if id in left}
    return orders


def slow(job: Callable[..., Document]) -> Document:
    """One link is slow, and so is the store; keys have key groups."""
    made = job(protocol=coordinated(interval_s=0.04, detect_ms=2, restart_ms=3, store={"request_ms": 6.0}))
    names = [f"w{n + 1}" for n in range(made["cluster"]["hosts"][0]["count"])]
    made["cluster"]["hosts"] = [corner_cases.host(name, egress_latency_ms=6.0 if name == "w1" else 0.5) for name in names]
    for edge in made["query"]["edges"]:
        edge.get("partitioning", {}).pop("scheme", None)
    for source in made["workload"]["sources"].values():
        source["partitions"] = 10
    return made


@cache
def expected(job: Callable[..., Document]) -> frozenset[tuple[Any, ...]]:
    rows = values(finished(slow(job)))
    assert rows.total() > 400
    return frozenset(rows)


def in_waiting(simulation: engine.Simulation) -> set[int]:
    """The savepoint is complete, and the new job has not begun."""
    action = job_of(simulation).under_way
    return set(hosts_of(simulation)) if action is not None and action.stored_ns >= 0 > action.arranged_ns else set()


def assert_right(simulation: engine.Simulation, job: Callable[..., Document]) -> None:
    assert simulation.drained
    assert not (simulation._world.arrays.inst[:, L.I_RANK] == HELD).any()
    assert values(simulation).keys() == expected(job)
    assert_state_is_where_its_records_go(simulation)
    assert_counts_add_up(simulation)

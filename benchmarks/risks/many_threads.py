"""Risk 3: many threads on one host. Processor sharing of c cores among k runnable threads, in integers.

The prototype: chains of threads on one host. A thread serves its queue one item at a time; k threads that have an item run at the rate
floor(2^20 x min(1, c / k)) units per ns. `V` is the work in units that every running thread has got; a thread that starts an item of s
ns at V ends when V reaches its tag V + s x 2^20, so the next completion is the least tag of a heap, whatever k does in between. Brute
force keeps what is left of each item instead and asks all threads at every instant.

The engine does the same with heaps of its own (`engine/core/kernels/event_loop.py`), and takes the turns of shared processors from heaps,
too; both are measured beside the prototype, the latter against looking at every instance.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from fractions import Fraction
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import engine
from engine.lowering import processors

from .finding import Finding, cpu_seconds, interleaved

Words = NDArray[np.int64]
FAR = 1 << 62
UNIT = 1 << 20  # units of work per ns at full rate
HAND_OVER_NS = 1000
GATE = 5.0


@numba.njit(error_model="numpy", nogil=True)
def heap_push(heap, n, tag, thread):  # type: ignore[no-untyped-def]
    at = n
    while at > 0:
        up = (at - 1) >> 1
        if heap[up, 0] < tag or (heap[up, 0] == tag and heap[up, 1] < thread):
            break
        heap[at, 0] = heap[up, 0]
        heap[at, 1] = heap[up, 1]
        at = up
    heap[at, 0] = tag
    heap[at, 1] = thread


@numba.njit(error_model="numpy", nogil=True)
def heap_pop(heap, n):  # type: ignore[no-untyped-def]
    """Take the root away; n: size before."""
    tag, thread = heap[n - 1, 0], heap[n - 1, 1]
    at = 0
    while True:
        down = 2 * at + 1
        if down >= n - 1:
            break
        if down + 1 < n - 1 and (
            heap[down + 1, 0] < heap[down, 0] or (heap[down + 1, 0] == heap[down, 0] and heap[down + 1, 1] < heap[down, 1])
        ):
            down += 1
        if tag < heap[down, 0] or (tag == heap[down, 0] and thread <= heap[down, 1]):
            break
        heap[at, 0] = heap[down, 0]
        heap[at, 1] = heap[down, 1]
        at = down
    heap[at, 0] = tag
    heap[at, 1] = thread


@numba.njit(error_model="numpy", nogil=True)
def run_heap(stages, cores, appends, services, records, line, heap, thread_state, ends, rebase_at):  # type: ignore[no-untyped-def]
    """Serve all records.

    appends: (chains, records); services: (chains, stages) ns; ends: (chains, stages, records) end times, or (.., 1) if only counted.

    thread_state columns: 0 waiting, 1 served, 2 serving. line: ring of (arrival, thread) on the host, constant delay, so sorted.
    Returns services done.
    """
    chains = services.shape[0]
    keep = ends.shape[2] > 1
    mask = line.shape[0] - 1
    head = tail = 0
    next_append = np.zeros(chains, np.int64)
    # a heap of sources by append time: one entry per chain
    sources = np.zeros((chains + 1, 2), np.int64)
    for c in range(chains):
        heap_push(sources, c, appends[c, 0], c)
    waiting_sources = chains
    t = 0
    v = 0
    k = 0
    rate = UNIT
    hops = 0
    while True:
        due = FAR
        if k > 0:
            due = t + (heap[0, 0] - v + rate - 1) // rate
        if head < tail and line[head & mask, 0] < due:
            due = line[head & mask, 0]
        if waiting_sources > 0 and sources[0, 0] < due:
            due = sources[0, 0]
        if due == FAR:
            return hops
        v += rate * (due - t)
        t = due
        # completions
        while k > 0 and heap[0, 0] <= v:
            thread = heap[0, 1]
            stage = thread % stages
            if keep:
                ends[thread // stages, stage, thread_state[thread, 1]] = t
            thread_state[thread, 1] += 1
            hops += 1
            if stage + 1 < stages:
                line[tail & mask, 0] = t + HAND_OVER_NS
                line[tail & mask, 1] = thread + 1
                tail += 1
            if thread_state[thread, 0] > 0:  # goes on at once with its next item
                thread_state[thread, 0] -= 1
                heap_pop(heap, k)
                heap_push(heap, k - 1, v + services[thread // stages, stage] * UNIT, thread)
            else:
                thread_state[thread, 2] = 0
                heap_pop(heap, k)
                k -= 1
        # arrivals from the log, then from the line
        while waiting_sources > 0 and sources[0, 0] == t:
            c = sources[0, 1]
            next_append[c] += 1
            heap_pop(sources, waiting_sources)
            waiting_sources -= 1
            if next_append[c] < records:
                heap_push(sources, waiting_sources, appends[c, next_append[c]], c)
                waiting_sources += 1
            thread = c * stages
            if thread_state[thread, 2] == 1:
                thread_state[thread, 0] += 1
            else:
                thread_state[thread, 2] = 1
                heap_push(heap, k, v + services[c, 0] * UNIT, thread)
                k += 1
        while head < tail and line[head & mask, 0] == t:
            thread = line[head & mask, 1]
            head += 1
            if thread_state[thread, 2] == 1:
                thread_state[thread, 0] += 1
            else:
                thread_state[thread, 2] = 1
                heap_push(heap, k, v + services[thread // stages, thread % stages] * UNIT, thread)
                k += 1
        if k == 0:
            v = 0
        elif v > rebase_at:  # rebase: tags and V fall by the same amount, every difference stays
            for n in range(k):
                heap[n, 0] -= v
            v = 0
        rate = UNIT if k <= cores else UNIT * cores // k


def brute_force(
    stages: int, cores: int, appends: Words, services: Words, exact: bool = False
) -> tuple[dict[tuple[int, int, int], int], Counter[int]]:
    """End times by (chain, stage, number), and how often each k was seen. exact: rates and remaining work as fractions, no floor."""
    chains, records = appends.shape
    left: dict[int, Any] = {}
    waiting: Counter[int] = Counter()
    served: Counter[int] = Counter()
    arrivals = [(int(appends[c, n]), c * stages) for c in range(chains) for n in range(records)]
    seen: Counter[int] = Counter()
    ends: dict[tuple[int, int, int], int] = {}
    t = 0
    while arrivals or left:
        k = len(left)
        seen[k] += 1
        rate: Any = UNIT if k <= cores else (Fraction(UNIT * cores, k) if exact else UNIT * cores // k)
        due = min([t + -(-work // rate) for work in left.values()] + [time_ns for time_ns, _ in arrivals])
        for thread in left:
            left[thread] -= rate * (due - t)
        t = due
        for thread in sorted(left):
            if left[thread] <= 0:
                chain, stage = divmod(thread, stages)
                ends[chain, stage, served[thread]] = t
                served[thread] += 1
                if stage + 1 < stages:
                    arrivals.append((t + HAND_OVER_NS, thread + 1))
                del left[thread]
                if waiting[thread]:
                    waiting[thread] -= 1
                    left[thread] = int(services[chain, stage]) * UNIT
        for thread in [thread for time_ns, thread in arrivals if time_ns == t]:
            if thread in left:
                waiting[thread] += 1
            else:
                left[thread] = int(services[divmod(thread, stages)]) * UNIT
        arrivals = [(time_ns, thread) for time_ns, thread in arrivals if time_ns > t]
    return ends, seen


def inputs(chains: int, stages: int, records: int, load: float, cores: int, seed: int) -> tuple[Words, Words]:
    """Random append times and service times at about the given load of all cores."""
    random = np.random.default_rng(seed)
    services = random.integers(2_000, 40_000, (chains, stages))
    gap = services.sum() / chains * chains / cores / load
    appends = np.cumsum(random.integers(1, int(2 * gap), (chains, records)), axis=1)
    return appends, services


def run_prototype(stages: int, cores: int, appends: Words, services: Words, keep: bool, rebase_at: int = 1 << 61) -> tuple[int, Words]:
    chains, records = appends.shape
    ends = np.zeros((chains, stages, records if keep else 1), np.int64)
    line = np.zeros((1 << 16, 2), np.int64)
    heap, threads = np.zeros((chains * stages + 1, 2), np.int64), np.zeros((chains * stages, 3), np.int64)
    hops = run_heap(stages, cores, appends, services, records, line, heap, threads, ends, rebase_at)
    return hops, ends


def equality() -> Finding:
    """Against brute force on 12 random inputs, with a rebase of V every 0.3 ms of busy time; every k from 17 to 40 has to occur."""
    seen: Counter[int] = Counter()
    different = compared = 0
    worst = 0.0
    for seed in range(12):
        cores, chains, stages = (24, 12, 5) if seed % 2 else (16, 5, 9)
        appends, services = inputs(chains, stages, 12, 3.0, cores, seed)
        expected, counts = brute_force(stages, cores, appends, services)
        seen += counts
        _, ends = run_prototype(stages, cores, appends, services, keep=True, rebase_at=1 << 38)
        compared += len(expected)
        different += sum(int(ends[place]) != end_ns for place, end_ns in expected.items())
        if seed < 2:
            fractions, _ = brute_force(stages, cores, appends, services, exact=True)
            worst = max(worst, max(abs(end_ns - fractions[place]) / fractions[place] for place, end_ns in expected.items()))
    missing = [k for k in range(17, 41) if not seen[k]]
    return Finding(
        3,
        "processor sharing by tags equals brute force",
        "equal for k = 17..40",
        different == 0 and not missing,
        {
            "service ends compared": compared,
            "different": different,
            "values of k not seen": missing,
            "largest relative difference from exact fractions": f"{worst:.1e}",
        },
    )


def speed(load: float) -> Finding:
    """80 chains of 9 on 24 cores."""
    appends, services = inputs(80, 9, 6_000, load, 24, 1)
    run_prototype(9, 24, appends[:, :5].copy(), services, keep=False)
    hops = 80 * 9 * 6_000

    def once() -> float:
        return hops / cpu_seconds(lambda: run_prototype(9, 24, appends, services, keep=False)) / 1e6

    (million_per_s,) = interleaved(3, once)
    return Finding(
        3,
        f"80 chains of 9 on one host of 24 cores, load {load:g}",
        f"at least {GATE:g} M hops/s",
        million_per_s >= GATE,
        {"M hops/s": round(million_per_s, 2)},
    )


def engine_document(chains: int, hosts: int, kind: str = "dedicated", cores: int = 1024, **workload: Any) -> dict[str, Any]:
    """The chains as one operator per stage, forward edges, on as many hosts as asked for, with such processors."""
    stages = 9
    names = [f"s{n}" for n in range(stages)]
    operators = [
        {"id": name, "kind": "source" if n == 0 else "sink" if n == stages - 1 else "filter", "parallelism": chains}
        for n, name in enumerate(names)
    ]
    return {
        "format": 1,
        "query": {
            "operators": operators,
            "edges": [{"source": a, "target": b, "partitioning": {"kind": "forward"}} for a, b in itertools.pairwise(names)],
        },
        "cluster": {"hosts": [{"name": "h", "count": hosts, "processor": {"kind": kind}, "cores": cores}]},
        "workload": {
            "horizon_s": 1.0,
            "sources": {"s0": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 40_000}}},
        }
        | workload,
        "policies": {"flow_control": {"kind": "unbounded"}},
    }


def engine_speed(hosts: int) -> Finding:
    simulation = engine.Simulation(engine_document(80, hosts))
    seconds = cpu_seconds(lambda: simulation.run_until(simulation.end_ns))
    value = round(simulation.summary()["hops"] / seconds / 1e6, 2)
    return Finding(
        3,
        f"the engine, 720 dedicated instances on {hosts} host{'s' * (hosts > 1)}",
        "none",
        None,
        {"M hops/s": value, "virtual s per s": round(1 / seconds, 2)},
    )


def turns(kind: str) -> Finding:
    """720 instances on 24 shared cores at load 0.7: every instance looked at, and turns from heaps."""
    sources = {"s0": {"stream": {"kind": "nexmark_bid"}, "rate": {"kind": "constant", "per_s": 350_000}}}
    document = engine_document(80, 1, kind, 24, horizon_s=0.05, sources=sources)

    def speed(scanned_max: int) -> float:
        before, processors.SCANNED_MAX = processors.SCANNED_MAX, scanned_max
        try:
            simulation = engine.Simulation(document)
        finally:
            processors.SCANNED_MAX = before
        seconds = cpu_seconds(lambda: simulation.run_until(simulation.end_ns))
        return float(simulation.summary()["hops"] / seconds / 1e6)

    scanned, heaps = interleaved(3, lambda: speed(1 << 40), lambda: speed(0))
    return Finding(
        3,
        f"the engine, 720 instances on one host of 24 cores, {kind}",
        "none",
        None,
        {"M hops/s, all looked at": round(scanned, 3), "with heaps of turns": round(heaps, 2), "ratio": round(heaps / scanned, 1)},
    )


def measure() -> list[Finding]:
    engine.warm_up()
    engine_speed(1)  # compiles the loop for these kinds
    started = time.perf_counter()
    findings = [equality()]
    findings[0].measured["s"] = round(time.perf_counter() - started, 1)
    return [*findings, speed(0.7), speed(1.5), engine_speed(1), engine_speed(80), turns("pool"), turns("shared_fifo")]

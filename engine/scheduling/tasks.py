"""What a scheduler knows of a host from the deployed queries: its tasks, how they are connected, and which windows they wait for.

A *task* is an operator with all its instances on the host. Operators of no named query that are connected are a query, too.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.tables import Arrays, Words
from engine.spec import Experiment
from engine.spec.base.operator_kinds import operator as operator_kind
from engine.spec.experiment.memory import Budget

Bools = NDArray[np.bool_]


class Input(NamedTuple):
    """A source instance with watermarks, as a host sees it. query: number among those of the host that sees it. host: where it runs.
    deadlines: of each window downstream the end of one pane and the distance to the next, in ns. lag_ns: how far a watermark lies behind
    its making. start_ns: of the query. channels: those to the host that sees it that carry only this instance's watermarks."""

    query: int
    instance: int
    host: int
    deadlines: tuple[tuple[int, int], ...]
    lag_ns: int
    start_ns: int
    channels: Words

    def next_deadline_ns(self, watermark_ns: int) -> int:
        """The first deadline later than a watermark; FAR without windows."""
        after_ns = max(watermark_ns, self.start_ns)
        return min((end + ((after_ns - end) // every + 1) * every for end, every in self.deadlines), default=L.FAR)

    @property
    def period_ns(self) -> int:
        """Distance of deadlines, while nothing has been measured; 0 without windows."""
        return min((every for _, every in self.deadlines), default=0)


@dataclass(frozen=True)
class Tasks:
    """The tasks of a host, by query, senders before receivers.

    names: of the queries with tasks here. ids: operators, by task. query: by task. level: by task, number of steps from the query's first
    task here. is_source, fires (its windows give output when they end): by task. parallelism: instances, by task. instances: numbers of
    all of them; task_of: by instance. sent, received: by edge between tasks of this host, both ends. inputs: sources on this host. remote:
    sources on other hosts whose records come to this one. downstream, upstream: by neighbour, the queries that send there, and that
    receive from there.
    """

    host: int
    name: str
    cores: int
    budget_bytes: int | None
    names: tuple[str, ...]
    ids: tuple[str, ...]
    query: Words
    level: Words
    is_source: Bools
    fires: Bools
    parallelism: Words
    instances: Words
    task_of: Words
    sent: Words
    received: Words
    inputs: tuple[Input, ...]
    remote: tuple[Input, ...] = ()
    downstream: Mapping[int, tuple[int, ...]] = field(default_factory=dict)
    upstream: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def count(self) -> int:
        return len(self.ids)


def tasks_of_hosts(experiment: Experiment, w: Arrays) -> list[Tasks]:
    """The tasks of each host with a pool that runs any, by host. experiment: with all copies written out."""
    query = experiment.query
    number = {spec.id: n for n, spec in enumerate(query.operators)}
    edges = [(number[edge.source], number[edge.target]) for edge in query.edges if not edge.feedback]
    order = _places(len(number), edges)
    names, query_of = _queries(experiment, number, edges)
    fed_by = _fed_by(w, edges)
    deadlines = [operator_kind(spec.kind).deadlines(spec.parameters) for spec in query.operators]
    found = []
    for h, machine in enumerate(experiment.expanded_hosts()):
        here = np.flatnonzero(w.inst[:, L.I_HOST] == h)
        if machine.processor.kind != "pool" or not len(here):
            continue
        local = set(w.inst[here, L.I_OP].tolist())
        operators = sorted(local, key=lambda o: (query_of[o], order[o]))
        task = {o: k for k, o in enumerate(operators)}
        queries = list(dict.fromkeys(query_of[o] for o in operators))
        between = [(task[a], task[b]) for a, b in edges if a in local and b in local and query_of[a] == query_of[b]]
        level = [0] * len(operators)
        for a, b in sorted(between, key=lambda edge: edge[0]):
            level[b] = max(level[b], level[a] + 1)
        task_of = np.array([task[o] for o in w.inst[here, L.I_OP].tolist()], np.int64)
        inputs = _inputs(w, h, fed_by, queries, query_of)
        memory = machine.memory
        found.append(
            Tasks(
                h,
                machine.name,
                machine.cores_milli // 1000,
                memory.budget_bytes(machine.memory_bytes) if isinstance(memory, Budget) else None,
                tuple(names[q] for q in queries),
                tuple(query.operators[o].id for o in operators),
                np.array([queries.index(query_of[o]) for o in operators], np.int64),
                np.array(level, np.int64),
                np.array([query.operators[o].kind == "source" for o in operators]),
                np.array([deadlines[o] is not None for o in operators]),
                np.bincount(task_of, minlength=len(operators)),
                here,
                task_of,
                np.array([a for a, _ in between], np.int64),
                np.array([b for _, b in between], np.int64),
                tuple(each for each in inputs if each.host == h),
                tuple(each for each in inputs if each.host != h),
                _neighbours(w, h, L.C_SENDER, L.C_RECEIVER, queries, query_of),
                _neighbours(w, h, L.C_RECEIVER, L.C_SENDER, queries, query_of),
            )
        )
    return found


def _inputs(w: Arrays, h: int, fed_by: list[set[int]], queries: list[int], query_of: list[int]) -> list[Input]:
    """The sources whose watermarks come to instances of host `h`. Where nothing of a source's query runs there, it counts for the query
    that it feeds there: operators without a query may follow those of one."""
    found = []
    senders, receivers = w.chan[:, L.C_SENDER], w.chan[:, L.C_RECEIVER]
    to_here = np.flatnonzero((w.inst[receivers, L.I_HOST] == h) & (w.edge[w.chan[:, L.C_EDGE], L.E_FEEDBACK] == 0))
    alone = defaultdict(list)
    for c in to_here.tolist():
        if len(of := fed_by[senders[c]]) == 1:
            alone[next(iter(of))].append(c)
    fed = defaultdict(set)
    for k in np.flatnonzero(w.inst[:, L.I_HOST] == h).tolist():
        for i in fed_by[k]:
            fed[i].add(query_of[w.inst.item(k, L.I_OP)])
    for i in sorted(fed):
        o = int(w.inst[i, L.I_OP])
        at = int(w.op[o, L.O_DEADLINES])
        windows: tuple[tuple[int, int], ...] = ()
        if at >= 0:
            words = w.par[at + 1 : at + 1 + 2 * int(w.par[at])].tolist()
            windows = tuple(zip(words[::2], words[1::2], strict=True))
        channels, lag_ns, start_ns = np.array(alone[i], np.int64), int(w.inst[i, L.I_LAG]), int(w.op[o, L.O_START])
        query = queries.index(query_of[o] if query_of[o] in queries else min(fed[i]))
        found.append(Input(query, i, int(w.inst[i, L.I_HOST]), windows, lag_ns, start_ns, channels))
    return found


def _neighbours(w: Arrays, h: int, own: int, other: int, queries: list[int], query_of: list[int]) -> dict[int, tuple[int, ...]]:
    """By host at the other end of channels that have host `h` at this end, the queries of these channels. own, other: columns."""
    found = defaultdict(set)
    forward = w.chan[w.edge[w.chan[:, L.C_EDGE], L.E_FEEDBACK] == 0]
    here = forward[w.inst[forward[:, own], L.I_HOST] == h]
    for o, host in zip(w.inst[here[:, own], L.I_OP].tolist(), w.inst[here[:, other], L.I_HOST].tolist(), strict=True):
        if host != h:
            found[host].add(queries.index(query_of[o]))
    return {host: tuple(sorted(of)) for host, of in sorted(found.items())}


def _fed_by(w: Arrays, edges: list[tuple[int, int]]) -> list[set[int]]:
    """The source instances from which the watermark of each instance stems."""
    found: list[set[int]] = [{i} if w.inst[i, L.I_SOURCE] == 1 else set() for i in range(len(w.inst))]
    order = _places(len(w.op), edges)
    channels = w.chan[w.edge[w.chan[:, L.C_EDGE], L.E_FEEDBACK] == 0][:, [L.C_SENDER, L.C_RECEIVER]].tolist()
    for sender, receiver in sorted(channels, key=lambda channel: order[w.inst.item(channel[0], L.I_OP)]):
        found[receiver] |= found[sender]
    return found


def _places(count: int, edges: list[tuple[int, int]]) -> list[int]:
    """The place of each operator in an order with senders before receivers."""
    sorter: TopologicalSorter[int] = TopologicalSorter({n: [] for n in range(count)})
    for sender, receiver in edges:
        sorter.add(receiver, sender)
    place = [0] * count
    for k, n in enumerate(sorter.static_order()):
        place[n] = k
    return place


def _queries(experiment: Experiment, number: dict[str, int], edges: list[tuple[int, int]]) -> tuple[list[str], list[int]]:
    """Names of all queries, and the query of each operator."""
    names = [query.name for query in experiment.query.queries]
    query_of = [-1] * len(number)
    for q, query in enumerate(experiment.query.queries):
        for id in query.operators:
            query_of[number[id]] = q
    neighbours = defaultdict(list)
    for a, b in edges:
        if query_of[a] < 0 and query_of[b] < 0:
            neighbours[a].append(b)
            neighbours[b].append(a)
    for n in range(len(number)):
        if query_of[n] < 0:
            ahead = [n]
            for other in ahead:  # grows during the iteration
                if query_of[other] < 0:
                    query_of[other] = len(names)
                    ahead += neighbours[other]
            names.append(experiment.query.operators[n].id)
    return names, query_of

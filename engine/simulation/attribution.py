"""Where the time of a record went: turns rows of the service trace into waterfalls, whose parts add up to the latency, to the nanosecond.

Section 11 of docs/event-core.md defines the parts. This module only reads a trace; it does not depend on how the trace was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.kernels import service_trace
from engine.lowering.latency_stamps import CLOCKS

Words = NDArray[np.int64]

PARTS = (
    "event_delay",
    "driver_queue",
    "queueing",
    "scheduling",
    "alignment",
    "service",
    "stolen",
    "window_wait",
    "blocked",
    "network_wait",
    "transmission",
    "network_latency",
)
"""All parts, in the order in which a record meets them. Queueing and scheduling may occur again after the alignment."""

NEAR = 1 << 14
"""Number of rows searched on either side for a delivery before all rows are."""


class Part(NamedTuple):
    """A stretch of a record's time, [start_ns, end_ns). instance: index within the operator; for network parts that of the sender."""

    part: str
    operator: str
    instance: int
    start_ns: int
    end_ns: int

    @property
    def duration_ns(self) -> int:
        return self.end_ns - self.start_ns


@dataclass(frozen=True)
class Delivery:
    """A record at its sink. instance: index within the sink. trigger: identity of the input record that caused it."""

    sink: str
    instance: int
    trigger: int
    end_ns: int
    latency_ns: int


@dataclass(frozen=True)
class Waterfall:
    """A delivered record and the parts of its latency, from the measured clock to the delivery. Each begins where the previous one ends."""

    record: Delivery
    parts: tuple[Part, ...]

    def sums_ns(self) -> dict[str, int]:
        """Nanoseconds by part, with all parts present."""
        sums = dict.fromkeys(PARTS, 0)
        for part in self.parts:
            sums[part.part] += part.duration_ns
        return sums

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self.record), "parts": [part._asdict() for part in self.parts]}


@dataclass(frozen=True)
class Topology:
    """Meaning of a trace's numbers. operators, indexes: by instance. begins: by instance, 1 if the ingestion of records begins with its
    services. senders, receivers: instance by channel. clock: start of the measured latency."""

    operators: Sequence[str]
    indexes: Words
    begins: Words
    senders: Words
    receivers: Words
    clock: str


class NotTraced(ValueError):
    """The trace does not contain the record or its whole path."""


class Trace:
    """The services of a run or of a stretch of it, at a moment when the run is not advancing.

    rows: (n, TRACE_COLUMNS) of `engine.core.layout`, as `engine.core.kernels.service_trace` writes them.
    """

    def __init__(self, rows: Words, topology: Topology):
        self.topology, self.rows = topology, rows
        self._halves = rows.view(np.uint32)

    def __len__(self) -> int:
        return int(np.count_nonzero(self.rows[:, L.T_START] >= 0))

    def columns(self) -> dict[str, Words]:
        """Columns of the services, by start, then instance (docs/event-core.md, 11)."""
        n = np.flatnonzero(self.rows[:, L.T_START] >= 0)
        rows, halves = self.rows[n], self._halves[n].astype(np.int64)
        item = halves[:, L.F_ITEM]
        number, spans = item >> L.ITEM_NUMBER, halves[:, L.SECOND :]
        wide = item & L.ITEM_WIDE > 0
        full = self.rows[n[wide] + 1]
        number[wide], spans[wide] = -1 - full[:, L.T_START], full
        waited, latency, transmission, network_wait, idle, service, since_origin = spans[:, 1:].T
        by_channel = item & L.ITEM_BY_CHANNEL > 0
        channel = np.where(by_channel, number, -1)
        senders, receivers = (np.append(ends, -1) for ends in (self.topology.senders, self.topology.receivers))  # channel -1 has none
        parent = np.where(halves[:, L.F_PARENT] > 0, n - halves[:, L.F_PARENT], -1)
        start = rows[:, L.T_START]
        aligned = item & L.ITEM_ALIGNED > 0
        since_release, waited_for_it = self.rows[(n + 1 + wide)[aligned]][:, [L.T_RELEASED, L.T_ALIGNED]].T
        released, barred = np.full(len(n), -1), np.full(len(n), -1)
        released[aligned] = start[aligned] - since_release
        barred[aligned] = released[aligned] - waited_for_it
        columns = {
            "instance": np.where(by_channel, receivers[channel], number),
            "start_ns": start,
            "end_ns": rows[:, L.T_END],
            "kind": item & L.ITEM_KIND,
            "trigger": rows[:, L.T_TRIGGER],
            "class": item >> L.ITEM_CLASS & 3,
            "ready_ns": start - waited,
            "barred_ns": barred,
            "released_ns": released,
            "channel": channel,
            "sender": senders[channel],
            "sent_ns": start - waited - latency - transmission - network_wait,
            "begun_ns": start - waited - latency - transmission,
            "departed_ns": start - waited - latency,
            "parent_ns": np.where(parent >= 0, self.rows[parent, L.T_START], -1),
            "origin_ns": np.where(since_origin > 0, start - since_origin, -1),
            "idle_ns": start - idle,
            "service_ns": service,
        }
        order = np.lexsort((columns["instance"], start))
        return {name: column[order] for name, column in columns.items()}

    def waterfalls(self, records: Sequence[Delivery]) -> list[Waterfall]:
        """The paths of delivered records, in their order. Raises NotTraced."""
        chosen = np.array([(record.trigger, record.end_ns, record.latency_ns) for record in records], np.int64).reshape(-1, 3)
        path, outcome = np.zeros((64 + 32 * len(chosen), 4), np.int64), np.zeros((len(chosen), 4), np.int64)
        deliveries, clock, done = self._deliveries(records), CLOCKS[self.topology.clock], 0
        where = self.topology
        walk = partial(service_trace.walk_back, self.rows, self._halves, where.receivers, where.begins, clock)
        while (done := walk(done, deliveries, chosen, path, outcome)) < len(chosen):
            path = np.concatenate([path, np.zeros_like(path)])
        ends, problems = outcome[:, 0].tolist(), outcome[:, 1]
        if problems.any():
            first = int(np.flatnonzero(problems)[0])
            raise self._problem(records[first], *outcome[first, 1:].tolist())
        operators, indexes = self.topology.operators, self.topology.indexes.tolist()
        parts, instances, starts_ns, ends_ns = path[: max(ends, default=0)].T.tolist()
        names = ([PARTS[part] for part in parts], [operators[i] for i in instances], [indexes[i] for i in instances])
        made = list(map(Part, *names, starts_ns, ends_ns))
        begins = [0, *ends][: len(ends)]
        return [Waterfall(record, tuple(made[begin:end][::-1])) for record, begin, end in zip(records, begins, ends, strict=True)]

    def _deliveries(self, records: Sequence[Delivery]) -> Words:
        """The rows of the services that delivered the records, -1 where there is none."""
        instance_of = {key: i for i, key in enumerate(zip(self.topology.operators, self.topology.indexes.tolist(), strict=True))}
        places = np.array([(record.end_ns, instance_of[record.sink, record.instance]) for record in records], np.int64).reshape(-1, 2)
        order = np.lexsort((places[:, 1], places[:, 0]))
        ascending, found = places[order], np.full(len(records), -1, np.int64)
        if service_trace.find_near(self.rows, self._halves, self.topology.receivers, ascending, found, NEAR):
            service_trace.find_all(self.rows, self._halves, self.topology.receivers, ascending, found)
        rows = np.empty_like(found)
        rows[order] = found
        return rows

    def _problem(self, record: Delivery, problem: int, i: int, time_ns: int) -> NotTraced:
        if problem == service_trace.NO_DELIVERY:
            return NotTraced(f"the trace holds no delivery of record {record.trigger} at {record.sink} at {record.end_ns} ns")
        if problem == service_trace.BEGINS_TOO_LATE:
            return NotTraced(f"the trace begins too late: the path of record {record.trigger} starts before {time_ns} ns")
        if problem == service_trace.NAMES_NO_RECORD:
            return NotTraced(f"{self.topology.operators[i]} does not record the origin of what it sent at {time_ns} ns")
        from_ns = record.end_ns - record.latency_ns
        return NotTraced(f"the path of record {record.trigger} begins at {time_ns} ns, its latency counts from {from_ns}")

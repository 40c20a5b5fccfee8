"""Where the time of a record went: from rows of the service trace to waterfalls, whose parts add up to the latency to the nanosecond.

What the parts mean is section 11 of docs/event-core.md. Everything here reads a finished trace; nothing knows how it came about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L

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
"""All parts, in the order in which a record meets them. Nothing aligns yet, so `alignment` is nowhere longer than 0."""


@dataclass(frozen=True)
class Part:
    """A stretch of a record's time, [start_ns, end_ns). instance: index within the operator; of network parts the sender's."""

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
    """A delivered record and the parts of its latency, from the measured clock to the delivery; each begins where the one before ends."""

    record: Delivery
    parts: tuple[Part, ...]

    def sums_ns(self) -> dict[str, int]:
        """Nanoseconds by part; all parts are there."""
        sums = dict.fromkeys(PARTS, 0)
        for part in self.parts:
            sums[part.part] += part.duration_ns
        return sums

    def as_dict(self) -> dict[str, Any]:
        return {**asdict(self.record), "parts": [asdict(part) for part in self.parts]}


@dataclass(frozen=True)
class Topology:
    """What a trace's numbers stand for. operators, indexes: of each instance. senders: instance by channel. clock: what latency is
    measured from."""

    operators: Sequence[str]
    indexes: Words
    senders: Words
    clock: str


class NotTraced(ValueError):
    """The trace does not hold the record, or not all of its path."""


class Trace:
    """Rows of a service trace (n, TRACE_COLUMNS) in any order that keeps each instance's own, found by instance and time."""

    def __init__(self, rows: Words, topology: Topology):
        self.topology = topology
        self._rows = rows
        instances = rows[:, L.T_INSTANCE]
        narrow = instances.astype(np.uint16) if len(topology.operators) <= 1 << 16 else instances
        self._order = np.argsort(narrow, kind="stable")
        self._starts = rows[self._order, L.T_START]
        self._first = np.concatenate([[0], np.cumsum(np.bincount(instances, minlength=len(topology.operators)))])
        self._numbers = {key: n for n, key in enumerate(zip(topology.operators, topology.indexes.tolist(), strict=True))}

    def waterfall(self, record: Delivery) -> Waterfall:
        """The path of a delivered record, walked back from its sink. Raises NotTraced."""
        instance = self._numbers[record.sink, record.instance]
        row = self._last_before(instance, record.end_ns)
        if row is None or row[L.T_END] != record.end_ns or row[L.T_TRIGGER] != record.trigger:
            raise NotTraced(f"the trace holds no delivery of record {record.trigger} at {record.sink} at {record.end_ns} ns")
        backwards = self._served_back(row)
        while row[L.T_CHANNEL] >= 0:
            backwards += self._way_back(row)
            sender, sent_ns = int(self.topology.senders[row[L.T_CHANNEL]]), row[L.T_SENT]
            fired = self._last_before(sender, sent_ns)
            if sent_ns < 0 or fired is None:
                raise self._begins_too_late(record, row[L.T_READY])
            backwards.append(self._part("blocked", sender, fired[L.T_END], sent_ns))
            backwards += self._served_back(fired)
            origin_ns = row[L.T_ORIGIN] if row[L.T_ORIGIN] >= 0 else fired[L.T_START]
            row = fired
            if origin_ns != fired[L.T_START]:
                row = self._last_before(sender, origin_ns + 1)
                if row is None or row[L.T_START] != origin_ns:
                    raise self._begins_too_late(record, origin_ns)
                backwards.append(self._part("window_wait", sender, row[L.T_END], fired[L.T_START]))
                backwards += self._served_back(row)
            elif fired[L.T_KIND] != L.RECORD:
                raise NotTraced(f"{self.topology.operators[sender]} does not say which record its row of {sent_ns} ns counts from")
        from_ns, source = record.end_ns - record.latency_ns, row[L.T_INSTANCE]
        if self.topology.clock != "ingest":
            backwards.append(self._part("driver_queue", source, row[L.T_READY], row[L.T_START]))
        if self.topology.clock == "event":
            backwards.append(self._part("event_delay", source, from_ns, row[L.T_READY]))
        if backwards[-1].start_ns != from_ns:
            raise NotTraced(f"the path of record {record.trigger} begins at {backwards[-1].start_ns} ns, its latency counts from {from_ns}")
        return Waterfall(record, tuple(part for part in reversed(backwards) if part.duration_ns))

    def _served_back(self, row: Sequence[int]) -> list[Part]:
        """From the end of a service back to its start."""
        instance, worked_ns = row[L.T_INSTANCE], row[L.T_START] + row[L.T_SERVICE]
        return [
            self._part("stolen", instance, worked_ns, row[L.T_END]),
            self._part("service", instance, row[L.T_START], worked_ns),
        ]

    def _way_back(self, row: Sequence[int]) -> list[Part]:
        """From the start of a service back to the sending of its message."""
        receiver, start_ns, ready_ns = row[L.T_INSTANCE], row[L.T_START], row[L.T_READY]
        sender = int(self.topology.senders[row[L.T_CHANNEL]])
        queued_until_ns = start_ns - self._idle_ns(receiver, ready_ns, start_ns)
        return [
            self._part("scheduling", receiver, queued_until_ns, start_ns),
            self._part("queueing", receiver, ready_ns, queued_until_ns),
            self._part("network_latency", sender, row[L.T_DEPARTED], ready_ns),
            self._part("transmission", sender, row[L.T_BEGUN], row[L.T_DEPARTED]),
            self._part("network_wait", sender, row[L.T_SENT], row[L.T_BEGUN]),
        ]

    def _idle_ns(self, instance: int, from_ns: int, start_ns: int) -> int:
        """How long an instance was idle in [from_ns, start_ns), start_ns the start of one of its services."""
        first, last = self._first[instance], self._first[instance + 1]
        low, high = first + np.searchsorted(self._starts[first:last], (from_ns, start_ns), side="right")
        rows = self._rows[self._order[low:high]]
        return int(np.maximum(rows[:, L.T_START] - np.maximum(rows[:, L.T_IDLE], from_ns), 0).sum())

    def _last_before(self, instance: int, time_ns: int) -> list[int] | None:
        """The instance's last service that starts before a time."""
        first, last = self._first[instance], self._first[instance + 1]
        at = first + np.searchsorted(self._starts[first:last], time_ns)
        return None if at == first else self._rows[self._order[at - 1]].tolist()

    def _part(self, part: str, instance: int, start_ns: int, end_ns: int) -> Part:
        return Part(part, self.topology.operators[instance], int(self.topology.indexes[instance]), start_ns, end_ns)

    def _begins_too_late(self, record: Delivery, reached_ns: int) -> NotTraced:
        return NotTraced(f"the trace begins too late: the path of record {record.trigger} leads to before {reached_ns} ns")


def waterfalls(trace: Trace, records: Iterable[Delivery]) -> list[Waterfall]:
    """The waterfalls of delivered records. Raises NotTraced."""
    return [trace.waterfall(record) for record in records]

"""Where the time of a record went: from rows of the service trace to waterfalls, whose parts add up to the latency to the nanosecond.

What the parts mean is section 11 of docs/event-core.md. Everything here reads a finished trace; nothing knows how it came about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.core import bulk
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
    """The services of a run, or of a stretch of it, as they are while the run stands still.

    times: (n, TRACE_COLUMNS) of `engine.core.layout`. lineage: (n, LINEAGE_COLUMNS). base: number of the first row.
    """

    def __init__(self, times: Words, lineage: NDArray[np.int32], base: int, topology: Topology):
        self.topology = topology
        self._times, self._lineage, self._base = times, lineage, base

    def __len__(self) -> int:
        return len(self._times)

    def columns(self) -> dict[str, Words]:
        """What is known of each service, by start, then instance (docs/event-core.md, 11). Numbers of rows are given as times."""
        order = np.lexsort((self._lineage[:, L.F_INSTANCE], self._times[:, L.T_START]))
        times, lineage = self._times[order], self._lineage[order].astype(np.int64)
        channel = lineage[:, L.F_CHANNEL]
        senders = np.append(self.topology.senders, -1)  # channel -1 has none
        return {
            "instance": lineage[:, L.F_INSTANCE],
            "start_ns": times[:, L.T_START],
            "end_ns": times[:, L.T_END],
            "kind": lineage[:, L.F_KIND],
            "trigger": times[:, L.T_TRIGGER],
            "class": lineage[:, L.F_CLASS],
            "ready_ns": times[:, L.T_READY],
            "channel": channel,
            "sender": senders[channel],
            "sent_ns": times[:, L.T_SENT],
            "begun_ns": times[:, L.T_BEGUN],
            "departed_ns": times[:, L.T_DEPARTED],
            "parent_ns": self._of(lineage[:, L.F_PARENT], self._times[:, L.T_START]),
            "origin_ns": times[:, L.T_ORIGIN],
            "idle_ns": times[:, L.T_IDLE],
            "service_ns": times[:, L.T_SERVICE],
        }

    def _of(self, numbers: Words, values: NDArray[Any]) -> Words:
        """The values of other rows, by their numbers; -1 where there is none."""
        known = numbers >= self._base
        return np.where(known, values[np.where(known, numbers - self._base, 0)], -1).astype(np.int64)

    def waterfalls(self, records: Sequence[Delivery]) -> list[Waterfall]:
        """The paths of delivered records, in their order. Raises NotTraced."""
        instance_of = {key: i for i, key in enumerate(zip(self.topology.operators, self.topology.indexes.tolist(), strict=True))}
        places = np.array([(record.end_ns, instance_of[record.sink, record.instance]) for record in records], np.int64).reshape(-1, 2)
        order = np.lexsort((places[:, 1], places[:, 0]))
        found = np.full(len(records), -1, np.int64)
        wanted = np.zeros(len(instance_of), np.int8)
        wanted[places[:, 1]] = 1
        bulk.find_services(self._times, self._lineage, places[order], wanted, found)
        rows = np.empty_like(found)
        rows[order] = found
        return [self._waterfall(record, n) for record, n in zip(records, (rows + self._base).tolist(), strict=True)]

    def _waterfall(self, record: Delivery, n: int) -> Waterfall:
        """The path of the record that was delivered at the end of service n, walked back from there."""
        if n < self._base or self._time(n, L.T_TRIGGER) != record.trigger:
            raise NotTraced(f"the trace holds no delivery of record {record.trigger} at {record.sink} at {record.end_ns} ns")
        backwards = self._service(n)
        while self._from(n, L.F_CHANNEL) >= 0:
            fired = self._from(n, L.F_PARENT)
            if fired < self._base:
                raise self._begins_too_late(record, n)
            backwards += self._way(n)
            backwards.append(self._part("blocked", fired, self._time(fired, L.T_END), self._time(n, L.T_SENT)))
            backwards += self._service(fired)
            origin_ns = self._time(n, L.T_ORIGIN)
            if origin_ns in (-1, self._time(fired, L.T_START)):
                if self._from(fired, L.F_KIND) != L.RECORD:
                    raise NotTraced(
                        f"{self._operator(fired)} does not say from which record what it sent at {self._time(n, L.T_SENT)} counts"
                    )
                n = fired
            else:
                n = bulk.service_from(self._times, self._lineage, fired, self._base, origin_ns)
                if n < self._base:
                    raise self._begins_too_late(record, fired)
                backwards.append(self._part("window_wait", n, self._time(n, L.T_END), self._time(fired, L.T_START)))
                backwards += self._service(n)
        from_ns = record.end_ns - record.latency_ns
        if self.topology.clock != "ingest":
            backwards.append(self._part("driver_queue", n, self._time(n, L.T_READY), self._time(n, L.T_START)))
        if self.topology.clock == "event":
            backwards.append(self._part("event_delay", n, from_ns, self._time(n, L.T_READY)))
        if backwards[-1].start_ns != from_ns:
            raise NotTraced(f"the path of record {record.trigger} begins at {backwards[-1].start_ns} ns, its latency counts from {from_ns}")
        return Waterfall(record, tuple(part for part in reversed(backwards) if part.duration_ns))

    def _service(self, n: int) -> list[Part]:
        """From the end of a service back to its start."""
        worked_ns = self._time(n, L.T_START) + self._time(n, L.T_SERVICE)
        return [
            self._part("stolen", n, worked_ns, self._time(n, L.T_END)),
            self._part("service", n, self._time(n, L.T_START), worked_ns),
        ]

    def _way(self, n: int) -> list[Part]:
        """From the start of a service back to the sending of its message."""
        fired, start_ns, ready_ns = self._from(n, L.F_PARENT), self._time(n, L.T_START), self._time(n, L.T_READY)
        sent_ns, begun_ns, departed_ns = (self._time(n, column) for column in (L.T_SENT, L.T_BEGUN, L.T_DEPARTED))
        queued_until_ns = start_ns - bulk.idle_ns(self._times, self._lineage, n, self._base, ready_ns)
        return [
            self._part("scheduling", n, queued_until_ns, start_ns),
            self._part("queueing", n, ready_ns, queued_until_ns),
            self._part("network_latency", fired, departed_ns, ready_ns),
            self._part("transmission", fired, begun_ns, departed_ns),
            self._part("network_wait", fired, sent_ns, begun_ns),
        ]

    def _time(self, n: int, column: int) -> int:
        return int(self._times[n - self._base, column])

    def _from(self, n: int, column: int) -> int:
        return int(self._lineage[n - self._base, column])

    def _operator(self, n: int) -> str:
        return self.topology.operators[self._from(n, L.F_INSTANCE)]

    def _part(self, part: str, n: int, start_ns: int, end_ns: int) -> Part:
        return Part(part, self._operator(n), int(self.topology.indexes[self._from(n, L.F_INSTANCE)]), start_ns, end_ns)

    def _begins_too_late(self, record: Delivery, n: int) -> NotTraced:
        return NotTraced(f"the trace begins too late: the path of record {record.trigger} leads to before {self._time(n, L.T_START)} ns")

"""From the document to hosts, processors, instances and channels, numbered as docs/event-core.md, section 1, numbers them."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from .records import LOWEST_WATERMARK, Item, Mark, Record

AFTER_DEATH = -1
"""Stands in the place of a fault's number for a loss that is a host's own death; so it acts before those of faults."""


def integer(value: float, factor: int) -> int:
    """The decimal number that stands in the document, times `factor`, rounded half up."""
    return math.floor(Decimal(repr(value)) * factor + Decimal("0.5"))


def seconds(value: float) -> int:
    return integer(value, 10**9)


def milliseconds(value: float) -> int:
    return integer(value, 10**6)


@dataclass
class Prices:
    """Picoseconds at speed 1 (section 3)."""

    record_ps: int
    output_ps: int
    control_ps: int
    read_ps: int = 0  # per stored record that a firing reads
    noise: Any = None  # the laws, of the document
    drift: Any = None
    warmup: Any = None
    state_reference: int = 0  # bytes; 0: none
    attainable: int = 1 << 16  # share of the time of a service that is work, in units of 2^-16


@dataclass(eq=False)
class Fifo:
    """Messages pass one after another (section 4.1)."""

    mbit_per_s: int
    free_ns: int = 0

    def pass_through(self, now_ns: int, packet: Any) -> int:
        """When a message that enters now has passed."""
        takes_ns = -(-packet.bytes * 8000 // self.mbit_per_s)
        packet.transmission_ns += takes_ns
        self.free_ns = max(now_ns, self.free_ns) + takes_ns
        return self.free_ns


@dataclass(eq=False)
class Link:
    """From one host to another."""

    source: int
    target: int
    base_latency_ns: int
    fifo: Fifo
    trunk: Fifo | None = None
    cuts: list[tuple[int, float]] = field(default_factory=list)  # [from, to), infinity for never
    delays: list[tuple[int, float, int]] = field(default_factory=list)  # from, to, added
    waiting: list[Any] = field(default_factory=list)  # held by a cut
    last_arrival_ns: int = 0

    def latency_ns(self, now_ns: int) -> int:
        return self.base_latency_ns + sum(added for begin, end, added in self.delays if begin <= now_ns < end)

    def passes_from(self, now_ns: int) -> float:
        """When something sent now goes: now, or when the cut ends."""
        passes: float = now_ns
        while any(begin <= passes < end for begin, end in self.cuts):
            passes = max(end for begin, end in self.cuts if begin <= passes < end)
        return passes


@dataclass(eq=False)
class Host:
    number: int
    name: str
    speed_milli: int
    egress: Fifo
    links: dict[int, Link] = field(default_factory=dict)  # to each other host, by its number
    processors: list[Processor] = field(default_factory=list)
    factors: dict[int, int] = field(default_factory=dict)  # of the faults that slow it down, by number, in thousandths
    own_speed_milli: int = 0
    paused_until_ns: int = 0
    losses: dict[int, float] = field(default_factory=dict)  # those that it is down by: fault's number, when it ends
    life: int = 0  # how often it was lost
    started_ns: int = 0  # when it was up for the last time after that
    sharing: Any = None  # the shared cores, under processor sharing
    memory: Any = None  # where it is looked at
    background: Background = field(default_factory=lambda: Background())

    @property
    def dead(self) -> bool:
        return self.memory is not None and self.memory.died_ns >= 0

    @property
    def down(self) -> bool:
        return bool(self.losses)


@dataclass(eq=False)
class Processor:
    """Serves one item at a time, for the instances pinned to it."""

    number: int
    instances: list[Instance] = field(default_factory=list)
    busy: bool = False
    asked: bool = False  # to look for an item in this instant


@dataclass(eq=False)
class Background:
    """What a host does beside its instances (section 17)."""

    waiting_ps: int = 0
    processor: Processor | None = None  # that works on it ...
    end_ns: int = 0  # ... until then
    spent_ns: int = 0


@dataclass(eq=False)
class Epochs:
    """Delays in us since the last sweeping watermark, and the epochs that ended (section 17)."""

    delays_us: list[int] = field(default_factory=list)
    ended: list[tuple[int, ...]] = field(default_factory=list)


@dataclass(eq=False)
class Edge:
    number: int
    source: str
    source_port: str
    target: str
    target_port: str
    partitioning: Any
    bytes: int
    fields: int  # of its records
    feedback: bool = False  # closes a cycle: no watermarks
    envelope_bytes: int = 0  # of a record on a link
    sent_ps: int = 0  # work of serialising a record for another host ...
    received_ps: int = 0  # ... and of deserialising one from there
    capacity: int | None = None  # records that its channels hold, whatever the flow control says
    channels: dict[int, list[Channel]] = field(default_factory=dict)  # by sender index; each list by receiver index
    sent_by_index: dict[int, int] = field(default_factory=dict)  # records that each sender index has sent, for rebalance


@dataclass(eq=False)
class Channel:
    """An ordered pair of instances on one edge; counts what credits need (section 4)."""

    edge: Edge
    sender: Instance
    receiver: Instance
    records_sent: int = 0
    credits_ns: list[float] = field(default_factory=list)  # when the credit of the k-th record is back at the sender
    opens_ns: float = 0  # when the first credits are there
    watermark_ns: int = LOWEST_WATERMARK  # the largest that the receiver has served

    def renew(self, opens_ns: float) -> None:
        """Nothing has been sent yet, and all credits are there at `opens_ns`."""
        self.records_sent, self.credits_ns, self.opens_ns = 0, [], opens_ns

    @property
    def local(self) -> bool:
        return self.sender.host is self.receiver.host


@dataclass(eq=False)
class Instance:
    number: int
    operator: Any  # the document's operator
    index: int
    host: Host
    prices: Prices
    processors: list[Processor] = field(default_factory=list)  # those that may serve it
    served_by: Processor | None = None
    end_ns: int = 0  # of the service in progress ...
    finish: Any = None  # ... and what happens then
    behaviour: Any = None
    inputs: list[Channel] = field(default_factory=list)
    outputs: list[Edge] = field(default_factory=list)
    queue: list[Item] = field(default_factory=list)  # a heap, by queue order
    inputs_of_any_kind: int = 0  # those of feedback edges too
    barred: dict[Channel, int] = field(default_factory=dict)  # channels whose items are passed over, and since when (section 15)
    serving: bool = False
    service: list[Any] = field(default_factory=list)  # the last one's row ...
    outputs_made: list[Record] = field(default_factory=list)  # ... and what it sends when it ends
    delivers: bool = False  # ... or whether it delivers a record then
    to_send: deque[tuple[Channel, Any]] = field(default_factory=deque)  # what is left of an emission
    unsent: deque[tuple[int, Edge | int]] = field(default_factory=deque)  # copies to be sent, and an edge, or a control element's bytes
    state_bytes: int = 0
    messages_sent: int = 0
    services: int = 0  # begun so far ...
    records: int = 0  # ... and those of them that were of records
    idle_since_ns: int = 0  # when its last emission ended
    watermark_ns: int = LOWEST_WATERMARK
    clocks_ns: dict[str, int] = field(default_factory=dict)  # of the item that raised it
    mark_ns: int = LOWEST_WATERMARK  # of a source: that of the micro-batch which it reads
    rank: int = 0
    held: bool = False  # whatever its rank
    epochs: Epochs = field(default_factory=Epochs)
    waiting_for: tuple[Channel, int] | None = None  # blocked: the channel, and the record whose start gives the credit
    lost: int = 0  # records sent to it and never served
    lost_unsent: int = 0  # copies that it would have sent, records that it would have delivered

    def forget_sent(self) -> None:
        """Outputs of which no copy is left to be sent are held no longer."""
        while self.unsent and self.unsent[0][0] == 0:
            self.unsent.popleft()

    @property
    def blocked(self) -> bool:
        return bool(self.to_send)


@dataclass(eq=False)
class Log:
    """What one instance of a source reads, outside the system under test (section 5). period_ns 0: the source makes no watermarks."""

    instance: Instance
    entries: list[Record | Mark]
    closes_ns: int
    says_its_end: bool
    coordinated: bool  # the next record is made after the last was taken
    time_fields: list[str]
    period_ns: int
    lag_ns: int
    position: int = 0  # of the next entry to append
    newest_event_ns: int = LOWEST_WATERMARK  # served so far
    shift_ns: int = 0  # of what is coordinated
    start_ns: int = 0  # of the source's query: ticks count from there

    def tick_before(self, time_ns: int) -> int:
        """The last tick at that time or before, but not before the first one."""
        return self.start_ns + max((time_ns - self.start_ns) // self.period_ns, 1) * self.period_ns

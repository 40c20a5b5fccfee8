"""What moves through the oracle: records, watermarks and the items that instances serve."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

LOWEST_WATERMARK = -(2**62)
END_OF_LOG_WATERMARK = 2**62
CONTROL_BYTES = 16


class Kind(IntEnum):
    """What an item is; the numbers are those of the service trace."""

    RECORD = 0
    WATERMARK = 1
    TICK = 2
    END_OF_LOG = 3
    CONTROL_MESSAGE = 4
    BARRIER = 5
    MARKER = 6


class ItemClass(IntEnum):
    """Queue order among items that are ready at the same time (section 2)."""

    TICK = 0
    LOG = 1
    LOCAL = 2
    REMOTE = 3


@dataclass(frozen=True)
class Anchors:
    """The value of each clock (event, append, ingest) at the trigger, at the newest and oldest contributor, and mixed (section 8)."""

    trigger_ns: dict[str, int]
    newest_ns: dict[str, int]
    oldest_ns: dict[str, int]
    mixed_ns: dict[str, int]

    def with_contributors(self, other: Anchors, grouped: bool = False) -> Anchors:
        """These anchors, with the other's contributors counted in; the trigger stays. grouped: by an aggregate."""
        chosen = max if grouped else min
        newest_ns = {clock: max(time_ns, other.newest_ns[clock]) for clock, time_ns in self.newest_ns.items()}
        oldest_ns = {clock: min(time_ns, other.oldest_ns[clock]) for clock, time_ns in self.oldest_ns.items()}
        mixed_ns = {clock: chosen(time_ns, other.mixed_ns[clock]) for clock, time_ns in self.mixed_ns.items()}
        return Anchors(self.trigger_ns, newest_ns, oldest_ns, mixed_ns)

    def ingested_at(self, time_ns: int) -> Anchors:
        """These anchors, with this time of ingestion."""
        now = {"ingest": time_ns}
        return Anchors(self.trigger_ns | now, self.newest_ns | now, self.oldest_ns | now, self.mixed_ns | now)


@dataclass(frozen=True)
class Record:
    """values: field name to value, in schema order. trigger: the input record behind it (source number << 40 | record number).

    port: the output port by which it leaves the operator that makes it; under way it is `out` again. stands_for: outputs that are only
    counted in it.
    """

    values: dict[str, Any]
    event_ns: int
    trigger: int
    anchors: Anchors | None = None
    append_ns: int = 0  # only of a log's records
    port: str = "out"
    stands_for: int = 1

    def with_values(self, values: dict[str, Any], event_ns: int | None = None) -> Record:
        """A record that this one alone causes."""
        return Record(values, self.event_ns if event_ns is None else event_ns, self.trigger, self.anchors)

    def to_port(self, port: str) -> Record:
        return replace(self, port=port)


@dataclass(frozen=True)
class Barrier:
    """A barrier on a channel (section 15)."""

    number: int

    def on_channels_of(self, instance: Any) -> list[tuple[Any, Barrier]]:
        """Its copies, as they leave the instance."""
        return [(channel, self) for edge in instance.outputs for channel in edge.channels[instance.index]]


class Watermark(int):
    """A watermark under way, with the clocks of the one in the log or of the tick that it stems from (section 8)."""

    clocks_ns: dict[str, int]

    @classmethod
    def of(cls, value_ns: int, clocks_ns: dict[str, int]) -> Watermark:
        made = cls(value_ns)
        made.clocks_ns = clocks_ns
        return made


@dataclass(frozen=True)
class Mark:
    """A watermark that stands in a log."""

    append_ns: int
    watermark_ns: int


@dataclass(frozen=True)
class Marker:
    """A latency marker: what is left of its number, and its clocks. append_ns: only in a log."""

    number: int
    clocks_ns: dict[str, int]
    append_ns: int = 0

    def on_channels_of(self, instance: Any) -> list[tuple[Any, Marker]]:
        """Its copies, as they leave the instance: one on each edge, to the receivers in turn (section 6)."""
        found = []
        for edge in instance.outputs:
            channels = edge.channels[instance.index]
            if not edge.feedback:
                following = Marker(self.number // len(channels), self.clocks_ns)
                found.append((channels[self.number % len(channels)], following))
        return found


@dataclass(order=True)
class Item:
    """Something an instance can serve. `order` is the queue order of section 2: (ready_ns, class, instance, sender, fifo)."""

    order: tuple[int, int, int, int, int]
    kind: Kind = field(compare=False)
    record: Record | None = field(default=None, compare=False)
    watermark_ns: int = field(default=0, compare=False)
    marker: Marker | None = field(default=None, compare=False)
    barrier: Barrier | None = field(default=None, compare=False)
    channel: Any = field(default=None, compare=False)  # by which it came; None for log items and ticks
    control: Any = field(default=None, compare=False)  # sender's address and message
    sender_life: int = field(default=0, compare=False)  # how often the sender's host had been lost
    way_ns: tuple[int, int, int] | None = field(default=None, compare=False)  # of a message: sent, transmission begun and ended
    aligned_ns: tuple[int, int] = field(default=(-1, -1), compare=False)  # since when and until when it waited for barriers

    @property
    def ready_ns(self) -> int:
        return self.order[0]

    def origin(self) -> tuple[int, ...]:
        """Where it came from (section 11): class, ready, sender, then sent and transmission begun and ended; of log items and ticks -1 and
        thrice the time at which they were ready. At last its wait for barriers."""
        sender = -1 if self.channel is None else self.channel.sender.number
        return (int(self.order[1]), self.ready_ns, sender, *(self.way_ns or (self.ready_ns,) * 3), *self.aligned_ns)

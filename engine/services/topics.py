"""Partitions of topics as a broker keeps them: segments that are closed on append, and compaction of what is closed.

Source: Chronarakis 2019, 2.2 and 4.5; rules of Apache Kafka 0.10.1 where the thesis says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import FAR
from engine.core.tables import Words

Bools = NDArray[np.bool_]
TombstoneRule = Literal["merged_segment_mtime", "per_record_horizon"]
"""When a tombstone may go. merged_segment_mtime: in a pass in which its segment is older than the last clean one by the retention. All
clean segments that fit into one are merged, and the merged one is as old as its newest part, so then no tombstone ever goes (KAFKA-8522).
per_record_horizon: the retention after the first pass that it came through (later versions)."""


@dataclass(frozen=True)
class LogSettings:
    """Settings of a topic. segment_ns, segment_bytes: a segment is closed before a record that is so much later than its first one, or with
    which it would be larger. dirty_share: a log is cleaned if more of its closed bytes are dirty. delete_retention_ns: of tombstones.
    keys_max: how many keys a cleaner can remember, which bounds a pass."""

    segment_ns: int = 7 * 24 * 3600 * 10**9
    segment_bytes: int = 512 * 2**20
    dirty_share: float = 0.5
    delete_retention_ns: int = 100_000_000
    tombstone_rule: TombstoneRule = "merged_segment_mtime"
    keys_max: int = 2_500_000

    def __post_init__(self) -> None:
        for name, least in (("segment_ns", 1), ("segment_bytes", 1), ("delete_retention_ns", 0), ("keys_max", 1)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if not 0 <= self.dirty_share <= 1:
            raise ValueError(f"dirty_share is {self.dirty_share:g}; it must be from 0 to 1")


@dataclass(frozen=True)
class Records:
    """Records of a log, one after the other. All (n,). values: what a key is set to. horizons_ns: from when on a tombstone may go, FAR if a
    pass has not come to it yet."""

    offsets: Words
    keys: Words
    sizes: Words
    values: Words
    is_tombstone: Bools
    horizons_ns: Words

    def __len__(self) -> int:
        return len(self.offsets)

    @property
    def bytes(self) -> int:
        return int(self.sizes.sum())

    def chosen(self, which: Bools | slice) -> Records:
        return Records(*(getattr(self, field.name)[which] for field in fields(self)))


def together(parts: Sequence[Records]) -> Records:
    return Records(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Records)))


EMPTY = np.zeros(0, np.int64)
NONE = Records(EMPTY, EMPTY, EMPTY, EMPTY, np.zeros(0, bool), EMPTY)


@dataclass(frozen=True)
class Segment:
    """A closed segment. modified_ns: when its last record was appended; after a merge, that of the last part."""

    records: Records
    modified_ns: int
    bytes: int


@dataclass(frozen=True)
class Cleaning:
    """A pass over a log. clean_bytes, dirty_bytes, segments: what it reads. end: number of closed segments that it replaces. cleaned: by
    what."""

    clean_bytes: int
    dirty_bytes: int
    segments: int
    end: int
    cleaned: list[Segment]


class Partition:
    """A log: clean segments (the tail), closed dirty ones, and the active one, which is never cleaned.

    end: the next offset. rolled: how many segments have been closed. stable: the first offset of a transaction that is open, FAR without
    transactions; from there on nothing is cleaned.
    """

    def __init__(self, settings: LogSettings):
        self.settings = settings
        self.clean: list[Segment] = []
        self.dirty: list[Segment] = []
        self.end = self.rolled = 0
        self._active: list[Records] = []
        self._active_bytes = self._first_ns = self._last_ns = 0
        self._newest = np.zeros(0, np.int64)  # by key: its newest offset in a pass, -1 outside of passes
        self._indexed_to = 0  # the first offset that no pass has seen
        self.stable = FAR

    # -- sizes ---------------------------------------------------------------------------------------------------------------------

    @property
    def clean_bytes(self) -> int:
        return sum(segment.bytes for segment in self.clean)

    @property
    def dirty_bytes(self) -> int:
        return sum(segment.bytes for segment in self.dirty)

    @property
    def bytes(self) -> int:
        return self.clean_bytes + self.dirty_bytes + self._active_bytes

    @property
    def count(self) -> int:
        """Records that it holds."""
        return sum(len(records) for records in self.segments())

    def count_from(self, first: int) -> int:
        """Records that it holds from an offset on."""
        return sum(len(records) - int(np.searchsorted(records.offsets, first)) for records in self.segments())

    @property
    def dirty_share(self) -> float:
        """Dirty bytes over dirty and clean ones. The active segment does not count, nor does what is not stable."""
        dirty, clean = sum(segment.bytes for segment in self._cleanable), self.clean_bytes
        return dirty / (dirty + clean) if dirty + clean else 0.0

    @property
    def is_due(self) -> bool:
        """Whether a cleaner takes it."""
        return self.dirty_share > self.settings.dirty_share

    @property
    def _cleanable(self) -> list[Segment]:
        """The closed dirty segments that are stable."""
        if self.stable >= self.end:
            return self.dirty
        return [segment for segment in self.dirty if segment.records.offsets[-1] < self.stable]

    # -- appending and reading -----------------------------------------------------------------------------------------------------

    def append(self, times_ns: Words, keys: Words, sizes: Words, values: Words, is_tombstone: Bools) -> None:
        """Append records, in order of time. A segment is closed on an append alone, so that of an idle log stays active."""
        count = len(keys)
        offsets = np.arange(self.end, self.end + count)
        records = Records(offsets, keys, sizes, values, is_tombstone, np.full(count, FAR))
        self.end += count
        starts = np.concatenate([[0], np.cumsum(sizes)])
        n = 0
        while n < count:
            if not self._active_bytes:
                self._first_ns = int(times_ns[n])
            by_time = int(np.searchsorted(times_ns, self._first_ns + self.settings.segment_ns, "right"))
            room = self.settings.segment_bytes - self._active_bytes + int(starts[n])
            by_size = int(np.searchsorted(starts[1:], room, "right"))
            to = max(min(by_time, by_size, count), n if self._active_bytes else n + 1)
            if to > n:
                self._active.append(records.chosen(slice(n, to)))
                self._active_bytes += int(starts[to] - starts[n])
                self._last_ns = int(times_ns[to - 1])
            if to < count:
                self._roll()
            n = to

    def settle(self) -> None:
        """Forget in how many parts records came. Nothing else changes."""
        self._active = [together(self._active)] if self._active else []
        self._newest = EMPTY

    def _roll(self) -> None:
        self.dirty.append(Segment(together(self._active), self._last_ns, self._active_bytes))
        self._active, self._active_bytes = [], 0
        self.rolled += 1

    def cut_off(self, first: int) -> Records:
        """Drop the records from an offset on, as they were never sent, and return them. What a pass has seen stays, and a closed segment
        stays closed. Offsets go on behind those that stay."""
        first = max(first, self._indexed_to)
        dropped = self.read(first)
        if len(dropped):
            kept = [(segment, segment.records.chosen(segment.records.offsets < first)) for segment in self.dirty]
            self.dirty = [replace(segment, records=records, bytes=records.bytes) for segment, records in kept if len(records)]
            self._active = [part for part in (part.chosen(part.offsets < first) for part in self._active) if len(part)]
            self._active_bytes = sum(part.bytes for part in self._active)
            self.end = first
        return dropped

    def segments(self) -> Iterator[Records]:
        """All records, oldest first."""
        yield from (segment.records for segment in (*self.clean, *self.dirty))
        yield from self._active

    def read(self, first: int = 0) -> Records:
        """The records from an offset on."""
        found = together([NONE, *self.segments()])
        return found.chosen(found.offsets >= first)

    # -- cleaning ------------------------------------------------------------------------------------------------------------------

    def cleaning(self, now_ns: int) -> Cleaning:
        """Plan a pass over all closed segments: of each key that occurs in the dirty ones, only the newest record stays. What is appended
        meanwhile is not touched. `swap` puts it into effect."""
        taken, keys = self._indexed()
        closed = [*self.clean, *self.dirty[:taken]]
        horizon_ns = self.clean[-1].modified_ns - self.settings.delete_retention_ns if self.clean else -FAR
        cleaned = [self._merged(group, horizon_ns, now_ns) for group in self._groups(closed)]
        self._newest[keys] = -1
        dirty_bytes = sum(segment.bytes for segment in self.dirty[:taken])
        if taken:
            self._indexed_to = int(self.dirty[taken - 1].records.offsets[-1]) + 1
        return Cleaning(self.clean_bytes, dirty_bytes, len(closed), taken, [segment for segment in cleaned if len(segment.records)])

    def swap(self, pass_: Cleaning) -> None:
        """Replace the segments that a pass has read by what it has made of them. Readers see one or the other."""
        self.clean = pass_.cleaned
        del self.dirty[: pass_.end]

    def _indexed(self) -> tuple[int, Words]:
        """Note the newest offset of each key of the dirty segments, as many as fit into the memory of a cleaner. Returns the number of
        these segments, and the keys."""
        noted: list[Words] = []
        count = 0
        cleanable = self._cleanable
        for n, segment in enumerate(cleanable):
            keys = segment.records.keys
            most = int(keys.max(initial=-1))
            if most >= len(self._newest):
                self._newest = np.concatenate([self._newest, np.full(max(most + 1, 2 * len(self._newest)) - len(self._newest), -1)])
            own = np.unique(keys)
            fresh = own[self._newest[own] < 0]
            if count + len(fresh) > self.settings.keys_max:
                if n == 0:
                    message = f"keys_max is {self.settings.keys_max}, but a segment has {len(fresh)} keys, so no pass could clean it"
                    raise ValueError(f"{message}; use smaller segments")
                return n, np.concatenate(noted)
            count += len(fresh)
            noted.append(fresh)
            self._newest[keys] = segment.records.offsets  # of several, the last one stays
        return len(cleanable), np.concatenate([EMPTY, *noted])

    def _groups(self, closed: Sequence[Segment]) -> Iterator[list[Segment]]:
        """Segments that are merged into one: in order, as many as fit."""
        group: list[Segment] = []
        for segment in closed:
            if group and sum(one.bytes for one in group) + segment.bytes > self.settings.segment_bytes:
                yield group
                group = []
            group.append(segment)
        if group:
            yield group

    def _merged(self, group: Sequence[Segment], horizon_ns: int, now_ns: int) -> Segment:
        parts = []
        for segment in group:
            records = segment.records
            stays = self._newest[records.keys] <= records.offsets
            if self.settings.tombstone_rule == "merged_segment_mtime":
                if segment.modified_ns <= horizon_ns:
                    stays &= ~records.is_tombstone
            else:
                stays &= ~records.is_tombstone | (records.horizons_ns >= now_ns)
                retained_ns = now_ns + self.settings.delete_retention_ns
                horizons_ns = np.where(records.is_tombstone & (records.horizons_ns == FAR), retained_ns, records.horizons_ns)
                records = replace(records, horizons_ns=horizons_ns)
            parts.append(records.chosen(stays))
        kept = together(parts)
        return Segment(kept, group[-1].modified_ns, kept.bytes)

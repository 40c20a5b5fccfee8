"""A log-structured merge tree: buffers in memory, and sorted runs on a disk that are merged from time to time.

Source: Chronarakis 2019, 2.2 and 4.1 (buffers of 32 MB, three of them, no write-ahead log); rules of RocksDB where the thesis says nothing.
The sizes of what is stored are calibrated (specification of incremental checkpointing, A4).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from engine.core.layout import FAR
from engine.core.tables import Words

from .store_keys import StoreKeys

Bools = NDArray[np.bool_]
Kind = Literal["flush", "merge"]
Compaction = Literal["universal", "leveled"]
"""How runs are merged. universal: as many as `runs_max`, all of them into one. leveled: those of level 0 into level 1, and of a level that
has become too large, file by file, into the next one, ten times as large."""


@dataclass(frozen=True)
class TreeSettings:
    """buffers: how many, each of buffer_bytes; if all are full, writes stall. entry_bytes: of an entry in a buffer, beside key and value.
    put_share: what coding and compression leave of key and value. put_extra_bytes: of an entry in a run, before compression.
    tombstone_bytes: of one in a run. flush_bytes: files and metadata of a flush. runs_max: merged when there are so many. ttl_ns: entries
    that are older are dropped when their run is written."""

    buffer_bytes: int = 32_000_000
    buffers: int = 3
    compaction: Compaction = "universal"
    runs_max: int = 4
    level_bytes: int = 256_000_000
    level_factor: int = 10
    file_bytes: int = 64_000_000
    ttl_ns: int | None = None
    entry_bytes: int = 28
    put_share: float = 0.35
    put_extra_bytes: int = 8
    tombstone_bytes: float = 7.5
    flush_bytes: int = 100_000
    disk_bytes_per_s: float = 500e6

    def __post_init__(self) -> None:
        least_of = {"buffer_bytes": 1, "buffers": 2, "runs_max": 2, "level_bytes": 1, "level_factor": 2, "file_bytes": 1}
        for name, least in least_of.items():
            if getattr(self, name) < least:
                raise ValueError(f"{name} is {getattr(self, name)}; it must be at least {least}")
        if self.ttl_ns is not None and self.ttl_ns < 1:
            raise ValueError(f"ttl_ns is {self.ttl_ns}; it must be at least 1, or None")
        if self.disk_bytes_per_s <= 0:
            raise ValueError(f"disk_bytes_per_s is {self.disk_bytes_per_s:g}; it must be above 0")


@dataclass(frozen=True)
class Entries:
    """Versions of keys, oldest first, or a run, in which each key occurs once, in the order of the store. All (n,). times_ns: when they
    were put."""

    keys: Words
    values: Words
    sizes: Words
    times_ns: Words
    is_tombstone: Bools

    def __len__(self) -> int:
        return len(self.keys)

    def chosen(self, which: Bools | slice | Words) -> Entries:
        return Entries(self.keys[which], self.values[which], self.sizes[which], self.times_ns[which], self.is_tombstone[which])


def together(parts: Sequence[Entries]) -> Entries:
    columns = ([getattr(part, name) for part in (NONE, *parts)] for name in ("keys", "values", "sizes", "times_ns", "is_tombstone"))
    return Entries(*(np.concatenate(column) for column in columns))


_EMPTY = np.zeros(0, np.int64)
NONE = Entries(_EMPTY, _EMPTY, _EMPTY, _EMPTY, np.zeros(0, bool))


@dataclass(frozen=True)
class Run:
    """Sorted entries on disk, as one file of a level, or as a whole run."""

    entries: Entries
    bytes: int


@dataclass
class Buffer:
    """Entries in memory, in the order in which they came."""

    parts: list[Entries] = field(default_factory=list)
    bytes: int = 0


@dataclass(frozen=True)
class Job:
    """A flush or a merge under way. read: the runs that it replaces. made: what it writes, into level `to`."""

    kind: Kind
    ends_ns: int
    read: Sequence[Run]
    made: Sequence[Run]
    to: int
    bytes: int


@dataclass(frozen=True)
class DiskWrite:
    """Bytes that came to the disk until `ended_ns`."""

    kind: Kind
    ended_ns: int
    bytes: int


class Tree:
    """levels: runs on disk, of level 0 newest first, of the others in the order of their keys. put_bytes: what the operator has put.
    written: all that came to the disk. stalled_ns: how long writes have waited for a buffer. ready_ns: when the last of them
    had one. merges: False while it is filled in bulk."""

    def __init__(self, keys: StoreKeys, settings: TreeSettings):
        self.keys, self.settings = keys, settings
        self.active = Buffer()
        self.full: list[Buffer] = []  # oldest first
        self.levels: list[list[Run]] = [[]]
        self.written: list[DiskWrite] = []
        self.put_bytes = self.stalled_ns = self.ready_ns = 0
        self.merges = True
        self._jobs: list[Job] = []
        self._disk_free_ns = 0

    def emptied(self, keys: StoreKeys) -> Tree:
        """An empty tree whose counters go on."""
        made = Tree(keys, self.settings)
        made.written, made.put_bytes, made.stalled_ns = self.written, self.put_bytes, self.stalled_ns
        return made

    # -- writing -------------------------------------------------------------------------------------------------------------------

    def put(self, entries: Entries) -> int:
        """Apply entries at their times. Returns for how long the last of them has waited for a buffer."""
        self.put_bytes += int(entries.sizes.sum())
        weights = np.cumsum(entries.sizes + self.settings.entry_bytes)
        at = done = late_ns = 0
        while at < len(entries):
            if self.active.bytes >= self.settings.buffer_bytes:
                due_ns = int(entries.times_ns[at]) + late_ns
                self.ready_ns = self._switched(due_ns)
                late_ns += self.ready_ns - due_ns
            room = self.settings.buffer_bytes - self.active.bytes + done
            to = min(int(np.searchsorted(weights, room)) + 1, len(entries))  # the entry that fills a buffer is still part of it
            self.active.parts.append(entries.chosen(slice(at, to)))
            self.active.bytes += int(weights[to - 1]) - done
            at, done = to, int(weights[to - 1])
        self.stalled_ns += late_ns
        return late_ns

    def flush(self, now_ns: int) -> int:
        """Write out what is in memory. Returns when it is on disk."""
        self.advance(now_ns)
        if self.active.bytes:
            now_ns = self._switched(now_ns)
        elif not self._jobs:
            self._begin("flush", now_ns, (), (), 0, self.settings.flush_bytes)  # an idle store writes its metadata
        return max([now_ns, *(job.ends_ns for job in self._jobs if job.kind == "flush")])

    def _switched(self, now_ns: int) -> int:
        """Begin a new buffer, as soon as one is free. Returns when."""
        self.advance(now_ns)
        if len(self.full) + 1 >= self.settings.buffers:
            now_ns = min(job.ends_ns for job in self._jobs if job.kind == "flush")
            self.advance(now_ns)
        self.full.append(self.active)
        self.active = Buffer()
        run = self._run(self._newest(together(self.full[-1].parts), now_ns))
        self._begin("flush", now_ns, (), (run,), 0, run.bytes + self.settings.flush_bytes)
        return now_ns

    def _begin(self, kind: Kind, now_ns: int, read: Sequence[Run], made: Sequence[Run], to: int, bytes: int) -> None:
        """The disk does one thing after the other."""
        moved = bytes + sum(run.bytes for run in read)
        self._disk_free_ns = max(now_ns, self._disk_free_ns) + max(1, round(1e9 * moved / self.settings.disk_bytes_per_s))
        self._jobs.append(Job(kind, self._disk_free_ns, read, made, to, bytes))

    def settle(self) -> None:
        """Forget in how many parts entries came. Nothing else changes."""
        for buffer in (*self.full, self.active):
            buffer.parts = [together(buffer.parts)] if buffer.parts else []

    @property
    def is_nearly_full(self) -> bool:
        """Whether no buffer is free but the one that is written to."""
        return len(self.full) + 1 >= self.settings.buffers

    # -- in the background ---------------------------------------------------------------------------------------------------------

    @property
    def next_ns(self) -> int:
        """When the next flush or merge ends, FAR if none is under way."""
        return self._jobs[0].ends_ns if self._jobs else FAR

    def advance(self, now_ns: int) -> None:
        """Carry out what ends until now."""
        while self._jobs and self._jobs[0].ends_ns <= now_ns:
            job = self._jobs.pop(0)
            self.written.append(DiskWrite(job.kind, job.ends_ns, job.bytes))
            if job.kind == "merge":
                gone = {id(run) for run in job.read}
                self.levels = [[run for run in level if id(run) not in gone] for level in self.levels]
                self._add(job.to, job.made)
            elif job.made:
                del self.full[0]
                self.levels[0][:0] = [run for run in job.made if len(run.entries)]
            self._compact(job.ends_ns)

    def _add(self, to: int, made: Sequence[Run]) -> None:
        while len(self.levels) <= to:
            self.levels.append([])
        level = [*self.levels[to], *(run for run in made if len(run.entries))]
        if to > 0:
            ranks = self.keys.ranks(np.array([run.entries.keys[0] for run in level], np.int64))
            level = [level[n] for n in np.argsort(ranks, kind="stable").tolist()]
        self.levels[to] = level  # after a merge of all, level 0 holds at most younger runs, which come first

    def _compact(self, now_ns: int) -> None:
        """Begin a merge, if one is due and none is under way."""
        if not self.merges or any(job.kind == "merge" for job in self._jobs):
            return
        settings = self.settings
        if len(self.levels[0]) >= settings.runs_max:
            self._merge(now_ns, self.levels[0], 0 if settings.compaction == "universal" else 1)
            return
        for n in range(1, len(self.levels)):
            if sum(run.bytes for run in self.levels[n]) > settings.level_bytes * settings.level_factor ** (n - 1):
                largest = max(self.levels[n], key=lambda run: run.bytes)
                self._merge(now_ns, [largest], n + 1)
                return

    def _merge(self, now_ns: int, chosen: Sequence[Run], to: int) -> None:
        """Merge runs, newest first, with those of level `to` above 0 whose keys overlap."""
        below = self._overlapping(chosen, self.levels[to]) if 0 < to < len(self.levels) else []
        runs = [*chosen, *below]
        entries = self._newest(together([run.entries for run in reversed(runs)]), now_ns)
        if not any(self.levels[to + 1 :]):
            entries = entries.chosen(~entries.is_tombstone)  # no older version is left that would come back
        made = [self._run(part) for part in (self._files(entries) if to > 0 else [entries])]
        self._begin("merge", now_ns, runs, made, to, sum(run.bytes for run in made))

    def _overlapping(self, chosen: Sequence[Run], level: Sequence[Run]) -> list[Run]:
        """Runs of a level with a key between the least and the largest of the chosen ones."""
        ends = [(int(run.entries.keys[0]), int(run.entries.keys[-1])) for run in (*chosen, *level)]
        ranks = self.keys.ranks(np.array(ends, np.int64).reshape(-1)).reshape(-1, 2)
        first, last = ranks[: len(chosen), 0].min(), ranks[: len(chosen), 1].max()
        return [run for run, (low, high) in zip(level, ranks[len(chosen) :].tolist(), strict=True) if low <= last and high >= first]

    def _files(self, entries: Entries) -> Iterator[Entries]:
        ends = np.cumsum(self._coded(entries))
        at = 0
        while at < len(entries):
            before = float(ends[at - 1]) if at else 0.0
            to = max(at + 1, int(np.searchsorted(ends, before + self.settings.file_bytes, "right")))
            yield entries.chosen(slice(at, to))
            at = to

    def _newest(self, entries: Entries, now_ns: int | None = None) -> Entries:
        """The newest version of each key, in the order of the store. What has expired by `now_ns` becomes a tombstone, since an older run
        may still hold an older version."""
        order = self.keys.sorted(entries.keys)
        keys = entries.keys[order]
        is_last = np.ones(len(keys), bool)
        is_last[:-1] = keys[1:] != keys[:-1]
        found = entries.chosen(order[is_last])
        if self.settings.ttl_ns is not None and now_ns is not None:
            found = replace(found, is_tombstone=found.is_tombstone | (found.times_ns <= now_ns - self.settings.ttl_ns))
        return found

    def _coded(self, entries: Entries) -> NDArray[np.float64]:
        settings = self.settings
        puts = settings.put_share * (entries.sizes + settings.put_extra_bytes)
        return np.where(entries.is_tombstone, settings.tombstone_bytes, puts)

    def _run(self, entries: Entries) -> Run:
        return Run(entries, round(float(self._coded(entries).sum())))

    # -- reading -------------------------------------------------------------------------------------------------------------------

    @property
    def read_amplification(self) -> int:
        """Buffers and runs that a read of one key may have to look at. Of a level above 0, one run holds the key."""
        return 1 + len(self.full) + len(self.levels[0]) + sum(bool(level) for level in self.levels[1:])

    @property
    def write_amplification(self) -> float:
        """Bytes that came to the disk over bytes that were put."""
        return sum(write.bytes for write in self.written) / self.put_bytes if self.put_bytes else 0.0

    @property
    def space_amplification(self) -> float:
        """Bytes of the runs over those of what they hold that is alive."""
        stored = [run for level in self.levels for run in level]
        alive = self._newest(self._versions(()))
        alive_bytes = float(self._coded(alive.chosen(~alive.is_tombstone)).sum())
        return sum(run.bytes for run in stored) / alive_bytes if alive_bytes else 0.0

    @property
    def disk_bytes(self) -> int:
        return sum(run.bytes for level in self.levels for run in level)

    def contents(self) -> Entries:
        """What is alive, in the order of the store: buffers over runs, newer over older."""
        newest = self._newest(self._versions([*self.full, self.active]))
        return newest.chosen(~newest.is_tombstone)

    def has_since(self, time_ns: int) -> bool:
        """Whether something is on disk that was put at this time or later."""
        return any(bool((run.entries.times_ns >= time_ns).any()) for level in self.levels for run in level)

    def values(self) -> Words:
        """Of all versions that are on disk, or will be if their buffer is flushed. Shape (n,)."""
        runs = [run.entries for level in self.levels for run in level]
        buffers = [self._newest(together(buffer.parts)) for buffer in (*self.full, self.active)]
        found = together([*runs, *buffers])
        return found.values[~found.is_tombstone]

    def crash(self, now_ns: int) -> None:
        """The process ends: what is in memory is lost, and what was being written. The disk stays."""
        self.advance(now_ns)
        self.active, self.full, self._jobs = Buffer(), [], []
        self._disk_free_ns = now_ns

    def _versions(self, buffers: Sequence[Buffer]) -> Entries:
        """All versions, oldest first."""
        runs = [run.entries for level in reversed(self.levels) for run in reversed(level)]
        return together([*runs, *(part for buffer in buffers for part in buffer.parts)])

"""A task's local store with its changelog: every change goes to both, and the changelog fills a new store after a crash.

Source: Chronarakis 2019, 2.2, 2.4 and 4.4; rules of Apache Samza 1.1 where the thesis says nothing (specification of incremental
checkpointing, A3 and A7).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from engine.core.tables import Words
from engine.services.topics import Partition
from engine.spec.experiment.states.base import RECORD_BYTES

from .cache import Cache, CacheSettings
from .kernels import COMMIT, OP_WORDS
from .restoring import RestoreCosts, restore_ns
from .sender import Sender
from .store_keys import StoreKeys
from .tree import Entries, Tree, TreeSettings


@dataclass(frozen=True)
class StoreSettings:
    """stale_ns: a local store whose last commit is longer ago is thrown away, since the log may have dropped tombstones that it has not
    seen; None trusts any. request_ns: of the sender, None if changes are in the log at once. on_disk: False for a store in memory, which
    has no tree on disk that a commit flushes."""

    cache: CacheSettings = field(default_factory=CacheSettings)
    tree: TreeSettings = field(default_factory=TreeSettings)
    costs: RestoreCosts = field(default_factory=RestoreCosts)
    stale_ns: int | None = None
    request_ns: int | None = None
    on_disk: bool = True


@dataclass(frozen=True)
class Restored:
    """What a restore read. way: whether the local store was used. reason: why not, "" if it was."""

    way: Literal["local", "changelog"]
    reason: str
    records: int
    bytes: int
    took_ns: int


class Store:
    """keys: shared by cache, tree and log. offset: of the last record that a commit has brought to disk, -1 before the first commit.
    committed_ns: when that was."""

    def __init__(self, settings: StoreSettings, log: Partition):
        self.settings, self.log = settings, log
        self.keys = StoreKeys()
        self.sender = None if settings.request_ns is None else Sender(settings.request_ns)
        self.offset, self.committed_ns = -1, 0
        self._under_way: tuple[int, int, int] | None = None  # of a commit: when it is on disk, offset, when it began
        self._new()

    def _new(self) -> None:
        self.cache = Cache(self.settings.cache)
        self.tree = Tree(self.keys, self.settings.tree)

    def take_keys(self, keys: StoreKeys) -> None:
        """Share the keys of another store, into whose log it looks. It must be empty."""
        self.keys = keys
        self._new()

    def carry_out(self, operations: Words) -> int:
        """Carry out an operator's operations (n, 5), see `Cache`. Returns for how long the last one has waited for a buffer."""
        left = self.cache.carry_out(operations)
        self.log.append(left.times_ns, left.keys, left.sizes + RECORD_BYTES, left.values, left.is_tombstone)
        if self.sender is not None:
            self.sender.send(left.times_ns)
        if not self.settings.on_disk:
            return 0
        return self.tree.put(Entries(left.keys, left.values, left.sizes, left.times_ns, left.is_tombstone))

    def commit(self, now_ns: int) -> int:
        """Write out the cache, flush the tree, and note up to which record of the log it is on disk. Returns when that is done, and all
        that was sent is in the log."""
        row = np.zeros((1, OP_WORDS), np.int64)
        row[0, :2] = COMMIT, now_ns
        late_ns = self.carry_out(row)
        answered_ns = now_ns if self.sender is None else self.sender.answered_ns(now_ns)
        if not self.settings.on_disk:
            return answered_ns
        self.advance(now_ns)
        ends_ns = max(answered_ns, self.tree.flush(now_ns + late_ns))
        self._under_way = ends_ns, self.log.end - 1, now_ns
        return ends_ns

    def advance(self, now_ns: int) -> None:
        """Carry out what ends until now."""
        self.tree.advance(now_ns)
        if self._under_way is not None and self._under_way[0] <= now_ns:
            _, self.offset, self.committed_ns = self._under_way
            self._under_way = None

    def crash(self, now_ns: int, disk_lost: bool) -> None:
        """The process ends. What the cache has not written out is lost, and what the tree has in memory, and a commit that is not on disk
        yet; with the disk, all of it."""
        self.advance(now_ns)
        self._under_way = None
        self.tree.crash(now_ns)
        self.cache = Cache(self.settings.cache)
        if disk_lost:
            self.offset = -1
            self._new()

    def restore(self, now_ns: int) -> Restored:
        """Bring the store to the end of the log: from the last commit on, or from the start in an empty store."""
        reason = self._unusable(now_ns)
        if reason:
            self._new()
        records = self.log.read(self.offset + 1 if not reason else 0)
        sizes = records.sizes - RECORD_BYTES
        tree = self.settings.tree
        took = restore_ns(self.keys, records.keys, records.sizes, sizes + tree.entry_bytes, tree.buffer_bytes, self.settings.costs)
        took_ns = round(float(took.sum()))
        self.tree.merges = False
        times_ns = now_ns + np.cumsum(took).astype(np.int64)
        took_ns += self.tree.put(Entries(records.keys, records.values, sizes, times_ns, records.is_tombstone))
        self.tree.merges = True
        return Restored("changelog" if reason else "local", reason, len(records), records.bytes, took_ns)

    def _unusable(self, now_ns: int) -> str:
        if self.offset < 0:
            return "no commit has brought it to disk"
        if self.settings.stale_ns is not None and now_ns - self.committed_ns > self.settings.stale_ns:
            return "its last commit is longer ago than tombstones are retained"
        return ""

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

from .cache import Cache, CacheSettings
from .kernels import COMMIT, OP_WORDS
from .restoring import RestoreCosts, restore_ns
from .store_keys import StoreKeys
from .tree import Entries, Tree, TreeSettings

RECORD_BYTES = 34
"""Of a record in a log beside key and value (message format 1)."""


@dataclass(frozen=True)
class StoreSettings:
    """stale_ns: a local store whose last commit is longer ago is thrown away, since the log may have dropped tombstones that it has not
    seen; None trusts any."""

    cache: CacheSettings = field(default_factory=CacheSettings)
    tree: TreeSettings = field(default_factory=TreeSettings)
    costs: RestoreCosts = field(default_factory=RestoreCosts)
    stale_ns: int | None = None


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
        self.offset, self.committed_ns = -1, 0
        self._new()

    def _new(self) -> None:
        self.cache = Cache(self.settings.cache)
        self.tree = Tree(self.keys, self.settings.tree)

    def carry_out(self, operations: Words) -> int:
        """Carry out an operator's operations (n, 5), see `Cache`. Returns for how long the last one has waited for a buffer."""
        left = self.cache.carry_out(operations)
        self.log.append(left.times_ns, left.keys, left.sizes + RECORD_BYTES, left.values, left.is_tombstone)
        return self.tree.put(Entries(left.keys, left.values, left.sizes, left.times_ns, left.is_tombstone))

    def commit(self, now_ns: int) -> int:
        """Write out the cache, flush the tree, and note up to which record of the log it is on disk. Returns when that is done."""
        row = np.zeros((1, OP_WORDS), np.int64)
        row[0, :2] = COMMIT, now_ns
        late_ns = self.carry_out(row)
        self.offset, self.committed_ns = self.log.end - 1, now_ns
        return self.tree.flush(now_ns + late_ns)

    def crash(self, now_ns: int, disk_lost: bool) -> None:
        """The process ends. What the cache has not written out is lost, and what the tree has in memory; with the disk, all of it."""
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

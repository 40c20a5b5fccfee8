"""A task's local store with its changelog: every change goes to both, and the changelog fills a new store after a crash.

Source: Chronarakis 2019, 2.2, 2.4 and 4.4; rules of Apache Samza 1.1 where the thesis says nothing (specification of incremental
checkpointing, A3 and A7).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from engine.core.tables import Words
from engine.services.topics import NONE, Partition, Records
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
    has no tree on disk that a commit flushes. may_crash: whether it must know what has been sent.
    transactional: whether what was logged since the last commit is taken back in a crash."""

    cache: CacheSettings = field(default_factory=CacheSettings)
    tree: TreeSettings = field(default_factory=TreeSettings)
    costs: RestoreCosts = field(default_factory=RestoreCosts)
    stale_ns: int | None = None
    request_ns: int | None = None
    on_disk: bool = True
    may_crash: bool = False
    transactional: bool = False


@dataclass(frozen=True)
class Lost:
    """What a crash took. changes: that had not come to the changelog. results: windows whose result had left although their deletion is
    among these changes, so that they will come twice."""

    changes: int
    results: int


@dataclass(frozen=True)
class Restored:
    """What a restore read. way: the local store and what it lacks, the whole changelog, or an output log. reason: why not the local store,
    "" if there is none to use."""

    way: Literal["local", "changelog", "output_log"]
    reason: str
    records: int
    bytes: int
    took_ns: int


class Store:
    """keys: shared by cache, tree and log. offset: of the last record that a commit has brought to disk, -1 before the first commit.
    committed_ns: when that was. recent: (n, 2) offset and time of the records that a crash may still take
    back. is_ahead: whether the disk has what the log has not."""

    def __init__(self, settings: StoreSettings, log: Partition):
        self.settings, self.log = settings, log
        self.keys = StoreKeys()
        self.sender = None if settings.request_ns is None else Sender(settings.request_ns)
        self.offset, self.committed_ns = -1, 0
        self._under_way: tuple[int, int, int] | None = None  # of a commit: when it is on disk, offset, when it began
        self.recent = np.zeros((0, 2), np.int64)
        self.is_ahead = False
        self._committed_to = 0  # of the log, when the last commit began
        if settings.transactional:
            log.stable = 0
        self.cache = Cache(self.settings.cache)
        self.tree = Tree(self.keys, self.settings.tree)

    def _new(self) -> None:
        """An empty store, whose counters go on."""
        self.is_ahead = False
        self.cache = self.cache.emptied()
        self.tree = self.tree.emptied(self.keys)

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
        if self.settings.may_crash and len(left.times_ns):
            self._note_recent(left.times_ns)
        if not self.settings.on_disk:
            return 0
        return self.tree.put(Entries(left.keys, left.values, left.sizes, left.times_ns, left.is_tombstone))

    def commit(self, now_ns: int) -> int:
        """Write out the cache, flush the tree, and note up to which record of the log it is on disk. Returns when that is done, and all
        that was sent is in the log."""
        row = np.zeros((1, OP_WORDS), np.int64)
        row[0, :2] = COMMIT, now_ns
        late_ns = self.carry_out(row)
        self._committed_to = self.log.end
        answered_ns = now_ns if self.sender is None else self.sender.answered_ns(now_ns)
        if not self.settings.on_disk:
            return answered_ns
        self.advance(now_ns)
        ends_ns = max(answered_ns, self.tree.flush(now_ns + late_ns))
        self._under_way = ends_ns, self.log.end - 1, now_ns
        return ends_ns

    def end_transaction(self) -> None:
        """The last commit is complete, with the positions of the input: nothing before it is taken back any more."""
        self.log.stable = self._committed_to
        self.recent = self.recent[self.recent[:, 0] >= self._committed_to]

    def advance(self, now_ns: int) -> None:
        """Carry out what ends until now."""
        self.tree.advance(now_ns)
        if self._under_way is not None and self._under_way[0] <= now_ns:
            _, self.offset, self.committed_ns = self._under_way
            self._under_way = None

    def _note_recent(self, times_ns: Words) -> None:
        """Of the records just appended and those before, note which have not been sent, or are of the newest moment, which a service in
        progress may have made."""
        fresh = np.stack([np.arange(self.log.end - len(times_ns), self.log.end), times_ns], axis=1)
        found = np.concatenate([self.recent, fresh])
        if self.settings.transactional:
            self.recent = found
            return
        sent_ns = times_ns[-1] if self.sender is None else self.sender.began_ns
        self.recent = found[(found[:, 1] > sent_ns) | (found[:, 1] == times_ns[-1])]

    def crash(self, now_ns: int, disk_lost: bool, serves_since_ns: int | None = None, closes: bool = False) -> Lost:
        """The process ends. What the cache has not written out is lost, what the tree has in memory, what waits to be sent, and a commit
        that is not on disk yet; with the disk, all of it. serves_since_ns: start of the service in progress, whose changes are lost, too,
        since its outputs are. closes: whether it closes windows."""
        self.advance(now_ns)
        self._under_way = None
        self.tree.crash(now_ns)
        unsent, times_ns = self._take_back(now_ns, serves_since_ns)
        open_again = unsent.keys[unsent.is_tombstone & ~(closes & (times_ns == serves_since_ns))]
        if not closes:
            open_again = np.concatenate([open_again, self.cache.dirty_tombstones()])
        lost = Lost(len(unsent) + self.cache.dirty, len(np.unique(self.keys.of(open_again)[:, :2], axis=0)))
        self.cache = self.cache.emptied()
        if disk_lost:
            self.offset = -1
            self._new()
        return lost

    def _take_back(self, now_ns: int, serves_since_ns: int | None) -> tuple[Records, Words]:
        """Cut off what the log has and the broker has not, or what belongs to a transaction that never ends. Returns it with its times."""
        sent_ns = now_ns if self.sender is None else self.sender.crash(now_ns)
        if serves_since_ns is not None:
            sent_ns = min(sent_ns, serves_since_ns - 1)
        unsent = self.recent if self.settings.transactional else self.recent[self.recent[:, 1] > sent_ns]
        self.recent = np.zeros((0, 2), np.int64)
        if not len(unsent):
            return NONE, unsent[:, 1]
        if self.tree.has_since(int(unsent[0, 1])):
            self.is_ahead = True  # the disk was quicker than the sender
        dropped = self.log.cut_off(int(unsent[0, 0]))
        return dropped, unsent[len(unsent) - len(dropped) :, 1]

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
        put_bytes = self.tree.put_bytes
        self.tree.merges = False
        times_ns = now_ns + np.cumsum(took).astype(np.int64)
        took_ns += self.tree.put(Entries(records.keys, records.values, sizes, times_ns, records.is_tombstone))
        self.tree.merges, self.tree.put_bytes = True, put_bytes  # that counts what operators put
        return Restored("changelog" if reason else "local", reason, len(records), records.bytes, took_ns)

    def contents(self) -> Entries:
        """What is alive after a restore."""
        found = self.tree.contents()
        if not self.settings.on_disk:  # it lies beside the operator, and nothing goes below
            self._new()
        return found

    def needed(self) -> Words:
        """Numbers of the changes that a restore may come to, now or after a crash. Shape (n,)."""
        log = self.log.read()
        sent = log.chosen(~np.isin(log.offsets, self.recent[:, 0]))
        newest: Words = np.full(int(sent.keys.max(initial=-1)) + 1, -1, np.int64)
        newest[sent.keys] = np.where(sent.is_tombstone, -1, sent.values)  # of several, the last one stays
        recent = log.values[np.isin(log.offsets, self.recent[:, 0]) & ~log.is_tombstone]
        return np.unique(np.concatenate([newest, recent, self.cache.dirty_values(), self.tree.values()]))

    def _unusable(self, now_ns: int) -> str:
        if self.offset < 0:
            return "no commit has brought it to disk"
        if self.is_ahead or (self.settings.transactional and self.offset + 1 != self.log.stable):
            return "its disk has changes that its changelog has not"
        if self.settings.stale_ns is not None and now_ns - self.committed_ns > self.settings.stale_ns:
            return "its last commit is longer ago than tombstones are retained"
        return ""

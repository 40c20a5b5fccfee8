"""What the windowed revenue of the thesis does with its local stores: 6,250 purchases/s from each producer for eight minutes, ten keys that
two tasks share, windows of a second, a commit each minute (specification of incremental checkpointing, 2.4 and 5)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from engine.core.tables import Words
from engine.state.cache import Cache, CacheSettings, Written
from engine.state.kernels import COMMIT, DELETE, KEY_EXTRA_BYTES, PUT, SCAN
from engine.state.store_keys import StoreKeys
from engine.state.tree import Entries, Tree, TreeSettings

Layout = Literal["fold", "retain"]
SECOND = 1_000_000_000
SECONDS, STARTS_S, FED_S, PER_S, COMMIT_S = 1200, 180, 480, 6250, 60
KEY_BYTES = 10
VALUE_BYTES: dict[Layout, int] = {"fold": 4, "retain": 8 + 10 + 51}


@dataclass
class Outcome:
    """appended: records of the changelogs. batches: of how many write-outs. by_second: bytes that came to the disks in each second."""

    trees: list[Tree] = field(default_factory=list)
    appended: int = 0
    batches: int = 0

    @property
    def written_mb(self) -> float:
        return sum(write.bytes for tree in self.trees for write in tree.written) / 1e6

    @property
    def by_second(self) -> Words:
        found = np.zeros(SECONDS + 60, np.int64)
        for tree in self.trees:
            for write in tree.written:
                found[write.ended_ns // SECOND] += write.bytes
        return found


def loaded(layout: Layout, producers: int = 1, batch: int = 500, seed: int = 1, absorb: bool = True, fed_s: int = FED_S) -> Outcome:
    """Both tasks. absorb: without it, each entry that leaves the cache is flushed by itself."""
    found = Outcome()
    for task in range(2):
        chance = np.random.default_rng(seed)  # the same purchases, of which each task has its keys
        keys = StoreKeys()
        tree = Tree(keys, TreeSettings() if absorb else TreeSettings(buffer_bytes=1, flush_bytes=0, runs_max=10**9))
        cache = Cache(CacheSettings(batch=batch, objects=max(batch, 1000)))
        for second in range(SECONDS):
            if second and second % COMMIT_S == 0:
                _apply(found, tree, cache.carry_out(np.array([[COMMIT, second * SECOND, 0, 0, 0]])))
                tree.flush(second * SECOND)
            if STARTS_S <= second < STARTS_S + fed_s:
                _apply(found, tree, cache.carry_out(operations(layout, second, task, producers, keys, chance)))
        tree.advance(2 * SECONDS * SECOND)
        found.trees.append(tree)
    return found


def _apply(found: Outcome, tree: Tree, written: Written) -> None:
    found.appended += len(written.keys)
    found.batches += len(np.unique(written.batches))
    tree.put(Entries(written.keys, written.values, written.sizes, written.times_ns, written.is_tombstone))


def operations(layout: Layout, second: int, task: int, producers: int, keys: StoreKeys, chance: np.random.Generator) -> Words:
    """Of one task: rows of operations for the purchases of a window, and for its end."""
    start_ns = second * SECOND
    ids = np.round(chance.uniform(1, 10, PER_S * producers)).astype(np.int64)
    times = start_ns + np.sort(chance.integers(0, SECOND, len(ids)))
    mine = ids % 2 == task
    ids, times = ids[mine], times[mine]
    size = KEY_BYTES + KEY_EXTRA_BYTES
    rows = np.zeros((2 * len(ids), 5), np.int64)
    if layout == "fold":  # each update reads what was there by a range
        windows = keys.add(np.arange(1, 11), np.full(10, start_ns), np.zeros(10, np.int64))
        rows[::2, 0], rows[::2, 1] = SCAN, times
        rows[1::2] = np.stack([np.full(len(ids), PUT), times, windows[ids - 1], ids, np.full(len(ids), size + VALUE_BYTES[layout])], axis=1)
        gone = windows[np.unique(ids) - 1]
    else:
        gone = keys.add(ids, np.full(len(ids), start_ns), second * 10**6 + np.arange(len(ids)))
        rows = np.stack([np.full(len(ids), PUT), times, gone, ids, np.full(len(ids), size + VALUE_BYTES[layout])], axis=1)
    end_ns = start_ns + SECOND - 1
    ends = np.zeros((len(gone) + 1, 5), np.int64)
    ends[:, 1] = end_ns
    ends[0, 0] = SCAN
    ends[1:, 0], ends[1:, 2], ends[1:, 4] = DELETE, gone, size
    return np.concatenate([rows, ends])

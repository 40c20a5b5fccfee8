"""Twins of engine/state: a cache as two ordered dicts, and a tree as a dict."""

from __future__ import annotations

from collections import OrderedDict

from engine.state.cache import CacheSettings
from engine.state.kernels import COMMIT, DELETE, READ, SCAN

Left = tuple[int, int, int, int, bool, int]
"""Time, key, value, bytes, whether it is a tombstone, number of the write-out."""


class CacheTwin:
    """entries: by use, first used first. dirty: in the order of their change."""

    def __init__(self, settings: CacheSettings):
        self.settings = settings
        self.entries: OrderedDict[int, tuple[int, int, bool]] = OrderedDict()
        self.dirty: OrderedDict[int, None] = OrderedDict()
        self.left: list[Left] = []
        self.batches = self.absorbed = self.hits = self.misses = 0
        self.causes = {"batch": 0, "eviction": 0, "scan": 0, "commit": 0}

    def write_out(self, now_ns: int, cause: str) -> None:
        if not self.dirty:
            return
        for key in self.dirty:
            value, size, is_tombstone = self.entries[key]
            self.left.append((now_ns, key, value, size, is_tombstone, self.batches))
        self.dirty.clear()
        self.batches += 1
        self.causes[cause] += 1

    def carry_out(self, kind: int, now_ns: int, key: int, value: int, size: int) -> None:
        if kind in (SCAN, COMMIT):
            self.write_out(now_ns, "scan" if kind == SCAN else "commit")
            return
        found = key in self.entries
        if not found and len(self.entries) == self.settings.objects:
            oldest = next(iter(self.entries))
            if oldest in self.dirty:
                self.write_out(now_ns, "eviction")
            del self.entries[oldest]
        if kind == READ:
            self.hits += found
            self.misses += not found
            if not found:
                self.entries[key] = (value, size, False)
            self.entries.move_to_end(key)
            return
        if key in self.dirty:
            self.absorbed += 1
            del self.dirty[key]
        self.dirty[key] = None
        self.entries[key] = (value, size, kind == DELETE)
        self.entries.move_to_end(key)
        if len(self.dirty) >= self.settings.batch:
            self.write_out(now_ns, "batch")

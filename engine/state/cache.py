"""The cache above a local store: it delays writes, so that several updates of a key become one, and leave in batches.

Source: Chronarakis 2019, 2.2; rules of Apache Samza 1.1 where the thesis says nothing (specification of incremental checkpointing, A1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.tables import Words

from .kernels import (
    C_DIRTY,
    C_KEY,
    C_TOMBSTONE,
    C_VALUE,
    C_WORDS,
    CAUSES,
    K_ABSORBED,
    K_BATCH,
    K_CAUSES,
    K_DIRTY,
    K_FIRST,
    K_HITS,
    K_LAST,
    K_MISSES,
    K_NEWEST,
    K_OLDEST,
    K_OUT,
    K_USED,
    K_WORDS,
    OP_KEY,
    OUT_WORDS,
    carry_out,
)


@dataclass(frozen=True)
class CacheSettings:
    """batch: with so many dirty entries all are written out. objects: entries that fit, at least a batch."""

    batch: int = 500
    objects: int = 1000

    def __post_init__(self) -> None:
        if self.batch < 1:
            raise ValueError(f"batch is {self.batch}; it must be at least 1")
        if self.objects < self.batch:
            raise ValueError(f"objects is {self.objects}, fewer than a batch of {self.batch}; use at least as many")


class Written(NamedTuple):
    """Entries that left the cache, in order. All (n,). batches: which write-out an entry was part of, from 0 on."""

    times_ns: Words
    keys: Words
    values: Words
    sizes: Words
    is_tombstone: NDArray[np.bool_]
    batches: Words


class Cache:
    """Entries by use. What an operator reads of a range lies in the store below, so a scan writes out what is dirty.

    Operations are rows of words (OP_KIND, OP_TIME, ..): kind, time in ns, number of the key, value, and bytes of key and value. A READ
    gives the value that the store below has, for the case that the cache has none.
    """

    def __init__(self, settings: CacheSettings):
        self.settings = settings
        self._place = np.zeros((settings.objects, C_WORDS), np.int64)
        self._counts = np.zeros(K_WORDS, np.int64)
        self._counts[[K_NEWEST, K_OLDEST, K_FIRST, K_LAST]] = -1
        self._place_of = np.full(1024, -1, np.int32)

    def emptied(self) -> Cache:
        """An empty cache whose counters go on."""
        made = Cache(self.settings)
        made._counts[K_BATCH:] = self._counts[K_BATCH:]
        return made

    def dirty_values(self) -> Words:
        """Of the dirty entries that are no tombstones. Shape (n,)."""
        place = self._place[: self.used]
        found: Words = place[(place[:, C_DIRTY] != 0) & (place[:, C_TOMBSTONE] == 0), C_VALUE]
        return found

    def dirty_tombstones(self) -> Words:
        """Keys of the dirty entries that are tombstones. Shape (n,)."""
        place = self._place[: self.used]
        found: Words = place[(place[:, C_DIRTY] != 0) & (place[:, C_TOMBSTONE] != 0), C_KEY]
        return found

    @property
    def dirty(self) -> int:
        return int(self._counts[K_DIRTY])

    @property
    def used(self) -> int:
        return int(self._counts[K_USED])

    @property
    def reads(self) -> tuple[int, int]:
        """Reads that found the key here, and that did not."""
        return int(self._counts[K_HITS]), int(self._counts[K_MISSES])

    @property
    def absorbed(self) -> int:
        """Changes that replaced one that had not been written out."""
        return int(self._counts[K_ABSORBED])

    @property
    def write_outs(self) -> dict[str, int]:
        """How often dirty entries were written out, by cause."""
        return {cause: int(self._counts[K_CAUSES + n]) for n, cause in enumerate(CAUSES)}

    def carry_out(self, operations: Words) -> Written:
        """operations: (n, 5), in order of time. Returns what leaves the cache."""
        most = int(operations[:, OP_KEY].max(initial=-1)) + 1
        if most > len(self._place_of):
            more = max(most - len(self._place_of), len(self._place_of))
            self._place_of = np.concatenate([self._place_of, np.full(more, -1, np.int32)])
        out = np.empty((len(operations) + self.dirty, OUT_WORDS), np.int64)
        self._counts[K_OUT] = 0
        carry_out(operations, self._place, self._counts, self._place_of, out, self.settings.batch)
        left = out[: self._counts[K_OUT]]
        times_ns, keys, values, sizes, is_tombstone, batches = left.T
        return Written(times_ns, keys, values, sizes, is_tombstone != 0, batches)

    def settle(self) -> None:
        """Forget which keys came together. Nothing else changes."""
        self._counts[K_OUT] = 0
        self._place_of = self._place_of[: int(np.flatnonzero(self._place_of >= 0).max(initial=-1)) + 1].copy()

    def entries(self) -> list[tuple[int, int, bool, bool]]:
        """Key, value, whether it is a tombstone, and whether it is dirty: the entry used last comes first."""
        found = []
        p = int(self._counts[K_NEWEST])
        while p >= 0:
            key, value, _, is_tombstone, is_dirty, _, older, *_ = self._place[p].tolist()
            found.append((key, value, bool(is_tombstone), bool(is_dirty)))
            p = older
        return found

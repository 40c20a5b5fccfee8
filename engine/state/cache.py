"""The cache above a local store: it delays writes, so that several updates of a key become one, and leave in batches.

Source: Chronarakis 2019, 2.2; rules of Apache Samza 1.1 where the thesis says nothing (specification of incremental checkpointing, A1).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.core.compiler import compiled
from engine.core.tables import Words

PUT, DELETE, READ, SCAN, COMMIT = range(5)
"""What an operator does with its store. READ is of one key, SCAN of a range. COMMIT writes out what is dirty."""
CAUSES = "batch", "eviction", "scan", "commit"
"""Why dirty entries were written out."""
OF_BATCH, OF_EVICTION, OF_SCAN, OF_COMMIT = range(len(CAUSES))

# columns of operations, and of what is written
OP_KIND, OP_TIME, OP_KEY, OP_VALUE, OP_SIZE, OP_WORDS = range(6)
OUT_TIME, OUT_KEY, OUT_VALUE, OUT_SIZE, OUT_TOMBSTONE, OUT_BATCH, OUT_WORDS = range(7)
# columns of a place in the cache. Places are linked from the one used last to the one used first; dirty ones also in order of their change
C_KEY, C_VALUE, C_SIZE, C_TOMBSTONE, C_DIRTY, C_NEWER, C_OLDER, C_BEFORE, C_AFTER, C_WORDS = range(10)
# counters and ends of lists
K_USED, K_DIRTY, K_NEWEST, K_OLDEST, K_FIRST, K_LAST, K_OUT, K_BATCH, K_HITS, K_MISSES, K_ABSORBED, K_CAUSES = range(12)
K_WORDS = K_CAUSES + len(CAUSES)


@dataclass(frozen=True)
class CacheSettings:
    """batch: with so many dirty entries all are written out. objects: entries that fit, at least a batch and one more."""

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


def unlink(place, counts, p):
    """Take place `p` out of the list by use."""
    newer = place[p, C_NEWER]
    older = place[p, C_OLDER]
    if newer < 0:
        counts[K_NEWEST] = older
    else:
        place[newer, C_OLDER] = older
    if older < 0:
        counts[K_OLDEST] = newer
    else:
        place[older, C_NEWER] = newer


def to_front(place, counts, p):
    """Place `p`, which is in no list by use, was used last."""
    newest = counts[K_NEWEST]
    place[p, C_NEWER] = -1
    place[p, C_OLDER] = newest
    if newest < 0:
        counts[K_OLDEST] = p
    else:
        place[newest, C_NEWER] = p
    counts[K_NEWEST] = p


def clean(place, counts, p):
    """Take place `p` out of the list of dirty ones."""
    before = place[p, C_BEFORE]
    after = place[p, C_AFTER]
    if before < 0:
        counts[K_FIRST] = after
    else:
        place[before, C_AFTER] = after
    if after < 0:
        counts[K_LAST] = before
    else:
        place[after, C_BEFORE] = before
    place[p, C_DIRTY] = 0
    counts[K_DIRTY] -= 1


def soil(place, counts, p):
    """Put place `p` behind the dirty ones."""
    last = counts[K_LAST]
    place[p, C_BEFORE] = last
    place[p, C_AFTER] = -1
    if last < 0:
        counts[K_FIRST] = p
    else:
        place[last, C_AFTER] = p
    counts[K_LAST] = p
    place[p, C_DIRTY] = 1
    counts[K_DIRTY] += 1


def write_out(place, counts, out, now, cause):
    """All dirty entries leave, the one changed first at first. They stay in the cache."""
    if counts[K_DIRTY] > 0:
        p = counts[K_FIRST]
        n = counts[K_OUT]
        while p >= 0:
            out[n, OUT_TIME] = now
            out[n, OUT_KEY] = place[p, C_KEY]
            out[n, OUT_VALUE] = place[p, C_VALUE]
            out[n, OUT_SIZE] = place[p, C_SIZE]
            out[n, OUT_TOMBSTONE] = place[p, C_TOMBSTONE]
            out[n, OUT_BATCH] = counts[K_BATCH]
            place[p, C_DIRTY] = 0
            n += 1
            p = place[p, C_AFTER]
        counts[K_OUT] = n
        counts[K_FIRST] = -1
        counts[K_LAST] = -1
        counts[K_DIRTY] = 0
        counts[K_BATCH] += 1
        counts[K_CAUSES + cause] += 1


def place_for(place, counts, place_of, out, now, key):
    """A place for a key that is not in the cache: a free one, or that which was used first."""
    p = counts[K_USED]
    if p < place.shape[0]:
        counts[K_USED] = p + 1
    else:
        p = counts[K_OLDEST]
        if place[p, C_DIRTY] != 0:
            write_out(place, counts, out, now, OF_EVICTION)
        unlink(place, counts, p)
        place_of[place[p, C_KEY]] = -1
    place[p, C_KEY] = key
    place[p, C_DIRTY] = 0
    place_of[key] = p
    return p


@compiled
def carry_out(operations, place, counts, place_of, out, batch):
    """Carry out operations, rows (kind, time, key, value, size), and note in `out` what leaves the cache."""
    for n in range(operations.shape[0]):
        kind = operations[n, OP_KIND]
        now = operations[n, OP_TIME]
        key = operations[n, OP_KEY]
        if kind == SCAN:
            write_out(place, counts, out, now, OF_SCAN)
        elif kind == COMMIT:
            write_out(place, counts, out, now, OF_COMMIT)
        else:
            p = place_of[key]
            if p >= 0:
                unlink(place, counts, p)
            if kind == READ:
                counts[K_HITS if p >= 0 else K_MISSES] += 1
            if p < 0:
                p = place_for(place, counts, place_of, out, now, key)
                place[p, C_VALUE] = operations[n, OP_VALUE]
                place[p, C_SIZE] = operations[n, OP_SIZE]
                place[p, C_TOMBSTONE] = 0
            to_front(place, counts, p)
            if kind != READ:
                if place[p, C_DIRTY] != 0:
                    clean(place, counts, p)
                    counts[K_ABSORBED] += 1
                soil(place, counts, p)
                place[p, C_VALUE] = operations[n, OP_VALUE]
                place[p, C_SIZE] = operations[n, OP_SIZE]
                place[p, C_TOMBSTONE] = 1 if kind == DELETE else 0
                if counts[K_DIRTY] >= batch:
                    write_out(place, counts, out, now, OF_BATCH)


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
            self._place_of = np.concatenate([self._place_of, np.full(max(most, 2 * len(self._place_of)) - len(self._place_of), -1, np.int32)])
        out = np.empty((len(operations) + self.dirty, OUT_WORDS), np.int64)
        self._counts[K_OUT] = 0
        carry_out(operations, self._place, self._counts, self._place_of, out, self.settings.batch)
        left = out[: self._counts[K_OUT]]
        columns = [left[:, c] for c in (OUT_TIME, OUT_KEY, OUT_VALUE, OUT_SIZE)]
        return Written(*columns, left[:, OUT_TOMBSTONE] != 0, left[:, OUT_BATCH])

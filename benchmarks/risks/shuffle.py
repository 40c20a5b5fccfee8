"""A small windowed core for questions of structure: W hosts, each with one FIFO core, a source and a keyed count; every source sends to
every count.

The same model in several makes, chosen by constants that are compiled in. It has no operators, credits, links or watermarks, so its
speeds compare makes with one another, never with the engine.
"""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np

FAR = 1 << 62
HEADER, COLUMNS = 8, 6
ROW = HEADER + COLUMNS
KEYS = 1024  # of each count
NO_ADMISSION, COUNTED, QUEUED = range(3)  # what waits is not known; known by a second cursor on each stream; arrivals join a queue
WORD, VALUES, ROW_IDS = range(
    3
)  # a message is a word; a row of a pool with a stack of free rows; the number of a row that its sender keeps
SCAN, TREE = range(2)
BITS = 18  # of a row number


@dataclass(frozen=True)
class Make:
    admission: int = NO_ADMISSION
    payload: int = WORD
    search: int = SCAN


@dataclass(frozen=True)
class Load:
    """hosts: W. per_s: records per second and host. slow: host whose count costs this many times as much, 1: none does."""

    hosts: int = 100
    per_s: int = 1200
    latency_ns: int = 500_000
    source_ns: int = 10_000
    count_ns: int = 20_000
    slow: int = 1
    row_bits: int = 12


@functools.cache
def compiled(make: Make) -> Callable[..., int]:
    admission, payload, search = make.admission, make.payload, make.search

    @numba.njit(error_model="numpy", nogil=True)
    def mix(x):  # type: ignore[no-untyped-def]
        x = (x ^ ((x >> 30) & 0x3FFFFFFFF)) * -4658895280553007687
        x = (x ^ ((x >> 27) & 0x1FFFFFFFFF)) * -7723592293110705685
        return x ^ ((x >> 31) & 0x1FFFFFFFF)

    @numba.njit(error_model="numpy", nogil=True)
    def advance(stop, p, host, next_ns, rings, queue, pool, free, rows, done, counts, tree, touched, g):  # type: ignore[no-untyped-def]
        """Do everything at times <= stop; returns the services, -1 if rows are full, -2 if an inbox is.

        host columns: 0 free at, 1 source's next number, 2/3 local head and tail, 4/5/6 inbox head, end of the sorted part, tail, 7/8
        admitted to, 9 waiting, 10 waiting bytes, 11 hash of services, 12/13 low and high row, 14 checksum, 15/16 queue head and tail.
        """
        hosts, interval, latency, source_ns, count_ns, slow = p[0], p[1], p[2], p[3], p[4], p[5]
        mask = rings.shape[1] - 1
        row_mask = rows.shape[1] - 1
        leaves = tree.shape[0] // 2
        hops = 0
        while True:
            if search == TREE:
                t0 = next_ns[tree[1]]
            else:
                t0 = FAR
                for h in range(hosts):
                    if next_ns[h] < t0:
                        t0 = next_ns[h]
            if t0 > stop:
                return hops
            end = stop
            if stop - t0 >= latency:
                end = t0 + latency - 1
            g[1] += 1
            touched_count = 0
            h = -1
            while True:
                if search == TREE:
                    h = tree[1]
                    if next_ns[h] > end:
                        break
                else:
                    h += 1
                    if h == hosts:
                        break
                    if next_ns[h] > end:
                        continue
                while True:
                    # the least head of the three streams
                    ready = h * interval // hosts + 7 * h + host[h, 1] * interval
                    kind = 0
                    if admission == QUEUED:
                        # arrivals join the queue in order of time up to the moment at which the core is free or the next thing arrives
                        limit = max(ready, host[h, 0])
                        if host[h, 15] < host[h, 16]:
                            limit = max(queue[h, host[h, 15] & mask, 0], host[h, 0])
                        limit = min(limit, end)
                        while True:
                            a = rings[2 * h, host[h, 2] & mask, 0] if host[h, 2] < host[h, 3] else FAR
                            b = rings[2 * h + 1, host[h, 4] & mask, 0] if host[h, 4] < host[h, 5] else FAR
                            if min(a, b) > limit:
                                break
                            ring = 2 * h if a <= b else 2 * h + 1
                            c = 2 if a <= b else 4
                            q = host[h, c] & mask
                            host[h, c] += 1
                            z = host[h, 16] & mask
                            queue[h, z, 0] = rings[ring, q, 0]
                            queue[h, z, 1] = rings[ring, q, 2]
                            host[h, 16] += 1
                            host[h, 9] += 1
                            host[h, 10] += 100
                            if host[h, 15] + 1 == host[h, 16]:
                                limit = min(limit, max(rings[ring, q, 0], host[h, 0]))
                        word = 0
                        if host[h, 15] < host[h, 16] and queue[h, host[h, 15] & mask, 0] < ready:
                            ready = queue[h, host[h, 15] & mask, 0]
                            kind = 3
                        elif host[h, 2] < host[h, 3] and rings[2 * h, host[h, 2] & mask, 0] < ready:
                            ready = rings[2 * h, host[h, 2] & mask, 0]  # beyond the window: only its time is of interest
                        elif host[h, 4] < host[h, 5] and rings[2 * h + 1, host[h, 4] & mask, 0] < ready:
                            ready = rings[2 * h + 1, host[h, 4] & mask, 0]
                    else:
                        if host[h, 2] < host[h, 3] and rings[2 * h, host[h, 2] & mask, 0] < ready:
                            ready = rings[2 * h, host[h, 2] & mask, 0]
                            kind = 1
                        if host[h, 4] < host[h, 5] and rings[2 * h + 1, host[h, 4] & mask, 0] < ready:
                            ready = rings[2 * h + 1, host[h, 4] & mask, 0]
                            kind = 2
                    start = max(ready, host[h, 0])
                    if start > end:
                        next_ns[h] = start
                        break
                    if admission == COUNTED:
                        while host[h, 7] < host[h, 3] and rings[2 * h, host[h, 7] & mask, 0] <= start:
                            host[h, 7] += 1
                            host[h, 9] += 1
                            host[h, 10] += 100
                        while host[h, 8] < host[h, 5] and rings[2 * h + 1, host[h, 8] & mask, 0] <= start:
                            host[h, 8] += 1
                            host[h, 9] += 1
                            host[h, 10] += 100
                    hops += 1
                    if kind == 0:
                        number = host[h, 1]
                        host[h, 1] = number + 1
                        finish = start + source_ns
                        host[h, 0] = finish
                        key = mix((h << 40) | number)
                        to = ((key >> 1) & 0x7FFFFFFFFFFFFFFF) % hosts
                        if payload == WORD:
                            word = key
                        elif payload == VALUES:
                            if g[0] == 0:
                                return -1
                            g[0] -= 1
                            word = free[g[0]]
                            for c in range(HEADER):
                                pool[word, c] = start + c
                            for c in range(COLUMNS):
                                pool[word, HEADER + c] = key + c
                        else:
                            if host[h, 13] - host[h, 12] > row_mask:
                                return -1
                            word = (h << BITS) | (host[h, 13] & row_mask)
                            r = host[h, 13] & row_mask
                            host[h, 13] += 1
                            for c in range(HEADER):
                                rows[h, r, c] = start + c
                            for c in range(COLUMNS):
                                rows[h, r, HEADER + c] = key + c
                        if to == h:
                            q = host[h, 3] & mask
                            rings[2 * h, q, 0] = finish + 1000
                            rings[2 * h, q, 2] = word
                            host[h, 3] += 1
                        else:
                            tail = host[to, 6]
                            if tail - host[to, 4] > mask:
                                return -2
                            if tail == host[to, 5]:
                                touched[touched_count] = to
                                touched_count += 1
                            q = tail & mask
                            rings[2 * to + 1, q, 0] = finish + latency
                            rings[2 * to + 1, q, 1] = (h << 40) | number
                            rings[2 * to + 1, q, 2] = word
                            host[to, 6] = tail + 1
                        continue
                    if kind == 3:
                        word = queue[h, host[h, 15] & mask, 1]
                        host[h, 15] += 1
                        host[h, 9] -= 1
                        host[h, 10] -= 100
                    else:
                        ring = 2 * h if kind == 1 else 2 * h + 1
                        c = 2 if kind == 1 else 4
                        word = rings[ring, host[h, c] & mask, 2]
                        host[h, c] += 1
                        if admission == COUNTED:
                            host[h, 9] -= 1
                            host[h, 10] -= 100
                    finish = start + (count_ns * slow if h == 0 else count_ns)
                    host[h, 0] = finish
                    if payload == WORD:
                        key = word
                    elif payload == VALUES:
                        key = pool[word, HEADER]
                        for c in range(1, COLUMNS):
                            host[h, 14] += pool[word, HEADER + c]
                        for c in range(HEADER):
                            host[h, 14] ^= pool[word, c]
                        free[g[0]] = word
                        g[0] += 1
                    else:
                        s = word >> BITS
                        r = word & ((1 << BITS) - 1)
                        key = rows[s, r, HEADER]
                        for c in range(1, COLUMNS):
                            host[h, 14] += rows[s, r, HEADER + c]
                        for c in range(HEADER):
                            host[h, 14] ^= rows[s, r, c]
                        done[s, r] = 1
                    counts[h, key & (KEYS - 1)] += 1
                    host[h, 11] = (host[h, 11] ^ finish) * -7046029254386353131 + key
                if search == TREE:
                    n = (leaves + h) >> 1
                    while n > 0:
                        a = tree[2 * n]
                        b = tree[2 * n + 1]
                        tree[n] = b if next_ns[b] < next_ns[a] else a
                        n >>= 1
            for k in range(touched_count):
                h = touched[k]
                ring = 2 * h + 1
                for at in range(host[h, 5], host[h, 6]):
                    q = at & mask
                    x, tie, word = rings[ring, q, 0], rings[ring, q, 1], rings[ring, q, 2]
                    b = at
                    while b > host[h, 4]:
                        z = (b - 1) & mask
                        if x > rings[ring, z, 0] or (x == rings[ring, z, 0] and tie > rings[ring, z, 1]):
                            break
                        y = b & mask
                        rings[ring, y, 0], rings[ring, y, 1], rings[ring, y, 2] = rings[ring, z, 0], rings[ring, z, 1], rings[ring, z, 2]
                        b -= 1
                    y = b & mask
                    rings[ring, y, 0], rings[ring, y, 1], rings[ring, y, 2] = x, tie, word
                host[h, 5] = host[h, 6]
                head = max(rings[ring, host[h, 4] & mask, 0], host[h, 0])
                if head < next_ns[h]:
                    next_ns[h] = head
                    if search == TREE:
                        n = (leaves + h) >> 1
                        while n > 0:
                            a = tree[2 * n]
                            b = tree[2 * n + 1]
                            tree[n] = b if next_ns[b] < next_ns[a] else a
                            n >>= 1
            if payload == ROW_IDS:  # the low-water mark of each sender
                for h in range(hosts):
                    low = host[h, 12]
                    while low < host[h, 13] and done[h, low & row_mask] == 1:
                        done[h, low & row_mask] = 0
                        low += 1
                    host[h, 12] = low

    return advance


class Shuffle:
    """One run of the model in one make."""

    def __init__(self, make: Make, load: Load, pool_rows: int = 1 << 16, ring: int = 256):
        self.make, self.load, w = make, load, load.hosts
        leaves = 1 << max(1, (w - 1).bit_length())
        zeros = lambda *shape: np.zeros(shape, np.int64)  # noqa: E731
        next_ns = np.full(leaves, FAR, np.int64)
        interval = 1_000_000_000 // load.per_s
        next_ns[:w] = np.arange(w) * interval // w + 7 * np.arange(w)
        tree = zeros(2 * leaves)
        tree[leaves:] = np.arange(leaves)
        for n in range(leaves - 1, 0, -1):
            a, b = tree[2 * n], tree[2 * n + 1]
            tree[n] = b if next_ns[b] < next_ns[a] else a
        rows = 1 << load.row_bits if make.payload == ROW_IDS else 1
        self.state = {
            "p": np.array([w, interval, load.latency_ns, load.source_ns, load.count_ns, load.slow]),
            "host": zeros(w, 20),
            "next_ns": next_ns,
            "rings": zeros(2 * w, ring, 3),
            "queue": zeros(w, ring if make.admission == QUEUED else 1, 2),
            "pool": zeros(pool_rows if make.payload == VALUES else 1, ROW),
            "free": np.arange(pool_rows)[::-1].copy(),
            "rows": zeros(w, rows, ROW),
            "done": zeros(w, rows),
            "counts": zeros(w, KEYS),
            "tree": tree,
            "touched": zeros(w),
            "g": np.array([pool_rows, 0]),
        }
        self.advance = compiled(make)
        self.hops = 0

    def run_until(self, stop_ns: int) -> int:
        hops = self.advance(stop_ns, *self.state.values())
        if hops < 0:
            raise MemoryError("a row segment or the pool is full" if hops == -1 else "an inbox is full")
        self.hops += hops
        return hops

    def results(self) -> str:
        """Hash of what the model defines: counts, and per host all services in order."""
        hasher = hashlib.blake2b(digest_size=16)
        hasher.update(self.state["counts"].tobytes())
        hasher.update(np.ascontiguousarray(self.state["host"][:, [0, 1, 11, 14]]).tobytes())
        return hasher.hexdigest()

    def raw(self) -> str:
        """Hash of the arrays as they lie in memory, but for the window count."""
        hasher = hashlib.blake2b(digest_size=16)
        for name, array in self.state.items():
            if name not in ("g", "tree", "touched"):
                hasher.update(array.tobytes())
        return hasher.hexdigest()


def million_hops_per_s(make: Make, load: Load, stop_ns: int, **sizes: Any) -> float:
    """Speed over a run from the start, compiled before."""
    Shuffle(make, load, **sizes).run_until(1_000_000)
    run = Shuffle(make, load, **sizes)
    started = time.process_time()
    run.run_until(stop_ns)
    return run.hops / (time.process_time() - started) / 1e6

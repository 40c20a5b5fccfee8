"""Reuses the memory of large tables: touching new memory takes the system longer than the loop takes to fill it."""

from __future__ import annotations

import mmap
import threading
import weakref
from queue import SimpleQueue

import numpy as np
from numpy.typing import NDArray

KEPT = 4
"""Number of unused tables kept for reuse: the largest ones."""

KEPT_BYTES = 1 << 28
"""Bytes kept of each; the rest returns to the system."""

LEAST_BYTES = 1 << 20
"""Smaller tables are not kept."""

_kept: list[mmap.mmap] = []
_returned: SimpleQueue[mmap.mmap] = SimpleQueue()  # may be put to wherever the last reference to a table happens to end
_lock = threading.Lock()


def words(count: int, type: type[np.int64] = np.int64) -> NDArray[np.int64]:
    """As `np.empty`. Memory is reused only when no array refers to it any more."""
    if 8 * count < LEAST_BYTES:
        return np.empty(count, type)
    memory = _fitting(8 * count) or _new(8 * count)
    table = np.frombuffer(memory, type, count)
    weakref.finalize(table, _return, memory).atexit = False  # slices and views of the table keep it alive
    return table


def zeros(count: int, type: type[np.int64] = np.int64) -> NDArray[np.int64]:
    """As `np.zeros`: new memory, but in large pages. Untouched memory costs nothing."""
    return np.zeros(count, type) if 8 * count < LEAST_BYTES else np.frombuffer(_new(8 * count), type, count)


def _new(size_bytes: int) -> mmap.mmap:
    memory = mmap.mmap(-1, size_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    return memory


def _fitting(size_bytes: int) -> mmap.mmap | None:
    """Take the smallest kept memory that is large enough."""
    with _lock:
        while not _returned.empty():
            _kept.append(_returned.get())
        _kept.sort(key=len)
        del _kept[:-KEPT]
        at = next((n for n, memory in enumerate(_kept) if len(memory) >= size_bytes), None)
        return None if at is None else _kept.pop(at)


def _return(memory: mmap.mmap) -> None:
    if len(memory) > KEPT_BYTES:
        memory.madvise(mmap.MADV_DONTNEED, KEPT_BYTES)
    _returned.put(memory)

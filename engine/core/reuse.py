"""Memory of large tables, used again by the next one: to touch new memory takes the system longer than the loop takes to fill it."""

from __future__ import annotations

import mmap
import weakref

import numpy as np
from numpy.typing import NDArray

KEPT_BYTES = 1 << 28
"""So much of what nobody uses any more stays in memory for the next who asks; the system has the rest back."""

_kept: list[mmap.mmap] = []  # at most one


def words(count: int, type: type[np.int64] = np.int64) -> NDArray[np.int64]:
    """As `np.empty`. Of a table used before, all arrays that look at it are gone."""
    if _kept and len(_kept[0]) >= 8 * count:
        memory = _kept.pop()
    else:
        memory = mmap.mmap(-1, 8 * count, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        memory.madvise(mmap.MADV_HUGEPAGE)
    table = np.frombuffer(memory, type, count)
    weakref.finalize(table, _keep, memory).atexit = False  # slices and views of the table keep it alive
    return table


def _keep(memory: mmap.mmap) -> None:
    if len(memory) > KEPT_BYTES:
        memory.madvise(mmap.MADV_DONTNEED, KEPT_BYTES)
    if not _kept or len(_kept[0]) < len(memory):
        _kept[:] = [memory]

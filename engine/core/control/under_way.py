"""Records that are on their way: which of a channel have left their sender and have not been served.

For controls, between two calls of the loop. The loop looks for duplicates when a record arrives, so whoever sends records again has to know
which of them have arrived, or will.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.core import layout as L
from engine.core.tables import Arrays, Words
from engine.core.world import World


def ends_under_way(world: World) -> Words:
    """By channel, one more than the greatest number of a record that waits at its receiver or is on the way to it; 0 if there is none.
    Shape (channels,). Only in runs that count records."""
    w = world.arrays
    slots = np.fromiter(_slots(world), np.int64)
    found: Words = np.zeros(len(w.chan), np.int64)
    slots = slots[(w.msg[slots, L.M_KIND] == L.RECORD) & (w.msg[slots, L.M_CHANNEL] >= 0)]
    np.maximum.at(found, w.msg[slots, L.M_CHANNEL], w.msg[slots, L.M_SEQUENCE] + 1)
    return found


def _slots(world: World) -> Iterator[int]:
    w = world.arrays
    mask = w.rings.shape[1] - 1
    for x in range(len(w.host)):
        for ring, first, end in ((2 * x, L.H_LOCAL, L.H_LOCAL_TAIL), (2 * x + 1, L.H_REMOTE, L.H_REMOTE_TAIL)):
            at = np.arange(w.host[x, first], w.host[x, end]) & mask
            yield from w.rings[ring, at, L.RING_MESSAGE].tolist()
    for held in w.link[:, L.LINK_HELD].tolist():
        yield from _listed(w, held)
    for i in range(len(w.inst)):
        yield from world.queue(i)


def _listed(w: Arrays, slot: int) -> Iterator[int]:
    while slot >= 0:
        yield slot
        slot = int(w.msg[slot, L.M_NEXT])

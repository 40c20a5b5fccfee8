"""Changes of keyed state that the loop notes for local stores, in their order by instance.

For controls (`engine.core.control.policy`) with `features = ("changes",)`. The loop hands back when the table is full, so a store must be
ready to take changes at any time (`Simulation`).
"""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.tables import Words
from engine.core.world import World


def note_changes(world: World, prices: dict[int, tuple[int, int, int]], with_content: bool = False) -> None:
    """Let the loop note changes from now on. prices: by operator, work in ps of its store for reading a range, reading a key, and putting
    or deleting one. with_content: also what each change makes of its entry and stored row."""
    if with_content:
        world.replace(change_words=_contents(world, len(world.arrays.changes)))
    w = world.arrays
    w.g[L.G_CHANGING] = 2 if with_content else 1
    for operator, prices_ps in prices.items():
        w.op[operator, [L.O_SCAN_PS, L.O_GET_PS, L.O_WRITE_PS]] = prices_ps


def taken_changes(world: World) -> tuple[Words, Words | None]:
    """The changes since the last call, (n, CHANGE_COLUMNS), and their content, (n, columns of entries and rows), None if none is noted.
    Those of an instance are in order."""
    w = world.arrays
    count = int(w.g[L.G_CHANGES])
    w.g[L.G_CHANGES] = 0
    return w.changes[:count].copy(), w.change_words[:count].copy() if w.g[L.G_CHANGING] == 2 else None


def _contents(world: World, rows: int) -> Words:
    return np.zeros((rows, world.arrays.entry.shape[1] + world.arrays.row.shape[1]), np.int64)


def make_room(world: World) -> None:
    """Enlarge the table if the service for which the loop handed back (NEED_CHANGES) needs more than all of it. Take the changes before."""
    w = world.arrays
    need = int(w.g[L.G_NEED])
    if need > len(w.changes):
        world.replace(changes=np.zeros((2 * need, L.CHANGE_COLUMNS), np.int64))
        if w.g[L.G_CHANGING] == 2:
            world.replace(change_words=_contents(world, 2 * need))

"""Changes of keyed state that the loop notes for local stores, in their order by instance.

For controls (`engine.core.control.policy`) with `features = ("changes",)`. The loop hands back when the table is full, so a store must be
ready to take changes at any time (`Simulation`).
"""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.tables import Words
from engine.core.world import World


def note_changes(world: World, prices: dict[int, tuple[int, int, int]]) -> None:
    """Let the loop note changes from now on. prices: by operator, work in ps of its store for reading a range, reading a key, and putting
    or deleting one."""
    w = world.arrays
    w.g[L.G_CHANGING] = 1
    for operator, prices_ps in prices.items():
        w.op[operator, [L.O_SCAN_PS, L.O_GET_PS, L.O_WRITE_PS]] = prices_ps


def taken_changes(world: World) -> Words:
    """The changes since the last call, (n, CHANGE_COLUMNS). Those of an instance are in order."""
    g = world.arrays.g
    rows = world.arrays.changes[: g[L.G_CHANGES]].copy()
    g[L.G_CHANGES] = 0
    return rows


def make_room(world: World) -> None:
    """Enlarge the table if the service for which the loop handed back (NEED_CHANGES) needs more than all of it. Take the changes before."""
    w = world.arrays
    need = int(w.g[L.G_NEED])
    if need > len(w.changes):
        world.replace(changes=np.zeros((2 * need, L.CHANGE_COLUMNS), np.int64))

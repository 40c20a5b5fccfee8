"""What scheduling policies do to the world: rank the instances of a host, or hold them back."""

from __future__ import annotations

from collections.abc import Mapping

from . import layout as L
from .world import World

HELD = L.FAR
"""The rank of an instance that is not served until it gets another one."""


def rank(world: World, ranks: Mapping[int, int], now_ns: int) -> None:
    """Give instances ranks, the least first; instances not named keep theirs (0 at first).

    For controls (`engine.core.control`). The hosts of these instances choose anew at `now_ns`; a service in progress is not cut short.
    """
    w = world.arrays
    for i, value in ranks.items():
        w.inst[i, L.I_RANK] = value
        h = int(w.inst[i, L.I_HOST])
        w.host[h, L.H_RANKED] = 1
        if w.host[h, L.H_THREADS] == 1 and w.inst[i, L.I_LISTED] == 0:
            w.inst[i, L.I_LISTED] = 1
            w.listed[w.host[h, L.H_MEMBER] + w.host[h, L.H_LISTED]] = i
            w.host[h, L.H_LISTED] += 1
        w.host[h, L.H_RESUME] = w.next_ns[h] = max(now_ns, int(w.host[h, L.H_PAUSED]))

"""What is done to the choice of the next item between two calls of the loop: scheduling policies rank instances, or hold them back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from engine.core import layout as L
from engine.core.kernels.dispatch import empty_turns, look_at
from engine.core.tables import Arrays
from engine.core.world import World

HELD = L.FAR
"""The rank of an instance that is not served until it gets another one."""


def rank(world: World, ranks: Mapping[int, int], now_ns: int) -> None:
    """Give instances ranks, the least first; instances not named keep theirs (0 at first).

    For controls (`engine.core.control.policy`). The hosts of these instances choose anew at `now_ns`; a service in progress is not cut
    short.
    """
    w = world.arrays
    for i, value in ranks.items():
        w.inst[i, L.I_RANK] = value
        w.host[w.inst[i, L.I_HOST], L.H_RANKED] = 1
    look_again(world, ranks, now_ns)


def look_again(world: World, instances: Iterable[int], now_ns: int) -> None:
    """The hosts of these instances choose anew at `now_ns`, as one must who changed what the instances have to do."""
    w = world.arrays
    for i in instances:
        h = int(w.inst[i, L.I_HOST])
        if w.host[h, L.H_BACK] > 0:
            continue  # it is down, and chooses anew when it is up again
        if w.host[h, L.H_DISPATCH] != L.DISPATCH_SCAN:
            _forget_log(w, h, i)
            if w.inst[i, L.I_LISTED] == L.LISTED_HEAP:
                empty_turns(w, h)  # type: ignore[no-untyped-call]
            look_at(w, h, i)  # type: ignore[no-untyped-call]
        w.host[h, L.H_RESUME] = w.next_ns[h] = max(now_ns, int(w.host[h, L.H_PAUSED]))


def _forget_log(w: Arrays, h: int, i: int) -> None:
    """Take the instance's next log record out of its host's heap of due times; it may be another one now."""
    if w.inst[i, L.I_AWAITS] == 0:
        return
    first, size = 2 * int(w.host[h, L.H_MEMBER]), int(w.host[h, L.H_AGENDA])
    due = w.agenda[first : first + size]
    kept = due[due[:, L.DUE_WHO] != len(w.inst) + i]
    w.agenda[first : first + len(kept)] = kept[np.lexsort((kept[:, L.DUE_WHO], kept[:, L.DUE_KEY]))]  # what is sorted is a heap
    w.host[h, L.H_AGENDA] = len(kept)
    w.inst[i, L.I_AWAITS] = 0

"""Background work of hosts: what an engine does beside its operators, such as scheduling them (docs/event-core.md, section 17).

For controls (`engine.core.control.policy`), between two calls of the loop. The control must have `features = ("background",)`.
"""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.tables import Arrays, Words
from engine.core.world import World


def add_background_work(world: World, h: int, work_ps: int, now_ns: int) -> None:
    """Let the first processor of host `h` that is idle do this work, before all items that wait. One processor does it at a time.

    Raises ValueError for a host without a pool. A host that is down, or dead, does nothing.
    """
    w = world.arrays
    host = w.host[h]
    if host[L.H_DISPATCH] == L.DISPATCH_DEDICATED:
        raise ValueError(f"host {h} has a processor for each instance; background work needs a pool")
    if work_ps == 0 or host[L.H_BACK] > 0 or w.memory[h, L.Z_DIED] >= 0:
        return
    host[L.H_BACKGROUND_PS] += work_ps
    if host[L.H_RESUME] == L.FAR:
        host[L.H_RESUME] = w.next_ns[h] = max(now_ns, int(host[L.H_PAUSED]))


def background_ns(w: Arrays, t_ns: int) -> Words:
    """Time that the processors of each host have spent on background work before `t_ns`, (hosts,) ns. On a host that is dead it ended with
    its death."""
    host = w.host
    ends = host[:, L.H_BACKGROUND_END]
    died_ns = w.memory[: len(host), L.Z_DIED]
    until_ns = np.where(died_ns >= 0, np.minimum(died_ns, t_ns), t_ns)
    paused = np.maximum(host[:, L.H_PAUSED] - until_ns, 0)
    left = np.where(ends < L.FAR, np.maximum(ends - paused - until_ns, 0), 0)
    spent: Words = host[:, L.H_BACKGROUND_NS] - left
    return spent

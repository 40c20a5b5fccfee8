"""Hosts that are lost with everything in their memory and restart empty (docs/event-core.md, section 10).

For controls (`engine.core.control.policy`), between two calls of the loop. Losing hosts requires a feature of the loop: the control must
have `features = ("losses",)`.
"""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.control.active_instances import active, next_tick_ns
from engine.core.kernels import host_failure
from engine.core.kernels.dispatch import look_at
from engine.core.tables import Arrays
from engine.core.world import World


def kill(world: World, h: int, now_ns: int, back_ns: int = L.FAR) -> None:
    """Lose host `h` after everything at `now_ns`. A host that is down stays down; one that ran out of memory permanently stays dead.

    Other hosts may have advanced from `now_ns` to the end of a window, because no message that `h` sends after `now_ns` could arrive in it.
    Messages that would have entered a trunk after `now_ns` must not have entered it.
    back_ns: time at which `restart` will be called; FAR: never. Until then, the run does not end for lack of work.
    Raises ValueError in a run without the feature "losses".
    """
    w = world.arrays
    if w.g[L.G_LEFT] == 0:
        raise ValueError("a host is lost in a run whose controls do not declare host losses; the control needs features = ('losses',)")
    if w.memory[h, L.Z_DIED] >= 0:
        return
    down = int(w.host[h, L.H_BACK]) > 0
    w.host[h, L.H_BACK] = max(int(w.host[h, L.H_BACK]), back_ns)
    if down:
        return
    host_failure.lose_state(w, h)
    host_failure.lose_memory(w, h, now_ns)
    host_failure.lose_unsent(w, h, now_ns)
    w.host[h, L.H_PAUSED] = L.FAR


def restart(world: World, h: int, now_ns: int) -> None:
    """Restart host `h`, if it is down, at the nanosecond after `now_ns`, with empty instances and renewed channels."""
    w = world.arrays
    if w.host[h, L.H_BACK] == 0:
        return
    host_failure.lose_incoming(w, h)
    host_failure.recall_arrivals(w, h)
    w.host[h, [L.H_BACK, L.H_PAUSED]] = 0
    w.host[h, L.H_RESUME] = w.next_ns[h] = now_ns + 1
    host_failure.renew_channels(w, h, now_ns)
    for i in np.flatnonzero((w.inst[:, L.I_HOST] == h) & active(w)).tolist():
        inst = w.inst[i]
        inst[L.I_STATUS], inst[L.I_UP] = L.IDLE, now_ns
        if w.g[L.G_TRACING]:
            w.behind[i, L.B_IDLE] = now_ns
        inst[L.I_TICK] = next_tick_ns(w, i, now_ns)
        w.host[h, L.H_TICK] = min(int(w.host[h, L.H_TICK]), int(inst[L.I_TICK]))
        if w.host[h, L.H_DISPATCH] != L.DISPATCH_SCAN:
            look_at(w, h, i)  # type: ignore[no-untyped-call]


def restart_after_oom(world: World, h: int, restart_after_ns: int) -> tuple[int, int] | None:
    """Lose host `h` until its restart if it ran out of memory. Returns the time of death and the bytes used, None if it lives."""
    died_ns, used = world.arrays.memory[h, [L.Z_DIED, L.Z_USED]].tolist()
    if died_ns < 0:
        return None
    world.arrays.memory[h, L.Z_DIED] = -1
    kill(world, h, died_ns, died_ns + restart_after_ns)
    return died_ns, used


def is_down(w: Arrays, h: int) -> bool:
    return bool(w.host[h, L.H_BACK] > 0)


def lost_at_ns(w: Arrays, h: int) -> int:
    """Time at which a host that is down was lost."""
    return int(w.host[h, L.H_WORK_AT])


def will_be_back(w: Arrays) -> bool:
    """Whether any host that is down will restart."""
    back = w.host[:, L.H_BACK]
    return bool(((back > 0) & (back < L.FAR)).any())

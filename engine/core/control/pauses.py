"""Hosts that stand still for a while (docs/event-core.md, section 10). For controls, between two windows."""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.world import World


def pause(world: World, h: int, span_ns: int, now_ns: int) -> None:
    """Let nothing happen on host `h` for this long; services in progress end that much later. Overlapping pauses merge. A host that is
    down, or dead, does not notice."""
    w = world.arrays
    host = w.host[h]
    if host[L.H_BACK] or w.memory[h, L.Z_DIED] >= 0:
        return
    until_ns = max(now_ns + span_ns, int(host[L.H_PAUSED]))
    more_ns = until_ns - max(now_ns, int(host[L.H_PAUSED]))
    host[L.H_PAUSED] = host[L.H_RESUME] = w.next_ns[h] = until_ns
    if more_ns == 0:
        return
    if host[L.H_BACKGROUND_END] < L.FAR:
        host[L.H_BACKGROUND_END] += more_ns
    if host[L.H_SHARING]:
        gained = int(host[L.H_RATE]) * max(0, now_ns - int(host[L.H_WORK_AT]))
        host[L.H_WORK] += gained
        host[L.H_QUOTA_LEFT] -= gained * int(host[L.H_RUNNING])
        host[L.H_WORK_AT] = until_ns
        return
    here = np.arange(host[L.H_PROCESSOR], host[L.H_PROCESSOR_END])
    serving = here[w.proc[here, L.P_INSTANCE] >= 0]
    w.proc[serving, L.P_END] += more_ns
    w.inst[w.proc[serving, L.P_INSTANCE], L.I_STOLEN] += more_ns
    if host[L.H_DISPATCH] != L.DISPATCH_SCAN:
        first = 2 * int(host[L.H_MEMBER])
        agenda = w.agenda[first : first + int(host[L.H_AGENDA])]
        agenda[agenda[:, L.DUE_WHO] < len(w.inst), L.DUE_KEY] += more_ns  # only services; log records just wait
        agenda[:] = agenda[np.lexsort((agenda[:, L.DUE_WHO], agenda[:, L.DUE_KEY]))]  # a sorted array is a heap

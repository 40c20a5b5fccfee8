"""Pools whose instances become threads that share the cores (docs/event-core.md, section 3.1). For controls, between two windows."""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.kernels import bulk
from engine.core.kernels.dispatch import empty_turns
from engine.core.tables import Arrays, Words
from engine.core.world import World


def share_cores(world: World, h: int, now_ns: int) -> None:
    """From `now_ns` on, let the instances of host `h` share its cores fairly. Services in progress go on as threads. Nothing happens if
    they share them already, or if the host is dead.

    The host must be laid out with a thread for each instance (`engine.lowering.processors`). Raises ValueError if it does background work.
    """
    w = world.arrays
    host = w.host[h]
    if host[L.H_SHARING] == 1 or w.memory[h, L.Z_DIED] >= 0:
        return
    if works_in_background(w, h):
        raise ValueError(f"host {h} does background work, which needs a pool; share its cores when that is done")
    going_on_ns = max(now_ns, int(host[L.H_PAUSED]))
    cores = np.arange(host[L.H_PROCESSOR], host[L.H_PROCESSOR_END])
    first, end = int(host[L.H_MEMBER]), int(host[L.H_MEMBER_END])
    here = w.host_members[first:end]
    _forget_ends(w, h)
    if host[L.H_DISPATCH] != L.DISPATCH_SCAN:
        empty_turns(w, h)  # type: ignore[no-untyped-call]
    w.inst[here, L.I_PROCESSOR] = host[L.H_PROCESSOR_END] + np.arange(len(here))
    host[[L.H_PROCESSOR, L.H_PROCESSOR_END]] = host[L.H_PROCESSOR_END], host[L.H_PROCESSOR_END] + len(here)
    host[L.H_DISPATCH], host[L.H_SHARING], host[L.H_IDLE] = L.DISPATCH_DEDICATED, 1, 0
    host[[L.H_WORK, L.H_RATE]] = 0
    host[L.H_WORK_AT] = going_on_ns
    _go_on(w, h, cores, going_on_ns)
    if host[L.H_BACK] > 0:
        return  # it is down, and its instances are looked at when it is up again
    bulk.choose_anew(w, h)
    host[L.H_RESUME] = w.next_ns[h] = going_on_ns


def works_in_background(w: Arrays, h: int) -> bool:
    """Whether background work waits or is under way on host `h`; never on one that is dead."""
    return bool((w.host[h, L.H_BACKGROUND_PS] > 0 or w.host[h, L.H_BACKGROUND_END] < L.FAR) and w.memory[h, L.Z_DIED] < 0)


def _forget_ends(w: Arrays, h: int) -> None:
    """Keep only log records in the host's heap of due times: services end by what is left of their work."""
    start, size = 2 * int(w.host[h, L.H_MEMBER]), int(w.host[h, L.H_AGENDA])
    due = w.agenda[start : start + size]
    kept = due[due[:, L.DUE_WHO] >= len(w.inst)]
    w.agenda[start : start + len(kept)] = kept[np.lexsort((kept[:, L.DUE_WHO], kept[:, L.DUE_KEY]))]  # a sorted array is a heap
    w.host[h, L.H_AGENDA] = len(kept)


def _go_on(w: Arrays, h: int, cores: Words, going_on_ns: int) -> None:
    """Services in progress on these processors go on, each as the thread of its instance."""
    host = w.host[h]
    serving = cores[w.proc[cores, L.P_INSTANCE] >= 0]
    instances = w.proc[serving, L.P_INSTANCE]
    threads = w.inst[instances, L.I_PROCESSOR]
    left_ns = w.proc[serving, L.P_END] - going_on_ns
    w.proc[threads[:, None], [L.P_INSTANCE, L.P_SLOT]] = w.proc[serving[:, None], [L.P_INSTANCE, L.P_SLOT]]
    w.proc[threads, L.P_START], w.proc[threads, L.P_SERVICE] = going_on_ns, left_ns
    w.proc[serving[:, None], [L.P_INSTANCE, L.P_SLOT]] = -1
    w.proc[cores, L.P_END] = L.FAR
    first = int(host[L.H_MEMBER])
    order = np.lexsort((instances, left_ns))  # a sorted array is a heap
    w.tags[first : first + len(order)] = np.stack([left_ns * L.UNIT, instances], 1)[order]
    host[L.H_RUNNING] = len(order)

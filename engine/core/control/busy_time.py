"""Busy, blocked and stolen time of instances, up to a moment between two instants."""

from __future__ import annotations

import numpy as np

from engine.core import layout as L
from engine.core.kernels.service_cost import work_left
from engine.core.tables import Arrays, Words


def accrue(w: Arrays, t_ns: int, busy: Words, blocked: Words, stolen: Words) -> None:
    """Correct the counters in ns by instance to the time before t_ns. The loop counts busy time when a service begins, and blocked time
    when an instance resumes.

    busy, blocked, stolen: (instances,) ns, changed in place.
    """
    inst = w.inst
    serving = w.proc[(w.proc[:, L.P_INSTANCE] >= 0) & (w.host[w.proc[:, L.P_HOST], L.H_SHARING] == 0)]
    paused = np.maximum(w.host[serving[:, L.P_HOST], L.H_PAUSED] - t_ns, 0)  # rest of a pause, already counted in `stolen`
    by = serving[:, L.P_INSTANCE]
    lasts = np.maximum(serving[:, L.P_END] - paused - t_ns, 0)
    left = work_left(lasts, w.op[inst[by, L.I_OP], L.O_ATTAINABLE])  # type: ignore[no-untyped-call]
    busy[by] -= left
    stolen[by] -= paused + lasts - left
    for host in w.host[w.host[:, L.H_RUNNING] > 0]:
        first, running = int(host[L.H_MEMBER]), int(host[L.H_RUNNING])
        tag, instance = w.tags[first : first + running].T
        left = -(-(tag - host[L.H_WORK] - host[L.H_RATE] * max(t_ns - host[L.H_WORK_AT], 0)) // L.UNIT)  # ns of work after t_ns
        on = w.proc[inst[instance, L.I_PROCESSOR]]
        busy[instance] -= left
        stolen[instance] += t_ns - on[:, L.P_START] - (on[:, L.P_SERVICE] - left)
    blocked += np.where(inst[:, L.I_STATUS] == L.BLOCKED, t_ns - inst[:, L.I_BLOCKED_SINCE], 0)

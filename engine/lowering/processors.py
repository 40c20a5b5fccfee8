"""Lays out the processors of the hosts and their instances (docs/event-core.md, sections 1 and 3.1)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from engine.core import layout as L
from engine.core.control.active_instances import pinned
from engine.core.tables import Words
from engine.spec.base.units import milliseconds_ns, scaled
from engine.spec.experiment.cluster import Dedicated, ExpandedHost, Pool, ProcessorSharing

SCANNED_MAX = 8
"""Shared processors with more instances than this take turns from heaps. For fewer instances, a scan is faster."""


def lay_out(
    hosts: Sequence[ExpandedHost],
    inst: Words,
    is_active: NDArray[np.bool_],
    has_background_work: bool = False,
    later: ProcessorSharing | None = None,
    own_thread: NDArray[np.bool_] | None = None,
) -> dict[str, Words]:
    """The tables `proc`, `members`, `host`, `host_members` and the empty heaps. Sets each instance's processor.

    is_active: (instances,) whether the instance is active at the start of the run. Active instances are pinned first, as if there were no
    others. has_background_work: whether a core beyond those that the instances of a pool can use has work, too.
    later: how instances will share the cores of each pool from some time on (`engine.core.control.fair_threads`), None if they never do.
    Behind the processors of a pool stand then its threads, one for each instance.
    own_thread: (instances,) which of the instances on pools have a processor of their own, behind the cores of the pool. Default: none.
    """
    host = np.zeros((len(hosts), L.H_COLUMNS), np.int64)
    host[:, [L.H_RESUME, L.H_WAKE, L.H_TICK, L.H_BACKGROUND_END, L.H_RISEN]] = L.FAR
    host[:, L.H_EMITTING] = -1
    host_members: list[int] = []
    members: list[int] = []
    rows: list[tuple[int, int, int, int]] = []  # by processor: place and number of its members, host, leader
    for h, machine in enumerate(hosts):
        here = [int(i) for i in np.flatnonzero(inst[:, L.I_HOST] == h)]
        if len(here):
            host[h, L.H_TICK] = inst[here, L.I_TICK].min()
        host[h, L.H_MEMBER], host[h, L.H_MEMBER_END] = len(host_members), len(host_members) + len(here)
        host_members += here
        host[h, L.H_MBIT] = machine.egress_mbit_per_s
        host[h, [L.H_SPEED, L.H_OWN_SPEED]] = machine.speed_milli
        host[h, L.H_PROCESSOR] = len(rows)
        apart = [i for i in here if own_thread is not None and own_thread[i]] if isinstance(machine.processor, Pool) else []
        usable = max(len(here) - len(apart), 1) + (has_background_work and isinstance(machine.processor, Pool))
        cores = min(machine.cores_milli // 1000, usable)
        if isinstance(machine.processor, Dedicated | ProcessorSharing):
            host[h, L.H_DISPATCH] = L.DISPATCH_DEDICATED
            groups = [[i] for i in here]
        elif isinstance(machine.processor, Pool):
            groups = [[i for i in here if i not in apart], *([i] for i in apart)]
        else:
            groups = pinned(here, is_active, cores)
        for number, group in enumerate(groups):
            inst[group, L.I_PROCESSOR] = len(rows)
            rows += [(len(members), len(group), h, len(rows))] * (cores if isinstance(machine.processor, Pool) and number == 0 else 1)
            members += group
        host[h, L.H_PROCESSOR_END] = len(rows)
        if host[h, L.H_DISPATCH] == L.DISPATCH_SCAN and max(map(len, groups)) > SCANNED_MAX:
            host[h, L.H_DISPATCH] = L.DISPATCH_TURN_HEAP
            host[h, L.H_IDLE] = len(rows) - host[h, L.H_PROCESSOR]
        if isinstance(machine.processor, ProcessorSharing):
            _share(host[h], machine.cores_milli, machine.processor)
            host[h, L.H_SHARING] = 1
        if isinstance(machine.processor, Pool) and later is not None:
            rows += [(len(members) + k, 1, h, len(rows) + k) for k in range(len(here))]
            members += here
            _share(host[h], machine.cores_milli, later)
    proc = np.zeros((len(rows), L.P_COLUMNS), np.int64)
    proc[:, [L.P_INSTANCE, L.P_SLOT]] = -1
    proc[:, L.P_END] = L.FAR
    proc[:, [L.P_FIRST, L.P_COUNT, L.P_HOST, L.P_LEADER]] = np.array(rows, np.int64).reshape(-1, 4)
    instances = len(inst)
    return {
        "proc": proc,
        "members": np.array([*members, 0], np.int64),
        "host": host,
        "host_members": np.array(host_members, np.int64),
        "agenda": np.zeros((2 * instances, 2), np.int64),
        "tags": np.zeros((instances, 2), np.int64),
        "turns": np.zeros((len(members), 3), np.int64),  # a heap of each leader, at the place of its members
        "listed": np.zeros(instances, np.int64),
    }


def _share(host: Words, cores_milli: int, sharing: ProcessorSharing) -> None:
    host[L.H_UNITS] = L.UNIT * cores_milli // 1000
    host[L.H_TAXED] = L.UNIT * cores_milli * (1000 - scaled(sharing.tax, 1000)) // 1_000_000
    host[L.H_UNTAXED] = -(-cores_milli // 1000)
    if sharing.quota_cores is not None:
        period_ns = milliseconds_ns(sharing.quota_period_ms)
        host[L.H_PERIOD], host[L.H_QUOTA] = period_ns, L.UNIT * scaled(sharing.quota_cores, 1000) * period_ns // 1000

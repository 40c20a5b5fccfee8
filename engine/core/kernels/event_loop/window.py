"""Windows (section 2, first paragraph): no host influences another within one, so each is run alone to its end."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.host_failure import lose_arrivals
from engine.core.kernels.queues import admit
from engine.core.kernels.transmission import pass_trunk, settle
from engine.core.layout import *


def begin_window():
    """Section 2: find the earliest time at which anything is due, and the end of the window that starts there.

    Return if that time is after `stop`.
    """
    t0 = FAR
    for h in range(hosts):
        if next_ns[h] < t0:
            t0 = next_ns[h]
    if t0 > stop:
        for h in range(machines):
            if memory_on and memory[h, Z_DIED] >= 0:
                continue
            if host[h, H_PAUSED] <= stop:  # ticks due meanwhile have to come first
                admit(world, memory_on, control_mode, heaps, h, stop)
        return DONE
    window_end = stop
    if stop - t0 >= lookahead:
        window_end = t0 + lookahead - 1
    g[G_WINDOWS] += 1
    touched_count = 0
    reason = DONE


def begin_host():
    """Skip a host on which nothing is due in this window, and one that is down (section 10) or dead (section 13)."""
    while IN_LOOP:  # over the hosts
        if next_ns[h] > window_end:
            continue
        if memory_on and memory[h, Z_DIED] >= 0:  # something came, and nobody is there
            next_ns[h] = FAR
            continue
        # WEAVE if losses
        if host[h, H_BACK] > 0:  # it is down
            lose_arrivals(world, h, window_end)
            continue
        # WEAVE end
        first_processor = host[h, H_PROCESSOR]
        end_processor = host[h, H_PROCESSOR_END]
        dispatch_mode = heaps * host[h, H_DISPATCH]
        sharing = heaps * host[h, H_SHARING]
        member = host[h, H_MEMBER]


def end_window():
    """Section 4.1: make visible, in order, what was sent to other hosts. Return if Python has something to do."""
    passing = actors > machines and reason == DONE
    while True:
        for k in range(touched_count):
            h = touched[k]
            settle(world, h)
        touched_count = 0
        if not passing:
            break
        passing = False
        pass_trunks()
    # WEAVE if actors
    if reason == DONE:
        for h in range(actors, hosts):
            if next_ns[h] <= window_end:
                reason = ACTORS
        g[G_WINDOW_END] = window_end
    # WEAVE end
    if reason != DONE:
        return reason


def pass_trunks():
    """Section 4.1, step 3: pass on what has entered a trunk by the end of the window, in the order of entry."""
    for h in range(machines, actors):
        while next_ns[h] <= window_end:
            q = host[h, H_REMOTE] & ring_mask
            t = next_ns[h]
            tie = rings[2 * h + 1, q, RING_TIE]
            made = rings[2 * h + 1, q, RING_MESSAGE]
            h2 = inst[msg[made, M_RECEIVER], I_HOST]
            if host[h2, H_REMOTE_TAIL] - host[h2, H_REMOTE] == ring_capacity:
                reason = NEED_RING
                break
            touched_count = pass_trunk(world, touched_count, h, h2, t, tie, made)
            host[h, H_REMOTE] += 1
            next_ns[h] = FAR
            if host[h, H_REMOTE] < host[h, H_REMOTE_SORTED]:
                next_ns[h] = rings[2 * h + 1, host[h, H_REMOTE] & ring_mask, RING_TIME]

"""The instants of a host (section 2): the next one, and the return to Python in the middle of one."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.dispatch import may_read
from engine.core.layout import *


def find_next_instant():
    """Section 2: find `t`, the next time at which anything happens on the host. Leave the host if it is after the window.

    An interrupted instant goes on (H_RESUME). Otherwise the next instant is the least of a few heads. Return if a watched watermark
    has risen in the last instant (section 17).
    """
    while IN_LOOP:  # over the instants
        held_back = memory_on and memory[h, Z_FULL] == 1 and memory[h, Z_INGRESS] == INGRESS_THROTTLE
        t = host[h, H_RESUME]
        if t == FAR:
            # while all are busy, arrivals wait for the next of the other events, but where they fill the memory
            choosing = dispatch_mode == DISPATCH_DEDICATED or host[h, H_IDLE] > 0
            if memory_on and memory[h, Z_WATCHED] == 1:
                choosing = True
            if dispatch_mode == DISPATCH_SCAN:
                look_at_processors()
            else:
                look_at_heaps()
            if host[h, H_WAKE] < t:
                t = host[h, H_WAKE]
            if host[h, H_TICK] < t:
                t = host[h, H_TICK]
            # WEAVE if background
            if host[h, H_BACKGROUND_END] < t:
                t = host[h, H_BACKGROUND_END]
            # WEAVE end
            if choosing:
                if host[h, H_LOCAL] < host[h, H_LOCAL_TAIL] and rings[2 * h, host[h, H_LOCAL] & ring_mask, RING_TIME] < t:
                    t = rings[2 * h, host[h, H_LOCAL] & ring_mask, RING_TIME]
                if host[h, H_REMOTE] < host[h, H_REMOTE_SORTED] and rings[2 * h + 1, host[h, H_REMOTE] & ring_mask, RING_TIME] < t:
                    t = rings[2 * h + 1, host[h, H_REMOTE] & ring_mask, RING_TIME]
        # WEAVE if watching
        if host[h, H_RISEN] < t:
            g[G_NEED] = h
            reason = RISEN
            next_ns[h] = t
            break
        # WEAVE end
        if t > window_end:
            next_ns[h] = t
            break
        host[h, H_RESUME] = FAR


def look_at_processors():
    """Host without heaps: find the next end of a service, or the next record in a log that an idle processor may take."""
    for p in range(first_processor, end_processor):
        if proc[p, P_INSTANCE] != -1:  # of background work the host knows the end
            if proc[p, P_END] < t:
                t = proc[p, P_END]
        else:
            choosing = True
            for q in range(proc[p, P_FIRST], proc[p, P_FIRST] + proc[p, P_COUNT]):
                i = members[q]
                if inst[i, I_STATUS] == IDLE and may_read(inst, log, held_back, i):
                    if log[inst[i, I_LOG], D_APPEND] < t and inst[i, I_RANK] < FAR:
                        t = log[inst[i, I_LOG], D_APPEND]


def look_at_heaps():
    """Host with heaps: find the next end of a service, awaited log record, or change of the rate of sharing (section 3.1)."""
    if host[h, H_AGENDA] > 0:
        t = agenda[2 * member, DUE_KEY]
    running = host[h, H_RUNNING]
    if running > 0:
        rate = host[h, H_RATE]
        if rate > 0:
            ahead = host[h, H_WORK_AT] + (tags[member, DUE_KEY] - host[h, H_WORK] + rate - 1) // rate
            if ahead < t:
                t = ahead
        if host[h, H_PERIOD] > 0:
            if host[h, H_PERIOD_END] < t:
                t = host[h, H_PERIOD_END]
            if rate > 0:
                ahead = host[h, H_WORK_AT] + (host[h, H_QUOTA_LEFT] + running * rate - 1) // (running * rate)
                if ahead < t:
                    t = ahead


def hand_back():
    """Leave the loop if an array lacks space. The instant continues at this point once Python has grown the array."""
    while IN_LOOP:  # over the instants
        if reason != DONE:
            host[h, H_RESUME] = t
            next_ns[h] = t
            break

"""Phases 3 and 4 of an instant (section 2): ticks and arrivals."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.messages import take_message
from engine.core.kernels.queues import admit, enqueue
from engine.core.layout import *


def admit_ticks_and_arrivals():
    """Section 2, phases 3 and 4: ticks, behind what arrived before them; then the arrivals of this instant."""
    while True:
        moment = host[h, H_TICK]
        if moment > t:
            admit(world, memory_on, control_mode, heaps, h, t)
            break
        admit(world, memory_on, control_mode, heaps, h, moment - 1)
        least = FAR
        for q in range(host[h, H_MEMBER], host[h, H_MEMBER_END]):
            i = host_members[q]
            if inst[i, I_TICK] == moment:
                add_tick()
            if inst[i, I_TICK] < least:
                least = inst[i, I_TICK]
        if reason != DONE:
            break
        host[h, H_TICK] = least


def add_tick():
    """Phase 3: add a tick to the queue of instance `i`, and find its next one (sections 5 and 7)."""
    while IN_LOOP:  # over the instances of the host
        if g[G_FREE] == 0:
            g[G_NEED] = 1
            reason = NEED_MESSAGES
            break
        slot = take_message(free, g)
        for column in range(M_PAYLOAD):
            msg[slot, column] = 0
        msg[slot, M_READY] = moment
        msg[slot, M_CLASS] = CLASS_TICK
        msg[slot, M_KIND] = TICK
        msg[slot, M_TRIGGER] = -1
        msg[slot, M_CHANNEL] = -1
        msg[slot, M_NEXT] = -1
        enqueue(world, memory_on, control_mode, h, dispatch_mode, i, slot)
        due = moment
        following = FAR
        if inst[i, I_SOURCE] == 1:
            if moment + inst[i, I_PERIOD] <= horizon:
                following = moment + inst[i, I_PERIOD]
        elif inst[i, I_PERIOD] > 0:
            if inst[i, I_NEWEST_EVENT] < FAR:
                following = moment + inst[i, I_PERIOD]
        else:
            at = op[inst[i, I_OP], O_PARAMS]
            # WEAVE next_tick
        inst[i, I_TICK] = following

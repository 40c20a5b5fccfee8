"""Control messages and barriers (sections 12 and 15)."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.alignment import let_in
from engine.core.kernels.transmission import hand_over, is_full, send_control
from engine.core.layout import *


def send_control_message():
    """Section 12: send a control message to an instance or an actor."""
    while IN_LOOP:  # over the sends
        to = msg[slot, M_RECEIVER]
        h2 = actors + to - inst_count
        if to < inst_count:
            h2 = inst[to, I_HOST]
        if h2 == h:
            if host[h, H_LOCAL_TAIL] - host[h, H_LOCAL] == ring_capacity:
                reason = NEED_RING
                break
        elif is_full(world, latency[h, h2], h2):
            reason = NEED_RING
            break
        made = slot
        if memory_on:
            memory[h, Z_HELD] -= msg[made, M_BYTES]
        slot = msg[made, M_NEXT]
        msg[made, M_NEXT] = -1
        fifo = inst[i, I_FIFO]
        msg[made, M_FIFO] = fifo
        inst[i, I_FIFO] = fifo + 1
        inst[i, I_CONTROLS] += 1
        inst[i, I_OUT] = slot
        tie = (i << 40) | fifo
        if h2 == h:
            hand_over(world, h, t + local_ns, tie, made)
        else:
            touched_count = send_control(world, noting, touched_count, t, h, h2, i, tie, made)


def serve_control_message():
    """Section 12: let the agent of the instance answer a control message, between two calls of the loop."""
    while IN_LOOP:  # over the services
        if host[h, H_CALL] == CALL_NONE:  # Python says what the instance makes of it; nothing has happened yet
            msg[slot, M_NEXT] = after
            g[G_NEED] = i
            reason = CALL_OUT
            break
        if host[h, H_CALL] == CALL_DONE_HOLD:
            inst[i, I_RANK] = FAR
        host[h, H_CALL] = CALL_NONE
        box[BOX_FIRST] = host[h, H_ANSWER]
        box[BOX_LAST] = host[h, H_ANSWER_LAST]
        extra_ps = host[h, H_ANSWER_PS]


def serve_barrier():
    """Section 15: bar the channel of a barrier. The last barrier aligns the instance."""
    while IN_LOOP:  # over the services
        if align[i, ALIGN_BARRED] == 0:
            align[i, ALIGN_SINCE] = t
        last = align[i, ALIGN_BARRED] + 1 == align[i, ALIGN_INPUTS]
        sends_on = last
        if g[G_OVERTAKE] == 1:
            sends_on = align[i, ALIGN_BARRED] == 0
        gate[channel, Q_CUT] = msg[slot, M_SEQUENCE]
        if not last and not sends_on:
            if g[G_OVERTAKE] == 0:
                gate[channel, Q_GENERATION] = align[i, ALIGN_GENERATION]
                gate[channel, Q_BARRED] = t
            align[i, ALIGN_BARRED] += 1
        elif host[h, H_CALL] == CALL_NONE:
            msg[slot, M_NEXT] = after
            g[G_NEED] = i
            reason = CALL_OUT
            break
        else:
            if host[h, H_CALL] == CALL_DONE_HOLD:
                inst[i, I_RANK] = FAR
            host[h, H_CALL] = CALL_NONE
            if last:  # what came meanwhile may be served
                after = let_in(world, i, after)
                align[i, ALIGN_RELEASED] = t
            else:
                align[i, ALIGN_BARRED] += 1
            box[BOX_FIRST] = host[h, H_ANSWER]
            box[BOX_LAST] = host[h, H_ANSWER_LAST]
            if sends_on and op[o, O_EDGE] < op[o, O_EDGE_END]:  # and behind it what the agent sends
                msg[slot, M_NEXT] = box[BOX_FIRST]
                box[BOX_FIRST] = slot
                if box[BOX_LAST] < 0:
                    box[BOX_LAST] = slot
                box[BOX_REUSED] = 1
            extra_ps = host[h, H_ANSWER_PS]

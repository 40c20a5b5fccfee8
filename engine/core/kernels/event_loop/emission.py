"""Emission (section 4): the outputs of an instance leave one at a time."""

from engine.core.fragments import IN_LOOP
from engine.core.kernels.event_loop.control_messages import send_control_message
from engine.core.kernels.event_loop.sending import hold, make_message, send
from engine.core.kernels.hashing import group_of
from engine.core.kernels.memory import room_unsent
from engine.core.kernels.messages import free_message
from engine.core.kernels.transmission import is_full
from engine.core.layout import *


def emit():
    """Section 4: send the outputs of instance `i` one after another, from its cursor on.

    Stop before any of them for lack of credit, which blocks the instance, or for lack of space in an array.
    """
    k = inst[i, I_INDEX]
    o = inst[i, I_OP]
    slot = inst[i, I_OUT]
    while slot >= 0:
        x = inst[i, I_EDGE]
        # WEAVE if pending
        if msg[slot, M_KIND] == PENDING:
            make_next_output()
        # WEAVE end
        # WEAVE if actors
        if msg[slot, M_KIND] == CONTROL_MESSAGE:
            send_control_message()
            continue
        # WEAVE end
        if x == op[o, O_EDGE_END]:  # nobody listens
            drop_output()
            continue
        choose_channel()
        take_credit()
        check_space()
        # from here on the send happens
        make_message()
        # WEAVE if holding
        if msg[made, M_SEQUENCE] < chan[c, C_HELD]:
            hold()
            move_cursor()
            continue
        # WEAVE end
        send()
        move_cursor()


def make_next_output():
    """Put the next of the outputs that a firing has left pending in front of them, and take their place if it is the last."""
    while IN_LOOP:  # over the sends
        if g[G_FREE] < 1:
            g[G_NEED] = 1
            reason = NEED_MESSAGES
            break
        at = op[o, O_PARAMS]
        # WEAVE make_output
        msg[made, M_NEXT] = slot
        msg[slot, PENDING_LEFT] -= 1
        if msg[slot, PENDING_LEFT] == 0:
            msg[made, M_NEXT] = msg[slot, M_NEXT]
            free_message(free, g, slot)
        slot = made
        inst[i, I_OUT] = slot


def drop_output():
    """Drop an output that no edge leaves with."""
    if memory_on:
        memory[h, Z_HELD] -= room_unsent(world, h, o, slot)
    if tracing:
        notes[slot, N_ORIGIN] = -1
    inst[i, I_OUT] = msg[slot, M_NEXT]
    inst[i, I_EDGE] = op[o, O_EDGE]
    free_message(free, g, slot)
    slot = inst[i, I_OUT]


def choose_channel():
    """Section 4: choose edge `e`, receiver `r` and channel `c` by the partitioning of the edge. Skip edges it does not take."""
    while IN_LOOP:  # over the sends
        e = op_edges[x]
        is_record = msg[slot, M_KIND] == RECORD
        if edge[e, E_FEEDBACK] == 1 and (msg[slot, M_KIND] == WATERMARK or msg[slot, M_KIND] == MARKER):
            inst[i, I_EDGE] = x + 1
            continue
        # WEAVE if regions
        if edge[e, E_INNER] == 0 and msg[slot, M_KIND] == BARRIER:
            inst[i, I_EDGE] = x + 1
            continue
        # WEAVE end
        if op[o, O_PORTS] > 1 and is_record and msg[slot, M_EDGE] != edge[e, E_OUTPUT]:
            inst[i, I_EDGE] = x + 1
            continue
        partitioning = edge[e, E_KIND]
        parallel = op[edge[e, E_TARGET], O_PARALLEL]
        stride = op[edge[e, E_TARGET], O_STRIDE]
        more = False  # receivers after this one on this edge
        if partitioning == FORWARD:
            r = k
            c = edge[e, E_CHANNEL] + k
        else:
            if partitioning == BROADCAST or not is_record:
                r = inst[i, I_RECEIVER]
                more = r + 1 < parallel
                # WEAVE if latencies
                if msg[slot, M_KIND] == MARKER:
                    r = msg[slot, M_TRIGGER] % parallel
                    more = False
                # WEAVE end
            elif partitioning == HASH:
                groups = edge[e, E_GROUPS]
                r = route[edge[e, E_ROUTE] + group_of(msg[slot, M_PAYLOAD + edge[e, E_KEY]], edge[e, E_SCHEME], groups)]
            else:
                turn = chan[edge[e, E_CHANNEL] + k * stride, C_TURN]
                r = (k + turn) % parallel
                if partitioning == RESCALE:
                    senders = op[o, O_PARALLEL]
                    r = (k + turn % max(1, (parallel - 1 - k) // senders + 1) * senders) % parallel
            # WEAVE choose_receiver
            # WEAVE if moves
            r += op[edge[e, E_TARGET], O_BEGIN]
            # WEAVE end
            c = edge[e, E_CHANNEL] + k * stride + r


def take_credit():
    """Section 4, credits: find the `ticket` of a record on a bounded channel. Block the instance if it has not arrived."""
    while IN_LOOP:  # over the sends
        bound = edge[e, E_BOUND]
        ticket = 0
        if bound > 0 and is_record:
            ticket = edge[e, E_CREDIT] + (c - edge[e, E_CHANNEL]) * bound + carried[c, SEQ_SENT] % bound
            if credit[ticket] > t:
                inst[i, I_WAKE] = credit[ticket]
                if inst[i, I_BLOCKED_SINCE] < 0:
                    inst[i, I_BLOCKED_SINCE] = t
                inst[i, I_STATUS] = BLOCKED
                if credit[ticket] == FAR:
                    chan[c, C_WAITING] = 1
                elif credit[ticket] < host[h, H_WAKE]:
                    host[h, H_WAKE] = credit[ticket]
                break


def check_space():
    """Stop if an array lacks space for this send. Nothing of the send has happened yet."""
    while IN_LOOP:  # over the sends
        i2 = op[edge[e, E_TARGET], O_FIRST] + r
        h2 = inst[i2, I_HOST]
        last = not more and x + 1 == op[o, O_EDGE_END]
        wanted = 0 if last else 1
        # WEAVE if logging
        if is_record:
            wanted += 1
        # WEAVE end
        if g[G_FREE] < wanted:
            g[G_NEED] = wanted
            reason = NEED_MESSAGES
            break
        # WEAVE if forcing
        if is_record and g[G_VECTOR] > 0 and vectors[i, KNOWN_SHARED] < 0 and g[G_VECTOR_ROWS_FREE] == 0:
            reason = NEED_VECTORS
            break
        # WEAVE end
        if h2 == h:
            if host[h, H_LOCAL_TAIL] - host[h, H_LOCAL] == ring_capacity:
                reason = NEED_RING
                break
        else:
            way = latency[h, h2]
            if is_full(world, way, h2):
                reason = NEED_RING
                break


def move_cursor():
    """Move the cursor to the next receiver, edge or output."""
    if last:
        slot = after
        inst[i, I_OUT] = slot
        inst[i, I_EDGE] = op[o, O_EDGE]
        inst[i, I_RECEIVER] = 0
    elif more:
        inst[i, I_RECEIVER] = r + 1
    else:
        inst[i, I_EDGE] = x + 1
        inst[i, I_RECEIVER] = 0

"""The send of one output on one channel (sections 4 and 4.1). It cannot fail any more."""

from engine.core.compiler import prefetch
from engine.core.kernels.channel_log import keep_copy
from engine.core.kernels.dependency_vectors import publish
from engine.core.kernels.memory import room_unsent
from engine.core.kernels.messages import discard, take_message
from engine.core.kernels.transmission import hand_over, note_way, transmit
from engine.core.layout import *


def make_message():
    """Make the message `made` for channel `c`: the output itself if this is its last send, else a copy."""
    after = msg[slot, M_NEXT]
    if last:
        made = slot
        if memory_on:
            memory[h, Z_HELD] -= room_unsent(world, h, o, slot)
    else:
        made = take_message(free, g)
        for column in range(M_KIND, msg.shape[1]):
            msg[made, column] = msg[slot, column]
    size = CONTROL_BYTES
    if is_record:
        size = edge[e, E_BYTES]
        if inst[i, I_BLOCKED_SINCE] >= 0:  # by this edge, or by another one before it
            inst[i, I_HELD] += t - inst[i, I_BLOCKED_SINCE]
        if bound > 0:
            credit[ticket] = FAR
        if partitioning == REBALANCE or partitioning >= RESCALE:
            chan[edge[e, E_CHANNEL] + k * stride, C_TURN] += 1
    sequence = 0
    if edge[e, E_COUNTED] == 1:
        sequence = carried[c, SEQ_SENT]
        if is_record:
            carried[c, SEQ_SENT] = sequence + 1
    msg[made, M_SEQUENCE] = sequence
    # WEAVE if latencies
    if msg[made, M_KIND] == MARKER and partitioning != FORWARD:
        msg[made, M_TRIGGER] //= parallel
    if g[G_MEASURES] > 0:
        msg[made, msg.shape[1] - 1 - stamps] = t
    # WEAVE end
    # WEAVE if losses
    msg[made, M_INCARNATION] = inst[i, I_INCARNATION]
    # WEAVE end
    key_hash = 0
    if is_record:
        at = op[edge[e, E_TARGET], O_PARAMS]
        port = edge[e, E_PORT]
        # WEAVE key_hash
        if key_hash != 0:  # by the time it arrives, its bucket is in the cache, and by its service the entry
            prefetch(table, key_hash & (table.shape[0] - 1))
    msg[made, M_HASH] = key_hash
    # WEAVE if forcing
    if is_record and g[G_VECTOR] > 0:
        msg[made, g[G_VECTOR]] = publish(world, i)
        sent_to[i, i2] = 1
        size += g[G_VECTOR_BYTES]
        host[h, H_PIGGYBACK_BYTES] += g[G_VECTOR_BYTES]
    # WEAVE end
    # WEAVE on_send
    host[h, H_OUT_BYTES] += size
    msg[made, M_BYTES] = size
    msg[made, M_RECEIVER] = i2
    msg[made, M_EDGE] = e
    msg[made, M_CHANNEL] = c
    msg[made, M_NEXT] = -1


def hold():
    """The sender keeps the message to itself: a record in the log of its channel, if it has one."""
    host[h, H_OUT_BYTES] -= size
    if is_record and gate[c, Q_LOG] >= 0:
        keep_copy(world, c, made)
        if tracing:
            note_kept()
    discard(world, made)


def note_kept():
    """What has just come to the log of the channel comes from this service."""
    notes[gate[c, Q_KEPT_LAST], N_PARENT] = behind[i, B_ROW]
    notes[gate[c, Q_KEPT_LAST], N_ORIGIN] = notes[slot, N_ORIGIN]


def send():
    """Section 4.1: hand the message to its host, or to the network."""
    fifo = inst[i, I_FIFO]
    inst[i, I_FIFO] = fifo + 1
    msg[made, M_FIFO] = fifo
    # WEAVE if logging
    if is_record and gate[c, Q_LOG] >= 0:
        keep_copy(world, c, made)
    # WEAVE end
    tie = (i << 40) | fifo
    if h2 == h:
        arrival = t + local_ns
        note_way(world, noting, i, made, t, t, t, arrival)
        hand_over(world, h, arrival, tie, made)
    else:
        touched_count = transmit(world, noting, touched_count, t, way, h, h2, size, i, tie, made, t)
    if not is_record:
        inst[i, I_CONTROLS] += 1
        if msg[made, M_KIND] == BARRIER:
            host[h, H_BARRIER_BYTES] += size
    if tracing:
        notes[made, N_PARENT] = behind[i, B_ROW]
        notes[made, N_ORIGIN] = notes[slot, N_ORIGIN]
        # WEAVE if logging
        if is_record and gate[c, Q_LOG] >= 0:
            note_kept()
        # WEAVE end

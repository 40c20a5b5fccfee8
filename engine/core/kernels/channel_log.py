"""What channels have carried, kept outside the hosts, to be sent again (docs/checkpointing.md): a list of messages for each channel, in
order. Kernels of the loop, and what is done between its calls."""

from engine.core.compiler import compiled
from engine.core.kernels.messages import discard, take_message
from engine.core.kernels.transmission import hand_over, note_way, settle, to_note, transmit
from engine.core.layout import *


def keep_copy(world, c, made):
    """Message `made`, which is about to be sent on channel `c`, goes to the channel's log. The caller has checked for space."""
    msg = world.msg
    gate = world.gate
    kept = take_message(world.free, world.g)
    for column in range(M_KIND, msg.shape[1]):
        msg[kept, column] = msg[made, column]
    msg[kept, M_NEXT] = -1
    if gate[c, Q_KEPT] < 0:
        gate[c, Q_KEPT] = kept
    else:
        msg[gate[c, Q_KEPT_LAST], M_NEXT] = kept
    gate[c, Q_KEPT_LAST] = kept


@compiled
def forget_before(world, first):
    """Drop from the log of each channel what comes before its record number `first[c]`."""
    msg = world.msg
    gate = world.gate
    for c in range(gate.shape[0]):
        kept = gate[c, Q_KEPT]
        while kept >= 0 and msg[kept, M_SEQUENCE] < first[c]:
            after = msg[kept, M_NEXT]
            discard(world, kept)
            kept = after
        gate[c, Q_KEPT] = kept
        if kept < 0:
            gate[c, Q_KEPT_LAST] = -1
    return 0


@compiled
def cut_off(world, c, end):
    """Drop from the log of channel `c` the records from number `end` on: they will be sent anew. The next one has that number."""
    msg = world.msg
    gate = world.gate
    logged = world.carried[c, SEQ_SENT] - gate[c, Q_LOG] if gate[c, Q_LOG] >= 0 else -1 - gate[c, Q_LOG]
    world.carried[c, SEQ_SENT] = end
    before = -1
    kept = gate[c, Q_KEPT]
    while kept >= 0 and msg[kept, M_SEQUENCE] < end:
        before = kept
        kept = msg[kept, M_NEXT]
    if before < 0:
        gate[c, Q_KEPT] = -1
    else:
        msg[before, M_NEXT] = -1
    gate[c, Q_KEPT_LAST] = before
    while kept >= 0:
        after = msg[kept, M_NEXT]
        discard(world, kept)
        kept = after
        logged -= 1
    if gate[c, Q_LOG] > 0:
        gate[c, Q_LOG] = end - logged
    elif gate[c, Q_LOG] < 0:
        gate[c, Q_LOG] = -1 - logged
    return 0


@compiled
def send_mark(world, c, now):
    """Send the watermark of its sender on channel `c` at `now`. The caller has made sure of space."""
    send_element(world, c, WATERMARK, world.inst[world.chan[c, C_SENDER], I_WATERMARK], now)
    return 0


@compiled
def send_barrier(world, c, number, now):
    """Send a barrier on channel `c` at `now`, as `send_mark`."""
    send_element(world, c, BARRIER, number, now)
    return 0


def send_element(world, c, kind, value, now):
    msg = world.msg
    made = take_message(world.free, world.g)
    for column in range(msg.shape[1]):
        msg[made, column] = 0
    msg[made, M_KIND] = kind
    msg[made, M_EVENT] = value
    msg[made, M_TRIGGER] = -1
    msg[made, M_RECEIVER] = world.chan[c, C_RECEIVER]
    msg[made, M_EDGE] = world.chan[c, C_EDGE]
    msg[made, M_CHANNEL] = c
    msg[made, M_BYTES] = CONTROL_BYTES
    if world.g[G_TRACING] == 1:
        world.notes[made, N_PARENT] = -1
        world.notes[made, N_ORIGIN] = -1
    world.inst[world.chan[c, C_SENDER], I_CONTROLS] += 1
    depart(world, c, made, now)


def depart(world, c, made, now):
    """Message `made` leaves the sender of channel `c` at `now`, between two calls of the loop."""
    msg = world.msg
    inst = world.inst
    i = world.chan[c, C_SENDER]
    h = inst[i, I_HOST]
    h2 = inst[world.chan[c, C_RECEIVER], I_HOST]
    noting = to_note(world.g)
    msg[made, M_NEXT] = -1
    msg[made, M_INCARNATION] = inst[i, I_INCARNATION] // EPOCH * EPOCH + REPLAYED
    fifo = inst[i, I_FIFO]
    inst[i, I_FIFO] = fifo + 1
    msg[made, M_FIFO] = fifo
    tie = (i << 40) | fifo
    if h2 == h:
        note_way(world, noting, i, made, now, now, now, now + world.g[G_LOCAL_NS])
        hand_over(world, h, now + world.g[G_LOCAL_NS], tie, made)
    else:
        count = transmit(world, noting, 0, now, world.latency[h, h2], h, h2, msg[made, M_BYTES], i, tie, made, now)
        if count > 0:
            settle(world, world.touched[0])


@compiled
def send_again(world, c, first, end, now):
    """Send the records of numbers first .. end - 1 in the log of channel `c` once more, at `now`; they take no credit. The caller has made
    sure of space. Returns how many there were."""
    msg = world.msg
    kept = world.gate[c, Q_KEPT]
    sent = 0
    while kept >= 0 and msg[kept, M_SEQUENCE] < end:
        if msg[kept, M_SEQUENCE] >= first:
            made = take_message(world.free, world.g)
            for column in range(M_KIND, msg.shape[1]):
                msg[made, column] = msg[kept, column]
            msg[made, M_HASH] = 0
            depart(world, c, made, now)
            if world.g[G_TRACING] == 1:  # it comes from the service that sent it first
                world.notes[made, N_PARENT] = world.notes[kept, N_PARENT]
                world.notes[made, N_ORIGIN] = world.notes[kept, N_ORIGIN]
            sent += 1
        kept = msg[kept, M_NEXT]
    return sent

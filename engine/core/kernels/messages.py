"""The pool of messages, and the outputs of a service: taking, linking and losing them."""

from engine.core.kernels.latencies import copy_stamps
from engine.core.layout import *


def take_message(free, g):
    """A free message; the caller has checked that there is one."""
    g[G_FREE] -= 1
    return free[g[G_FREE]]


def free_message(free, g, slot):
    free[g[G_FREE]] = slot
    g[G_FREE] += 1


def discard(world, slot):
    """A message is no more. Those that may have a parcel are kept in a list until it is dropped, too."""
    msg = world.msg
    g = world.g
    if g[G_TRACING] == 1:
        world.notes[slot, N_ORIGIN] = -1
    if msg[slot, M_KIND] == CONTROL_MESSAGE:
        msg[slot, M_NEXT] = g[G_LOST]
        g[G_LOST] = slot
    else:
        free_message(world.free, g, slot)


def lose(world, slot):
    """A message that was sent will never be served."""
    msg = world.msg
    if msg[slot, M_KIND] == RECORD:
        world.inst[msg[slot, M_RECEIVER], I_LOST] += 1
    discard(world, slot)


def is_stale(world, slot):
    """Whether a message on a channel was sent in an epoch that is over for its receiver, or is a record that was served already
    (docs/checkpointing.md)."""
    msg = world.msg
    g = world.g
    stale = False
    channel = msg[slot, M_CHANNEL]
    if channel >= 0 and msg[slot, M_KIND] != CONTROL_MESSAGE:
        stale = msg[slot, M_INCARNATION] // EPOCH < world.inst[msg[slot, M_RECEIVER], I_INCARNATION] // EPOCH
        if g[G_FILTER] == 1 and msg[slot, M_KIND] == RECORD:
            stale = stale or msg[slot, M_SEQUENCE] < world.carried[channel, SEQ_PROCESSED]
    return stale


def add_output(msg, box, made):
    """Message `made` goes behind the outputs in `box`."""
    if box[BOX_FIRST] < 0:
        box[BOX_FIRST] = made
    else:
        msg[box[BOX_LAST], M_NEXT] = made
    box[BOX_LAST] = made


def new_output(msg, free, g, box, slot, stamps):
    """A message for one output, with the lineage of the message in `slot`, at the end of the outputs in `box`. The caller has checked for
    space."""
    made = take_message(free, g)
    msg[made, M_NEXT] = -1
    msg[made, M_KIND] = RECORD
    for c in range(M_EVENT, M_SEQUENCE):
        msg[made, c] = msg[slot, c]
    copy_stamps(msg, made, msg, slot, stamps)
    add_output(msg, box, made)
    return made


def keep_spare(free, g, box, wanted):
    """Lay `wanted` free messages aside for the hooks of a protocol; the caller has checked that there are as many."""
    while box[BOX_SPARE_COUNT] < wanted:
        box[BOX_SPARE + box[BOX_SPARE_COUNT]] = take_message(free, g)
        box[BOX_SPARE_COUNT] += 1


def new_control_message(msg, box, i, to, size):
    """For hooks that run in a service of instance `i`: a control message of `size` bytes to the address `to`, behind the outputs so far.

    It has no words yet; the hook writes msg[made, M_PAYLOAD + X_WORDS + n] and raises msg[made, M_PAYLOAD + X_COUNT]. A protocol says how
    many its hooks make in one service at most (`messages_max`).
    """
    box[BOX_SPARE_COUNT] -= 1
    made = box[BOX_SPARE + box[BOX_SPARE_COUNT]]
    for c in range(M_PAYLOAD + X_COLUMNS):
        msg[made, c] = 0
    msg[made, M_KIND] = CONTROL_MESSAGE
    msg[made, M_NEXT] = -1
    msg[made, M_CHANNEL] = -1
    msg[made, M_RECEIVER] = to
    msg[made, M_BYTES] = size
    msg[made, M_PAYLOAD + X_SENDER] = i
    msg[made, M_PAYLOAD + X_PARCEL] = -1
    add_output(msg, box, made)
    return made

"""Alignment of barriers: which channels of an instance are barred, and what waits behind them (docs/event-core.md, section 15). Helpers of
the loop, put in place where they are called.

What an instance has to serve stands in one queue, in order. Of a barred channel it is passed over: laid aside, in the same order, as soon
as it comes to the head. So the head may always be served, and all that lies aside comes before all that is in the queue.
"""

from engine.core.compiler import rare
from engine.core.layout import *


def is_barred(world, i, slot):
    """Whether a message for instance `i` came by a channel that is barred."""
    align = world.align
    barred = False
    if align[i, ALIGN_BARRED] > 0 and world.msg[slot, M_CHANNEL] >= 0:
        barred = world.gate[world.msg[slot, M_CHANNEL], Q_GENERATION] == align[i, ALIGN_GENERATION]
    return barred


def waited_for_barriers(world, i, channel, ready):
    """How long an item that comes to service now, and was ready before instance `i` was aligned for the last time, had waited for that, ns:
    what came by a channel that was barred then. It was behind the barrier, or it would have been served before the channel was barred."""
    align = world.align
    waited = 0
    if channel >= 0 and world.gate[channel, Q_GENERATION] == align[i, ALIGN_GENERATION] - 1:
        waited = align[i, ALIGN_RELEASED] - max(ready, world.gate[channel, Q_BARRED])
    return waited


@rare
def lay_aside(world, i, slot):
    """A message for instance `i` is passed over. It counts as one that waits."""
    msg = world.msg
    align = world.align
    msg[slot, M_NEXT] = -1
    if align[i, ALIGN_ASIDE] < 0:
        align[i, ALIGN_ASIDE] = slot
    else:
        msg[align[i, ALIGN_ASIDE_LAST], M_NEXT] = slot
    align[i, ALIGN_ASIDE_LAST] = slot
    return 0


@rare
def pass_over(world, i, slot):
    """Lay aside what came by barred channels at the head of a list, that of all that waits for instance `i`; returns the new head."""
    while slot >= 0 and is_barred(world, i, slot):
        after = world.msg[slot, M_NEXT]
        lay_aside(world, i, slot)
        slot = after
    return slot


@rare
def let_in(world, i, after):
    """No channel of instance `i` is barred any more. Returns what waits then: all that lay aside, and behind it the list `after`."""
    align = world.align
    inst = world.inst
    align[i, ALIGN_BARRED] = 0
    align[i, ALIGN_GENERATION] += 1
    if align[i, ALIGN_ASIDE] >= 0:
        world.msg[align[i, ALIGN_ASIDE_LAST], M_NEXT] = after
        if after < 0:
            inst[i, I_QUEUE_LAST] = align[i, ALIGN_ASIDE_LAST]
        after = align[i, ALIGN_ASIDE]
        align[i, ALIGN_ASIDE] = -1
        align[i, ALIGN_ASIDE_LAST] = -1
    return after


@rare
def put_first(world, i, slot):
    """A control message or barrier goes before all else that waits for instance `i`, but behind others of them; one that is urgent, or a
    barrier, counts as ready before anything else on its processor."""
    inst = world.inst
    msg = world.msg
    if msg[slot, M_KIND] == BARRIER or msg[slot, M_TRIGGER] == URGENT:
        msg[slot, M_READY] = 0
        msg[slot, M_CLASS] = 0
    before = -1
    x = inst[i, I_QUEUE]
    while x >= 0 and (msg[x, M_KIND] == CONTROL_MESSAGE or msg[x, M_KIND] == BARRIER):
        before = x
        x = msg[x, M_NEXT]
    msg[slot, M_NEXT] = x
    if before < 0:
        inst[i, I_QUEUE] = slot
        inst[i, I_HEAD] = msg[slot, M_READY] << 2 | msg[slot, M_CLASS]
    else:
        msg[before, M_NEXT] = slot
    if x < 0:
        inst[i, I_QUEUE_LAST] = slot
    return 0

"""Arrivals join the queues of their receivers (docs/event-core.md, section 2, phase 4)."""

from engine.core.compiler import prefetch
from engine.core.kernels.alignment import is_barred, lay_aside, put_first
from engine.core.kernels.dispatch import look_at, turn_of
from engine.core.kernels.memory import room_of
from engine.core.kernels.messages import is_stale, lose
from engine.core.layout import *


def enqueue(world, memory_on, control_mode, h, dispatch_mode, i, slot):
    """A message joins those that wait for instance `i` of host `h`. memory_on, control_mode: as in `admit`. dispatch_mode: of the host."""
    inst = world.inst
    msg = world.msg
    memory = world.memory
    first = False
    if control_mode != CONTROL_OFF:
        if msg[slot, M_KIND] == CONTROL_MESSAGE:
            first = inst[i, I_SOURCE] == 1 or msg[slot, M_TRIGGER] == URGENT
        elif msg[slot, M_KIND] == BARRIER:
            first = world.g[G_OVERTAKE] == 1
    if first:
        put_first(world, i, slot)
    elif control_mode != CONTROL_OFF and inst[i, I_QUEUE] < 0 and is_barred(world, i, slot):
        lay_aside(world, i, slot)
    else:
        if inst[i, I_QUEUE] < 0:
            inst[i, I_QUEUE] = slot
            inst[i, I_HEAD] = turn_of(msg[slot, M_READY], msg[slot, M_CLASS])
        else:
            msg[inst[i, I_QUEUE_LAST], M_NEXT] = slot
        inst[i, I_QUEUE_LAST] = slot
    inst[i, I_QUEUE_COUNT] += 1
    inst[i, I_QUEUE_BYTES] += msg[slot, M_BYTES]
    if memory_on:
        memory[h, Z_HELD] += room_of(world, h, slot)
        memory[h, Z_ITEMS] += world.op[inst[i, I_OP], O_WEIGHT]
    if dispatch_mode != DISPATCH_SCAN:
        look_at(world, h, i)


def admit(world, memory_on, control_mode, heaps, h, limit):
    """Arrivals at times <= limit join their receivers' queues: by time, at equal times local ones first.

    memory_on: whether what hosts hold is counted. control_mode: CONTROL_*. heaps: 1 if there may be hosts with heaps (H_DISPATCH).
    """
    rings = world.rings
    host = world.host
    msg = world.msg
    table = world.table
    dispatch_mode = heaps * host[h, H_DISPATCH]
    mask = rings.shape[1] - 1
    local = host[h, H_LOCAL]
    local_end = host[h, H_LOCAL_TAIL]
    remote = host[h, H_REMOTE]
    remote_end = host[h, H_REMOTE_SORTED]
    local_ready = FAR
    if local < local_end:
        local_ready = rings[2 * h, local & mask, RING_TIME]
    remote_ready = FAR
    if remote < remote_end:
        remote_ready = rings[2 * h + 1, remote & mask, RING_TIME]
    while local_ready <= limit or remote_ready <= limit:
        if local_ready <= remote_ready:
            message = rings[2 * h, local & mask, RING_MESSAGE]
            local += 1
            local_ready = FAR
            if local < local_end:
                local_ready = rings[2 * h, local & mask, RING_TIME]
        else:
            message = rings[2 * h + 1, remote & mask, RING_MESSAGE]
            remote += 1
            remote_ready = FAR
            if remote < remote_end:
                remote_ready = rings[2 * h + 1, remote & mask, RING_TIME]
        if msg[message, M_HASH] != 0:
            e = table[msg[message, M_HASH] & (table.shape[0] - 1)]
            prefetch(world.entry, e, 0)
            prefetch(world.entry, e, 8)  # its second cache line
        if control_mode == CONTROL_WITH_LOSSES and is_stale(world, message):
            lose(world, message)
        else:
            enqueue(world, memory_on, control_mode, h, dispatch_mode, msg[message, M_RECEIVER], message)
    if local == local_end:  # an empty ring begins anew: the same places are in the cache, each ring's in another part of it
        local = h * 8
        host[h, H_LOCAL_TAIL] = local
    if remote == host[h, H_REMOTE_TAIL]:
        remote = h * 8
        host[h, H_REMOTE_SORTED] = remote
        host[h, H_REMOTE_TAIL] = remote
    host[h, H_LOCAL] = local
    host[h, H_REMOTE] = remote
